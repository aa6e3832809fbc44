"""Figures are shown short, in the room that there is, and marked where they are worrying."""

import pytest

from exporter.health.findings.shape import Severity
from exporter.health.thresholds import Thresholds
from exporter.watch.rows import Event
from exporter.watch.shown import SHOWN, UNKNOWN, fitting, short, state, text
from tests.watch.made_up import row

BY_TITLE = {shown.title: shown for shown in SHOWN}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (0.04, "0.0"),
        (3.0, "3"),
        (3.14, "3.1"),
        (9.96, "10"),
        (340.4, "340"),
        (999.4, "999"),
        (999.6, "1.0k"),
        (12345.0, "12.3k"),
        (99960.0, "100k"),
        (999600.0, "1.0M"),
        (4.5e6, "4.5M"),
        (7.25e9, "7.2G"),
        (1e12, "1T"),
        (123e12, "123T"),
    ],
)
def test_short_numbers(value: float, expected: str) -> None:
    """At most five characters, whatever the load."""
    assert short(value) == expected
    assert len(expected) <= 5


@pytest.mark.parametrize(
    ("title", "figure", "value", "expected"),
    [
        ("cmd/s", "commands_per_second", 92100.0, "92.1k"),
        ("hits", "hit_ratio", 0.9876, "98.8%"),
        ("hits", "hit_ratio", 1.0, "100.0%"),
        ("mem", "memory_ratio", 0.0, "0.0%"),
        ("conn", "connections", 812.0, "812"),
        ("p50 ms", "ping_p50_seconds", 0.000142, "0.14"),
        ("p99 ms", "ping_p99_seconds", 0.0625, "62.50"),
        ("p99 ms", "ping_p99_seconds", 2.0, "2k"),
    ],
)
def test_figures(title: str, figure: str, value: float, expected: str) -> None:
    """Shares are percent, times milliseconds; none is wider than its column."""
    assert text(BY_TITLE[title], row(told={figure: value})) == expected
    assert text(BY_TITLE[title], row()) == UNKNOWN


@pytest.mark.parametrize(
    ("room", "titles"),
    [
        (0, ["cmd/s"]),
        (35, ["cmd/s", "hits", "conn", "mem", "p99 ms"]),
        (42, ["cmd/s", "hits", "evi/s", "conn", "mem", "p99 ms"]),
        (62, ["cmd/s", "get/s", "set/s", "hits", "evi/s", "conn", "mem", "p99 ms"]),
        (500, [shown.title for shown in SHOWN]),
    ],
)
def test_what_fits(room: int, titles: list[str]) -> None:
    """The most important ones, in the order of the table."""
    assert [shown.title for shown in fitting(room)] == titles


@pytest.mark.parametrize(
    ("title", "figures", "severity"),
    [
        ("conn", {"connections": 9.0, "connections_ratio": 0.8}, None),
        ("conn", {"connections": 9.0, "connections_ratio": 0.81}, Severity.WARNING),
        ("conn", {"connections": 9.0, "connections_ratio": 0.96}, Severity.CRITICAL),
        ("conn", {"connections": 9.0}, None),
        ("mem", {"memory_ratio": 0.85}, None),
        ("mem", {"memory_ratio": 0.86}, Severity.WARNING),
        ("hits", {"hit_ratio": 0.8, "gets_per_second": 10.0}, None),
        ("hits", {"hit_ratio": 0.79, "gets_per_second": 10.0}, Severity.WARNING),
        ("hits", {"hit_ratio": 0.79, "gets_per_second": 1.0}, None),
        ("evi/s", {"evictions_per_second": 1.0, "sets_per_second": 10.0}, None),
        ("evi/s", {"evictions_per_second": 1.1, "sets_per_second": 10.0}, Severity.WARNING),
        ("evi/s", {"evictions_per_second": 1.0, "sets_per_second": 1.0}, None),
        ("p50 ms", {"ping_p50_seconds": 0.01}, None),
        ("p50 ms", {"ping_p50_seconds": 0.011}, Severity.CRITICAL),
        ("p99 ms", {"ping_p99_seconds": 0.005}, None),
        ("p99 ms", {"ping_p99_seconds": 0.006}, Severity.WARNING),
        ("cmd/s", {"commands_per_second": 0.0}, None),
    ],
)
def test_what_is_worrying(title: str, figures: dict[str, float], severity: Severity | None) -> None:
    """By the thresholds of the alerts, where the figure says something."""
    assert BY_TITLE[title].judge(figures, Thresholds()) is severity


def test_the_state_of_a_server() -> None:
    """Empty when there is nothing to say."""
    assert state(row()) == ""
    assert state(row(event=Event.RESTART)) == "restart"
    assert state(row(up=False, event=Event.DOWN)) == "down: refused"
