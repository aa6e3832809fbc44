"""Mean, p95 and worst of each figure are right, also where intervals differ."""

import pytest

from exporter.watch.columns import COLUMNS
from exporter.watch.rows import Event, Row
from exporter.watch.statistics import Accounts, Run
from tests.watch.made_up import ADDRESS, row


def run_of(*rows: Row) -> Run:
    """Return the run of the one server that the rows are about."""
    (run,) = Accounts(rows).runs().values()
    return run


def test_the_mean_of_a_rate_is_over_time() -> None:
    """An interval that is three times as long counts three times."""
    run = run_of(
        row(commands_per_second=100.0, interval_seconds=5.0),
        row(commands_per_second=20.0, interval_seconds=15.0),
    )
    assert run.figures["commands_per_second"].mean == (500 + 300) / 20


def test_the_mean_hit_ratio_is_all_hits_to_all_gets() -> None:
    """An interval with few gets says little."""
    run = run_of(
        row(hit_ratio=1.0, gets_per_second=10.0, interval_seconds=5.0),
        row(hit_ratio=0.5, gets_per_second=100.0, interval_seconds=10.0),
    )
    assert run.figures["hit_ratio"].mean == (50 + 500) / (50 + 1000)


def test_levels_count_alike() -> None:
    """They are of a moment, however long the time before was."""
    run = run_of(row(connections=10.0), row(connections=20.0, interval_seconds=50.0))
    assert run.figures["connections"].mean == 15.0


def test_the_worst_is_the_lowest_of_what_should_be_high() -> None:
    """And 95 of 100 intervals are at least as good as p95."""
    run = run_of(*(row(commands_per_second=float(number)) for number in range(1, 101)))
    found = run.figures["commands_per_second"]
    assert (found.mean, found.p95, found.worst) == (50.5, 6.0, 1.0)


def test_the_worst_is_the_highest_of_what_should_be_low() -> None:
    """The same for latency, from the other end."""
    run = run_of(*(row(ping_p99_seconds=float(number)) for number in range(1, 101)))
    found = run.figures["ping_p99_seconds"]
    assert (found.mean, found.p95, found.worst) == (50.5, 95.0, 100.0)


@pytest.mark.parametrize(
    ("name", "high"),
    [
        ("commands_per_second", True),
        ("gets_per_second", True),
        ("hit_ratio", True),
        ("read_bytes_per_second", True),
        ("evictions_per_second", False),
        ("connections_ratio", False),
        ("memory_bytes", False),
        ("ping_p50_seconds", False),
        ("ping_failures", False),
        ("involuntary_switches_per_second", False),
    ],
)
def test_which_end_is_the_worst(name: str, high: bool) -> None:
    """Throughput and hit rate should be high, all else low."""
    assert [column.more_is_better for column in COLUMNS if column.name == name] == [high]


def test_one_interval_is_all() -> None:
    """Mean, p95 and worst are the same then."""
    found = run_of(row(memory_ratio=0.25)).figures["memory_ratio"]
    assert (found.mean, found.p95, found.worst) == (0.25, 0.25, 0.25)


def test_what_is_not_known_does_not_count() -> None:
    """Gaps and restarts are counted, and have no part in the figures."""
    run = run_of(
        row(commands_per_second=100.0),
        row(up=False, event=Event.DOWN, ping_failures=9.0),
        row(event=Event.RESTART, connections=5.0),
        row(event=Event.RESET),
        row(commands_per_second=300.0),
    )
    assert (run.intervals, run.down, run.resets, run.reason) == (5, 1, 2, "refused")
    assert run.figures["commands_per_second"].mean == 200.0
    assert run.figures["connections"].mean == 5.0
    assert run.figures["ping_failures"].mean == 9.0
    assert "hit_ratio" not in run.figures


def test_how_long_an_interval_was_is_not_summed_up() -> None:
    """Nor how many pings there were: they say how the watch went, not the server."""
    assert run_of(row(pings=100.0)).figures == {}


def test_servers_are_apart() -> None:
    """In the order in which they come."""
    rows = [row(server="b", items=1.0), row(server="a", items=3.0), row(server="b", items=3.0)]
    runs = Accounts(rows).runs()
    assert list(runs) == ["b", "a"]
    assert [run.figures["items"].mean for run in runs.values()] == [2.0, 3.0]
    assert [run.intervals for run in runs.values()] == [2, 1]
    assert Accounts([row()]).runs()[ADDRESS].server == ADDRESS


def test_weights_of_nothing_give_no_mean() -> None:
    """A file that was written by hand may have gets of 0 beside a hit ratio."""
    assert "hit_ratio" not in run_of(row(hit_ratio=0.5, gets_per_second=0.0)).figures
