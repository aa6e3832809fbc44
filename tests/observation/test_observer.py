"""The observer sees what real servers do, and keeps the trouble of one away from the others."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from exporter.configuration import Configuration, build, convert
from exporter.errors import Reason
from exporter.health.figures import levels, rates
from exporter.observation.observer import Observer, quantile
from tests.host.subjects import wait_until
from tests.processes import Memcached, free_port


def configuration(*addresses: str) -> Configuration:
    """Return a configuration that has these servers."""
    document = {"servers": [{"address": address} for address in addresses]}
    return build(convert(document, str), str)


@contextmanager
def observing(*addresses: str, ping_interval: float = 0.0) -> Iterator[Observer]:
    """Observe servers."""
    observer = Observer(configuration(*addresses), ping_interval)
    try:
        yield observer
    finally:
        observer.close()


def test_two_looks_tell_what_happened(memcached: Callable[..., Memcached]) -> None:
    """Gets and sets in between are counted exactly, and the process is that of the server."""
    server = memcached("-t", "2")
    with observing(server.address) as observer:
        before = observer.look(5).servers[0]
        client = server.client()
        for number in range(30):
            client.set(f"key{number % 10}", "value")
            client.get(f"key{number % 10}")
        client.get("missing")
        client.close()
        now = observer.look(5).servers[0]
    assert before.snapshot
    assert now.snapshot
    found = rates(before.snapshot, now.snapshot)
    assert found
    assert found.seconds == now.snapshot.taken - before.snapshot.taken > 0
    assert round(found.commands["set"] * found.seconds) == 30
    assert round(found.commands["get"] * found.seconds) == 31
    assert found.hit_ratio == pytest.approx(30 / 31)
    assert found.voluntary_switches
    assert now.local
    assert now.snapshot.value("memcached_process_threads", kind="worker") == 2
    assert levels(now.snapshot).items == 10
    assert levels(now.snapshot).version == server.stats()["version"]


def test_a_server_that_is_down(memcached: Callable[..., Memcached]) -> None:
    """It has no numbers, but a reason; the others have theirs."""
    server, nobody = memcached(), f"127.0.0.1:{free_port()}"
    with observing(nobody, server.address) as observer:
        look = observer.look(5)
    down, up = look.servers
    assert (down.state.address, down.state.up, down.state.reason) == (nobody, False, Reason.REFUSED)
    assert down.snapshot is None
    assert not down.local
    assert up.snapshot
    assert look.host.value("memcached_host_cpus", state="online")


def test_a_hung_server_does_not_shift_the_time_of_others(
    memcached: Callable[..., Memcached],
) -> None:
    """A snapshot is of the moment at which its server answered."""
    server, hung = memcached(), memcached()
    with observing(server.address, hung.address) as observer:
        observer.look(5)
        hung.freeze()
        began = time.monotonic()
        first, second = observer.look(5).servers
        ended = time.monotonic()
        hung.thaw()
    assert second.state.reason == Reason.TIMEOUT
    assert first.snapshot
    # The hung server takes its timeout of a second; the other one was read at its begin.
    assert first.snapshot.taken - began < (ended - began) / 2


def test_round_trips_are_measured_between_looks(memcached: Callable[..., Memcached]) -> None:
    """They are told once; failures are counted, and have no time."""
    server, nobody = memcached(), f"127.0.0.1:{free_port()}"
    with observing(server.address, nobody, ping_interval=0.01) as observer:
        wait_until(lambda: len(observer._seconds.get(server.address, [])) >= 20)
        wait_until(lambda: observer._failed.get(nobody, 0) >= 3)
        pings, failures = observer.pings(server.address), observer.pings(nobody)
    assert pings
    assert pings.count >= 20
    assert pings.failed == 0
    assert pings.p50
    assert pings.p99
    assert 0 < pings.p50 <= pings.p99
    assert failures
    assert failures.failed >= 3
    assert (failures.p50, failures.p99, failures.count) == (None, None, 0)
    assert server.stats()["cmd_set"] == "0"
    assert server.stats()["cmd_get"] == "0"


def test_without_an_interval_nothing_is_measured(memcached: Callable[..., Memcached]) -> None:
    """There are no round trips, which is not the same as none in time."""
    with observing(memcached().address) as observer:
        observer.look(5)
        assert observer.pings(observer._fleet.members[0].state.address) is None


@pytest.mark.parametrize(
    ("count", "share", "expected"),
    [(1, 0.5, 1), (2, 0.5, 1), (3, 0.5, 2), (100, 0.99, 99), (101, 0.99, 100), (10, 0.99, 10)],
)
def test_quantiles(count: int, share: float, expected: int) -> None:
    """The smallest value that this share of all values does not exceed."""
    assert quantile([float(number) for number in range(1, count + 1)], share) == expected


def test_nothing_has_no_quantile() -> None:
    """There is no value to name."""
    assert quantile([], 0.5) is None
