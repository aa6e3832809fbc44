"""Targets of ``/scrape`` in the fleet: who may be read, and what they leave behind."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from exporter.errors import AddressError, ForbiddenTargetError, Reason
from exporter.memcached import targets as targets_module
from tests.processes import Memcached
from tests.web.clients import eventually
from tests.web.fleets import MakeFleet, fleets, silence

FDS = Path("/proc/self/fd")


@pytest.fixture
def make() -> Iterator[MakeFleet]:
    """Make fleets that are closed at the end."""
    with fleets(lambda reason: None) as make_one:
        yield make_one


@pytest.fixture
def hung() -> Iterator[Callable[[int], list[str]]]:
    """Open so many places that accept connections and say nothing."""
    with silence() as open_some:
        yield open_some


def accepted(server: Memcached) -> int:
    """Return how many connections the server has counted, with that of this question."""
    return int(server.stats()["total_connections"])


def test_a_target_is_the_configured_member(
    make: MakeFleet, memcached: Callable[..., Memcached]
) -> None:
    """``/scrape`` of a configured server uses the connection that ``/metrics`` holds."""
    server = memcached()
    fleet = make(server.address)
    fleet.read_all(5)
    before, now = 0, accepted(server)
    while now != before + 1:  # memcached may count a connection some time after it was made
        before, now = now, accepted(server)
    for _ in range(5):
        outcome = fleet.read_target(server.address, 5)
        assert outcome.error is None
        assert outcome.suffix == ""
    # The one more is that of this question.
    assert accepted(server) == now + 1


def test_targets_keep_their_connection(
    make: MakeFleet, memcached: Callable[..., Memcached]
) -> None:
    """A target that is asked for again is read over the connection of before."""
    server = memcached()
    fleet = make(scrape={"allow": ["127.0.0.0/8"]}, modules={"brief": {"sections": []}})
    for _ in range(5):
        assert fleet.read_target(server.address, 5).error is None
        assert fleet.read_target(server.address, 5, "brief").error is None
    assert len(fleet.targets._members) == 2
    # One for each module, one to wait for the start, one for this question.
    assert int(server.stats()["total_connections"]) - 4 <= 1


def test_targets_are_capped(
    make: MakeFleet, memcached: Callable[..., Memcached], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the cap the target that was not asked for longest goes, with its connection."""
    monkeypatch.setattr(targets_module, "_MOST_TARGETS", 3)
    names = [f"127.0.0.{i}" for i in range(2, 9)]
    server = memcached(*(flag for name in names for flag in ("-l", name)))
    fleet = make(scrape={"allow": ["127.0.0.0/8"]})
    for _ in range(2):
        for name in names:
            assert fleet.read_target(f"{name}:{server.port}", 5).error is None
    assert [address for address, *_ in fleet.targets._members] == [
        f"{name}:{server.port}" for name in names[-3:]
    ]
    held = int(server.stats()["curr_connections"])
    fleet.close()
    assert eventually(lambda: held - int(server.stats()["curr_connections"]) == 3)


