"""Rows have what happened between two looks, and nothing that is made up."""

from types import SimpleNamespace

import pytest

from exporter.errors import Reason
from exporter.health.findings.view import Pings
from exporter.health.snapshot import Labels, Snapshot
from exporter.memcached.member import State
from exporter.observation.observer import Look, Sight
from exporter.watch import rows as module
from exporter.watch.columns import COLUMNS
from exporter.watch.rows import Event, Row, Rows
from tests.watch.made_up import ADDRESS, START, look, server

RATES = {column.name for column in COLUMNS if column.name.endswith("per_second")}


def no_pings(_address: str) -> Pings | None:
    """Return no round trips."""
    return None


def watched(*looks: Look) -> list[Row]:
    """Return the one row of each look."""
    rows = Rows(no_pings)
    return [row for one in looks for row in rows.of(one)]


def test_rates_are_those_of_the_interval() -> None:
    """Counts by kind are divided by the time between the answers; what is not told is absent."""
    before = server(100.0, hits=10, misses=10, sets=5, current_connections=7.0)
    now = server(110.0, hits=40, misses=20, sets=25, current_connections=9.0)
    first, second = watched(look(before, 100.0), look(now, 110.0))
    assert first.figures == {"connections": 7.0}
    assert second.figures == {
        "interval_seconds": 10.0,
        "commands_per_second": 6.0,
        "gets_per_second": 4.0,
        "sets_per_second": 2.0,
        "hit_ratio": 0.75,
        "connections": 9.0,
    }


def test_other_commands_have_a_column() -> None:
    """Those without one of their own are summed; each command is in one column only."""
    kinds = ("delete", "touch", "incr", "decr", "cas")

    def counted(taken: float, **counts: float) -> Snapshot:
        commands: dict[Labels, float] = {
            (("command", name), ("status", "hit")): counts[name] for name in kinds
        }
        commands[("command", "flush"), ("status", "attempt")] = counts["flush"]
        return Snapshot({"memcached_commands_total": commands}, taken)

    before = counted(0.0, delete=0, touch=0, incr=0, decr=0, cas=0, flush=0)
    now = counted(2.0, delete=2, touch=4, incr=6, decr=8, cas=100, flush=10)
    figures = watched(look(before, 0.0), look(now, 2.0))[1].figures
    assert figures["deletes_per_second"] == 1.0
    assert figures["touches_per_second"] == 2.0
    assert figures["others_per_second"] == 3.0 + 4.0 + 5.0
    assert figures["commands_per_second"] == 15.0


def test_time_comes_from_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a row is when its look began, by both clocks, though the look took long."""
    clock = SimpleNamespace(time=lambda: START + 3.5, monotonic=lambda: 103.5)
    monkeypatch.setattr(module, "time", clock)
    rows = Rows(no_pings)
    assert [row.elapsed for row in rows.of(look(server(103.0), 103.0))] == [0.0]
    clock.time, clock.monotonic = lambda: START + 9.0, lambda: 109.0
    (row,) = rows.of(look(server(108.9), 108.0))
    assert (row.time, row.elapsed) == (START + 8.0, 5.0)


def test_a_restart_has_no_rates() -> None:
    """They would be negative, or too low; the next interval has its own again."""
    rows = watched(
        look(server(100.0, sets=1000, start=START), 100.0),
        look(server(105.0, sets=50, start=START + 102), 105.0),
        look(server(110.0, sets=60, start=START + 102), 110.0),
    )
    assert [row.event for row in rows] == [Event.NONE, Event.RESTART, Event.NONE]
    assert not RATES & rows[1].figures.keys()
    assert rows[2].figures["sets_per_second"] == 2.0


def test_a_reset_of_the_counters_is_no_restart() -> None:
    """`stats reset` sets counters to 0 while the server goes on."""
    rows = watched(look(server(100.0, sets=1000), 100.0), look(server(105.0, sets=50), 105.0))
    assert rows[1].event == Event.RESET
    assert not RATES & rows[1].figures.keys()


def test_a_gap_has_no_numbers_and_loses_none() -> None:
    """While the server is silent there are none; then the rates are over the whole gap."""
    rows = watched(
        look(server(100.0, sets=100), 100.0),
        look(Reason.TIMEOUT, 105.0),
        look(Reason.TIMEOUT, 110.0),
        look(server(115.0, sets=400), 115.0),
    )
    assert [row.event for row in rows] == [Event.NONE, Event.DOWN, Event.NONE, Event.UP]
    assert [row.up for row in rows] == [True, False, False, True]
    assert (rows[1].reason, rows[1].detail) == ("timeout", "it is timeout")
    assert rows[1].figures == rows[2].figures == {}
    assert rows[3].reason == ""
    assert rows[3].figures["interval_seconds"] == 15.0
    assert rows[3].figures["sets_per_second"] == 20.0


def test_a_restart_in_a_gap_is_a_restart() -> None:
    """It says more than that the server is there again."""
    rows = watched(
        look(server(100.0, sets=100), 100.0),
        look(Reason.REFUSED, 105.0),
        look(server(110.0, sets=400, start=START + 106), 110.0),
    )
    assert [row.event for row in rows] == [Event.NONE, Event.DOWN, Event.RESTART]
    assert not RATES & rows[2].figures.keys()


def test_a_server_that_comes_late() -> None:
    """It has been down from the start, and has rates from its second answer on."""
    rows = watched(
        look(Reason.REFUSED, 100.0),
        look(server(105.0, sets=100), 105.0),
        look(server(110.0, sets=200), 110.0),
    )
    assert [row.event for row in rows] == [Event.NONE, Event.UP, Event.NONE]
    assert not RATES & rows[1].figures.keys()
    assert rows[2].figures["sets_per_second"] == 20.0


def test_round_trips_are_in_the_row_of_their_server() -> None:
    """Also those that failed while the server was down."""
    told = {ADDRESS: Pings(p50=None, p99=None, count=0, failed=9)}
    rows = Rows(told.pop)
    (row,) = rows.of(look(Reason.REFUSED, 100.0))
    assert row.figures == {"pings": 0.0, "ping_failures": 9.0}


def test_what_a_server_says_cannot_reach_the_terminal_raw() -> None:
    """Control characters in a reason are shown as escapes."""
    state = State(address=ADDRESS, up=False, reason=Reason.PROTOCOL, detail="it said \x1b[2J\n")
    seen = Look((Sight(state, None, local=False, since=1.0),), Snapshot({}, 1.0))
    assert watched(seen)[0].detail == "it said \\x1b[2J\\n"
