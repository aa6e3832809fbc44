"""The figures that people look at first are right, and None where they cannot be known."""

import pytest

from exporter.health.figures import capacity, levels, lifetime, rates
from exporter.health.snapshot import Labels, Snapshot
from tests.health.made_up import GET_HITS, GET_MISSES, SETS, snapshot

START = 1_700_000_000.0


def busy(
    taken: float, *, hits: float = 0, misses: float = 0, sets: float = 0, **others: float
) -> Snapshot:
    """Return a server with some traffic behind it."""
    commands: dict[Labels, float] = {GET_HITS: hits, GET_MISSES: misses, SETS: sets}
    return snapshot(taken, start_time_seconds=START, commands_total=commands, **others)


def test_levels() -> None:
    """Each is what the server tells, or the ratio of two such numbers."""
    found = levels(
        snapshot(
            version_info={(("version", "1.6.18"),): 1.0},
            uptime_seconds=3600.0,
            current_connections=100.0,
            max_connections=1024.0,
            reserved_fds=24.0,
            current_bytes=300.0,
            limit_bytes=400.0,
            current_items=7.0,
            ping_seconds=0.00025,
        )
    )
    assert found.version == "1.6.18"
    assert found.uptime == 3600.0
    assert (found.connections, found.connections_limit) == (100.0, 1000.0)
    assert found.connections_ratio == 0.1
    assert (found.memory_bytes, found.memory_limit_bytes) == (300.0, 400.0)
    assert found.memory_ratio == 0.75
    assert found.items == 7.0
    assert found.ping_seconds == 0.00025


def test_a_server_that_tells_nothing_has_no_levels() -> None:
    """Unknown is None, never 0."""
    found = levels(snapshot())
    assert found.version == ""
    assert {getattr(found, name) for name in found.__struct_fields__} == {"", None}


def test_capacity_without_reserved_descriptors() -> None:
    """Old servers do not tell what they reserve: their limit is all that is known."""
    assert capacity(snapshot(max_connections=1024.0)) == 1024.0
    assert capacity(snapshot(reserved_fds=5.0)) is None


def test_a_limit_that_leaves_nothing() -> None:
    """A limit below what the server keeps for itself is none for clients, and no ratio."""
    found = levels(snapshot(current_connections=2.0, max_connections=10.0, reserved_fds=20.0))
    assert (found.connections_limit, found.connections_ratio) == (0.0, None)


def test_a_limit_of_zero_gives_no_ratio() -> None:
    """`-m 0` means no limit."""
    found = levels(snapshot(current_bytes=300.0, limit_bytes=0.0))
    assert found.memory_limit_bytes == 0.0
    assert found.memory_ratio is None


def test_items_on_external_storage_are_not_in_memory() -> None:
    """`bytes` has them; more of them than of all is rounding."""
    assert levels(snapshot(current_bytes=9.0, extstore_bytes_used=4.0)).memory_bytes == 5.0
    assert levels(snapshot(current_bytes=3.0, extstore_bytes_used=4.0)).memory_bytes == 0.0


def test_rates() -> None:
    """What was counted in between, per second."""
    before = busy(100.0, hits=50, misses=50, sets=10, items_evicted_total=1, read_bytes_total=0)
    now = busy(110.0, hits=140, misses=60, sets=30, items_evicted_total=6, read_bytes_total=500)
    found = rates(before, now)
    assert found
    assert found.seconds == 10.0
    assert found.commands == {"get": 10.0, "set": 2.0}
    assert found.total == 12.0
    assert found.hit_ratio == 0.9
    assert found.evictions == 0.5
    assert found.evicted_per_set == 0.25
    assert found.read_bytes == 50.0
    assert found.written_bytes is None
    assert found.voluntary_switches is None


def test_without_gets_there_is_no_hit_rate() -> None:
    """Nor a share of evictions without stores: 0 would be a claim."""
    found = rates(
        busy(1.0, hits=5, items_evicted_total=4), busy(2.0, hits=5, items_evicted_total=4)
    )
    assert found
    assert found.hit_ratio is None
    assert found.evictions == 0.0
    assert found.evicted_per_set is None