def test_targets_that_nobody_asks_for_are_forgotten(
    make: MakeFleet, memcached: Callable[..., Memcached], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A target that has rested too long gives its connection back when another is asked for."""
    server = memcached("-l", "127.0.0.2")
    fleet = make(scrape={"allow": ["127.0.0.0/8"]})
    fleet.read_target(server.address, 5)
    monkeypatch.setattr(targets_module, "_IDLE_SECONDS", 0.05)
    time.sleep(0.1)
    fleet.read_target(f"127.0.0.2:{server.port}", 5)
    assert [address for address, *_ in fleet.targets._members] == [f"127.0.0.2:{server.port}"]


def test_two_thousand_dead_targets_leave_nothing(make: MakeFleet) -> None:
    """Names that lead nowhere cost no thread and no descriptor, and are capped (G04)."""
    fleet = make(scrape={"allow": ["127.0.0.0/8"]})
    fleet.read_target("127.0.0.1:1", 1)
    threads, descriptors = threading.active_count(), len(list(FDS.iterdir()))
    for i in range(2000):
        outcome = fleet.read_target(f"127.1.{i // 250}.{i % 250 + 1}:1", 1)
        assert outcome.error is not None
        assert outcome.error.reason is Reason.REFUSED
    assert threading.active_count() == threads
    assert len(list(FDS.iterdir())) == descriptors
    assert len(fleet.targets._members) <= targets_module._MOST_TARGETS


def test_hung_targets_do_not_delay_others(
    make: MakeFleet, memcached: Callable[..., Memcached], hung: Callable[[int], list[str]]
) -> None:
    """While many targets hang, one that answers is read at once."""
    server = memcached()
    slow = {"default": {"timeout": "3s"}}
    fleet = make(scrape={"allow": ["127.0.0.0/8"]}, modules=slow)
    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(fleet.read_target, address, 5) for address in hung(20)]
        time.sleep(0.1)
        began = time.monotonic()
        assert fleet.read_target(server.address, 5).error is None
        assert time.monotonic() - began < 2
        assert {job.result().error.reason for job in waiting} == {Reason.TIMEOUT}  # type: ignore[union-attr]


def test_one_target_that_hangs_is_asked_by_one_at_a_time(
    make: MakeFleet, hung: Callable[[int], list[str]]
) -> None:
    """Scrapes of the same hung server wait for each other within their own deadlines."""
    (address,) = hung(1)
    fleet = make(scrape={"allow": ["127.0.0.0/8"]})
    with ThreadPoolExecutor(6) as pool:
        began = time.monotonic()
        jobs = [pool.submit(fleet.read_target, address, 0.4) for _ in range(6)]
        assert all(job.result().error is not None for job in jobs)
        assert time.monotonic() - began < 1.5


@pytest.mark.parametrize("target", ["", "a:1,b:2", "host:99999", "::1", "/run/../x"])
def test_a_malformed_target_is_an_address_error(make: MakeFleet, target: str) -> None:
    """The text of the error is that of the configuration."""
    with pytest.raises(AddressError, match="address "):
        make(scrape={"allow": ["*:*"]}).read_target(target, 1)


@pytest.mark.parametrize(
    ("allow", "answers", "allowed"),
    [
        (["10.0.0.0/8"], ["10.0.0.1", "127.0.0.1"], True),
        (["127.0.0.0/8"], ["10.0.0.1"], False),
        (["127.0.0.0/8"], ["127.0.0.1", "10.0.0.1"], True),
        (["127.0.0.0/8"], ["::1"], False),
        (["::1"], ["::1"], True),
        (["127.0.0.0/8"], ["::ffff:10.0.0.1"], False),
        (["cache.internal:1"], ["127.0.0.1"], True),
        (["other.internal:1"], ["127.0.0.1"], False),
    ],
)
def test_a_name_is_held_against_what_it_leads_to(
    make: MakeFleet,
    monkeypatch: pytest.MonkeyPatch,
    allow: list[str],
    answers: list[str],
    allowed: bool,
) -> None:
    """Networks are held against each address of a name, and only those in them are dialled."""
    dialled: list[str] = []

    def resolve(host: str, port: int, deadline: float) -> list[str]:
        return answers

    def connect(endpoint: tuple[str, int], *rest: object, **more: object) -> None:
        dialled.append(endpoint[0])
        raise ConnectionRefusedError

    monkeypatch.setattr("exporter.memcached.connection.resolve", resolve)
    monkeypatch.setattr("exporter.memcached.connection.Connection", connect)
    fleet = make(scrape={"allow": allow})
    if allowed:
        assert fleet.read_target("cache.internal:1", 1).error is not None
        assert dialled
        if "/" in allow[0]:
            assert {ip.split(".")[0] for ip in dialled} == {allow[0].split(".")[0]}
    else:
        with pytest.raises(ForbiddenTargetError, match=r"scrape\.allow"):
            fleet.read_target("cache.internal:1", 1)
        assert dialled == []
