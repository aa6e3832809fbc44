"""Many servers at once: nobody waits for the dead and the hung, and nothing piles up."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from exporter.errors import Reason
from exporter.memcached.member import Outcome
from tests.processes import FakeMemcached, Memcached, free_port
from tests.web.clients import eventually
from tests.web.fleets import MakeFleet, fleets, silence


@pytest.fixture
def errors() -> Counter[Reason]:
    """The reasons that the fleet has counted."""
    return Counter()


@pytest.fixture
def make(errors: Counter[Reason]) -> Iterator[MakeFleet]:
    """Make fleets that count into ``errors``."""
    with fleets(lambda reason: errors.update([reason])) as make_one:
        yield make_one


@pytest.fixture
def hung() -> Iterator[Callable[[int], list[str]]]:
    """Open so many places that accept connections and say nothing."""
    with silence() as open_some:
        yield open_some


def ups(outcomes: list[Outcome]) -> list[bool]:
    """Say for each outcome whether its server is up."""
    return [outcome.error is None for outcome in outcomes]


def test_outcomes_keep_the_order_of_the_configuration(
    make: MakeFleet, memcached: Callable[..., Memcached]
) -> None:
    """The page has the servers in their order, whichever answers first or failed before."""
    servers = [memcached() for _ in range(3)]
    dead = ["127.0.0.1:1", "127.0.0.1:2"]
    order = [dead[0], servers[0].address, servers[1].address, dead[1], servers[2].address]
    fleet = make(*order)
    for _ in range(3):
        outcomes = fleet.read_all(10)
        assert [outcome.suffix.split('"')[1] for outcome in outcomes] == order
        assert ups(outcomes) == [False, True, True, False, True]
        assert [state.address for state in fleet.states()] == order
        assert [state.up for state in fleet.states()] == [False, True, True, False, True]


def test_each_failure_is_counted_by_its_reason(
    make: MakeFleet, errors: Counter[Reason], fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """One failed scrape adds one to its reason and to no other."""
    half = fake("--mode", "half")
    wrong = fake("--err", "stats=ERROR")
    fleet = make(
        "127.0.0.1:1", str(tmp_path / "none.sock"), half.address, wrong.address, "nosuch.invalid"
    )
    outcomes = fleet.read_all(10)
    assert [outcome.error and outcome.error.reason for outcome in outcomes] == [
        Reason.REFUSED,
        Reason.REFUSED,
        Reason.CLOSED,
        Reason.PROTOCOL,
        Reason.DNS,
    ]
    assert errors == {Reason.REFUSED: 2, Reason.CLOSED: 1, Reason.PROTOCOL: 1, Reason.DNS: 1}
    fleet.read_all(10)
    assert errors[Reason.REFUSED] == 4


def test_hung_servers_do_not_blank_healthy_ones(
    make: MakeFleet,
    memcached: Callable[..., Memcached],
    hung: Callable[[int], list[str]],
    errors: Counter[Reason],
) -> None:
    """With 70 servers that say nothing the page comes in time, and the two others are up."""
    healthy = [memcached().address for _ in range(2)]
    fleet = make(healthy[0], *hung(70), healthy[1])
    for _ in range(2):
        began = time.monotonic()
        outcomes = fleet.read_all(2.4)
        assert time.monotonic() - began < 2.5
        assert ups(outcomes) == [True, *[False] * 70, True]
    # A scrape that the page did not wait for is counted when it ends.
    assert eventually(lambda: errors[Reason.TIMEOUT] == 140)
    assert set(errors) == {Reason.TIMEOUT}


def test_a_server_among_many_hung_ones_comes_back(
    make: MakeFleet, memcached: Callable[..., Memcached], hung: Callable[[int], list[str]]
) -> None:
    """However many hang for good, each failed server is tried again before long."""
    port = free_port()
    fleet = make(*hung(200), f"127.0.0.1:{port}", modules={"default": {"timeout": "200ms"}})
    assert True not in ups(fleet.read_all(10))
    memcached(port=port)
    assert any(ups(fleet.read_all(10))[-1] for _ in range(6))


def test_known_hung_servers_cost_healthy_ones_nothing(
    make: MakeFleet, memcached: Callable[..., Memcached], hung: Callable[[int], list[str]]
) -> None:
    """Once it is known who hangs, the others are read first, also within a short time."""
    healthy = [memcached().address for _ in range(2)]
    fleet = make(*hung(70), *healthy, modules={"default": {"timeout": "3s"}})
    fleet.read_all(10)
    began = time.monotonic()
    outcomes = fleet.read_all(0.5)
    assert time.monotonic() - began < 2
    assert ups(outcomes)[70:] == [True, True]


@pytest.mark.parametrize("number", [1, 3, 70])
def test_pages_at_once_do_not_wait_for_each_others_hung_servers(
    make: MakeFleet,
    memcached: Callable[..., Memcached],
    hung: Callable[[int], list[str]],
    number: int,
) -> None:
    """Several Prometheus that scrape at once all see the healthy servers, in time."""
    healthy = [memcached().address for _ in range(2)]
    fleet = make(*healthy, *hung(number), modules={"default": {"timeout": "3s"}})
    fleet.read_all(1)
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(fleet.read_all, 10) for _ in range(4)]
        time.sleep(0.1)
        began = time.monotonic()
        outcomes = fleet.read_all(0.5)
        assert time.monotonic() - began < 2
        pages = [outcomes, *(page.result() for page in others)]
    assert [ups(page) for page in pages] == [[True, True, *[False] * number]] * 5


def test_a_stopped_server_does_not_delay_others(
    make: MakeFleet, memcached: Callable[..., Memcached]
) -> None:
    """A server that hangs between two scrapes costs its own deadline; then it is back."""
    servers = [memcached() for _ in range(3)]
    fleet = make(*(server.address for server in servers), modules={"default": {"timeout": "300ms"}})
    assert ups(fleet.read_all(10)) == [True, True, True]
    servers[1].freeze()
    began = time.monotonic()
    assert ups(fleet.read_all(10)) == [True, False, True]
    assert time.monotonic() - began < 2
    servers[1].thaw()
    servers[2].restart()
    assert ups(fleet.read_all(10)) == [True, True, True]


def test_an_error_inside_blanks_one_server_only(
    make: MakeFleet,
    memcached: Callable[..., Memcached],
    errors: Counter[Reason],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What goes wrong in the exporter itself stays with the server where it went wrong (C05)."""
    fleet = make(memcached().address, memcached().address)

    def fail(deadline: float) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(fleet.members[0].server, "read", fail)
    assert ups(fleet.read_all(10)) == [False, True]
    assert errors == {Reason.INTERNAL: 1}
    capsys.readouterr()


def test_no_servers_are_no_outcomes(make: MakeFleet) -> None:
    """A fleet of none has an empty page."""
    assert make().read_all(1) == []


def test_closing_ends_connections_and_threads(
    make: MakeFleet, memcached: Callable[..., Memcached]
) -> None:
    """A closed fleet holds no connection and no thread any more."""
    servers = [memcached() for _ in range(3)]
    threads = threading.active_count()
    fleet = make(*(server.address for server in servers))
    fleet.read_all(5)
    held = [int(server.stats()["curr_connections"]) for server in servers]
    fleet.close()

    def left() -> list[int]:
        return [int(server.stats()["curr_connections"]) for server in servers]

    assert eventually(lambda: left() == [number - 1 for number in held])
    assert threading.active_count() == threads