def test_commands_that_are_counted_twice() -> None:
    """A cas is in the count of sets; the legacy names repeat stores under another status."""
    commands: dict[Labels, float] = {
        SETS: 10.0,
        (("command", "set"), ("status", "hit")): 8.0,
        (("command", "cas"), ("status", "hit")): 2.0,
        (("command", "flush"), ("status", "attempt")): 1.0,
        (("command", "flush"), ("status", "hit")): 1.0,
        (("command", "delete"), ("status", "hit")): 3.0,
        (("command", "delete"), ("status", "miss")): 4.0,
    }
    found = lifetime(snapshot(commands_total=commands, uptime_seconds=1.0))
    assert found
    assert found.commands == {"set": 10.0, "flush": 1.0, "delete": 7.0}


def test_a_proxy_counts_apart() -> None:
    """Its commands, a cas among them, add to those of the server's own."""
    proxied: dict[Labels, float] = {(("command", "get"),): 4.0, (("command", "cas"),): 2.0}
    now = snapshot(commands_total={GET_HITS: 1.0}, proxy_commands_total=proxied, uptime_seconds=2.0)
    found = lifetime(now)
    assert found
    assert found.commands == {"get": 2.5, "cas": 1.0}


def test_the_lifetime_of_a_server() -> None:
    """All that was counted over its uptime; None in its first second."""
    found = lifetime(busy(5.0, hits=30, misses=10, uptime_seconds=20.0))
    assert found
    assert (found.seconds, found.commands["get"], found.hit_ratio) == (20.0, 2.0, 0.75)
    assert lifetime(busy(5.0, uptime_seconds=0.0)) is None
    assert lifetime(busy(5.0)) is None


@pytest.mark.parametrize("moved", [-1.0, 0.0, 1.0])
def test_a_clock_that_ticks_is_no_restart(moved: float) -> None:
    """The difference of two clocks of whole seconds may be off by one."""
    now = snapshot(20.0, start_time_seconds=START + moved, commands_total={GET_HITS: 15.0})
    found = rates(busy(10.0, hits=5), now)
    assert found
    assert found.commands["get"] == 1.0


def test_a_restart_gives_no_rates() -> None:
    """Also when the counters have meanwhile grown beyond what they were."""
    now = snapshot(20.0, start_time_seconds=START + 5, commands_total={GET_HITS: 900.0})
    assert rates(busy(10.0, hits=5), now) is None


def test_counters_that_were_reset_give_no_rates() -> None:
    """`stats reset` leaves the start as it is, and the counters fall."""
    assert rates(busy(10.0, hits=5, misses=9), busy(20.0, hits=9, misses=1)) is None


def test_two_snapshots_of_one_moment_give_no_rates() -> None:
    """There is nothing to divide by."""
    assert rates(busy(10.0, hits=5), busy(10.0, hits=5)) is None


def test_what_was_not_read_before_has_no_rate() -> None:
    """A process that has just been found has counted since its start, not since the last look."""
    switches: dict[Labels, float] = {
        (("type", "voluntary"),): 5000.0,
        (("type", "involuntary"),): 10.0,
    }
    later = snapshot(20.0, start_time_seconds=START, process_context_switches_total=switches)
    found = rates(busy(10.0, hits=1), later)
    assert found
    assert found.voluntary_switches is None
    again = snapshot(
        30.0,
        start_time_seconds=START,
        process_context_switches_total={labels: n + 20 for labels, n in switches.items()},
    )
    assert (counted := rates(later, again))
    assert (counted.voluntary_switches, counted.involuntary_switches) == (2.0, 2.0)


def test_cpu_needs_both_halves() -> None:
    """Time in user mode alone is not the CPU that a server used."""
    both = {"process_user_cpu_seconds_total": 4.0, "process_system_cpu_seconds_total": 6.0}
    found = lifetime(snapshot(uptime_seconds=20.0, **both))
    assert found
    assert found.cpu == 0.5
    half = lifetime(snapshot(uptime_seconds=20.0, process_user_cpu_seconds_total=4.0))
    assert half
    assert half.cpu is None
