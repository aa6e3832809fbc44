"""Bars and lines show the numbers where they are, with gaps where there are none."""

import re

import pytest

from exporter.health.thresholds import Connections, HitRate, Thresholds
from exporter.observation.history import Point
from exporter.web.status.figures import FIGURES
from exporter.web.status.pictures import Canvas, bar, chart, extremes, spark
from exporter.web.status.rows import STALE_SECONDS
from tests.web.status import Moment, levels, rates

BY_NAME = {figure.name: figure for figure in FIGURES}
LATENCY, COMMANDS, HIT_RATE = BY_NAME["latency"], BY_NAME["commands"], BY_NAME["hit_rate"]
SIZE = (100, 24)
"""With room for edges of 2 there are 20 units between the lowest and the highest value."""


def latencies(*milliseconds: float | None, step: float = 15.0) -> list[Point]:
    """Return points with these round trips; None for a scrape that found the server down."""
    return [
        Moment(1000.0 + i * step, True, levels(ping_seconds=value / 1000)).point
        if value is not None
        else Moment(1000.0 + i * step, up=False).point
        for i, value in enumerate(milliseconds)
    ]


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ((10.0, 5.0, 0.0), "M0 2h0L50 12L100 22"),
        ((10.0, None, 5.0), "M0 2h0M100 12h0"),
        ((None, 10.0, 10.0), "M50 2h0L100 2"),
        ((10.0, 10.0, None), "M0 2h0L50 2"),
        ((4.0,), "M0 2h0"),
        ((0.0, 0.0), "M0 22h0L100 22"),
        ((None, None), ""),
    ],
)
def test_a_line_goes_through_its_values(values: tuple[float | None, ...], path: str) -> None:
    """From the first time to the last, from 0 to the highest; what is missing is a gap."""
    assert Canvas(latencies(*values), LATENCY, SIZE).path() == path


def test_times_are_not_even() -> None:
    """A value stands at its time, and not at its number."""
    points = [Moment(time, True, levels(ping_seconds=0.01)).point for time in (0.0, 10.0, 100.0)]
    assert Canvas(points, LATENCY, SIZE).path() == "M0 2h0L10 2L100 2"


@pytest.mark.parametrize(
    ("step", "path"),
    [(STALE_SECONDS, "M0 2h0L100 2"), (STALE_SECONDS + 1, "M0 2h0M100 2h0")],
)
def test_a_time_without_scrapes_is_a_gap(step: float, path: str) -> None:
    """Nobody knows what was between two scrapes that are far apart."""
    assert Canvas(latencies(1, 1, step=step), LATENCY, SIZE).path() == path


def test_ratios_have_the_whole_scale() -> None:
    """A hit rate is drawn from 0 to 100 %, so half of it is in the middle."""
    points = [Moment(time, True, levels(), rates(hit_ratio=0.5)).point for time in (0.0, 15.0)]
    assert Canvas(points, HIT_RATE, SIZE).path() == "M0 12h0L100 12"


def test_what_is_beyond_the_scale_stays_within_the_picture() -> None:
    """More memory than the limit is drawn as all of it."""
    points = [Moment(0.0, True, levels(memory_ratio=1.3)).point]
    memory = BY_NAME["memory"]
    assert Canvas(points, memory, SIZE).path() == "M0 2h0"
    assert 'width="100" height="10"/>' in bar(memory, points[0], Thresholds()).partition("value")[2]


@pytest.mark.parametrize(
    ("ratio", "kind", "width"),
    [
        (0.0, "well", "0"),
        (0.4, "well", "40"),
        (0.4001, "warning", "40.01"),
        (0.6001, "critical", "60.01"),
        (1.0, "critical", "100"),
    ],
)
def test_bars(ratio: float, kind: str, width: str) -> None:
    """The width is the ratio, the class the severity, and there is a mark at each threshold."""
    thresholds = Thresholds(connections=Connections(warning=0.4, critical=0.6))
    point = Moment(0.0, True, levels(connections_ratio=ratio)).point
    drawn = bar(BY_NAME["connections"], point, thresholds)
    assert f'<rect class="value {kind}" width="{width}" height="10"/>' in drawn
    assert re.findall(r'class="mark (\w+)" d="M([\d.]+) 0V10"', drawn) == [
        ("critical", "60"),
        ("warning", "40"),
    ]


def test_a_bar_is_told_in_words() -> None:
    """Who cannot see it hears the number and where it would be too high."""
    point = Moment(0.0, True, levels(connections_ratio=0.5)).point
    drawn = bar(BY_NAME["connections"], point, Thresholds())
    told = re.search(r'aria-label="([^"]*)"', drawn)
    assert told
    assert told[1] == "Connections 50 %, warning above 80 %, critical above 95 %"


def test_what_is_not_known_has_no_picture() -> None:
    """Not an empty one, which would be 0."""
    point = Moment(0.0, True, levels()).point
    assert bar(BY_NAME["memory"], point, Thresholds()) == ""
    assert spark(LATENCY, latencies(None, None)) == ""
    assert spark(LATENCY, []) == ""
    assert chart(LATENCY, latencies(None), Thresholds()) == ""


def test_scrapes_that_found_it_down_are_marked() -> None:
    """So that a gap without marks means that nobody scraped."""
    drawn = spark(LATENCY, latencies(1, None, 1, None, 1))
    assert '<path class="down" d="M30 28v-6M90 28v-6"/>' in drawn
    assert "down" not in spark(LATENCY, latencies(1, 1))


def test_a_line_is_told_in_words() -> None:
    """The last, lowest and highest value, also when the last one is not known."""
    assert extremes(LATENCY, latencies(2, 1, 3, 2.5)) == "last 2.5 ms, lowest 1 ms, highest 3 ms"
    assert extremes(LATENCY, latencies(2, None)) == "last not known, lowest 2 ms, highest 2 ms"
    assert extremes(LATENCY, []) == ""
    assert 'aria-label="Latency: last 3 ms, lowest 1 ms, highest 3 ms"' in spark(
        LATENCY, latencies(1, 3)
    )


def test_charts_have_lines_at_the_thresholds() -> None:
    """Those that lie within the scale: the others would be at a wrong place."""
    points = [Moment(time, True, levels(), rates(hit_ratio=0.5)).point for time in (0.0, 15.0)]
    drawn = chart(HIT_RATE, points, Thresholds(hit_rate=HitRate(warning=0.5, target=0.75)))
    assert '<path class="mark warning" d="M0 60H600"/>' in drawn
    assert '<path class="mark info" d="M0 31H600"/>' in drawn
    assert "mark" not in chart(LATENCY, latencies(9, 9), Thresholds())
    assert '<path class="mark info" d="M0 60H600"/>' in chart(LATENCY, latencies(20), Thresholds())


def test_commands_are_the_sum_of_all() -> None:
    """The line of commands is of gets and sets alike."""
    point = Moment(0.0, True, levels(), rates(commands={"get": 1.5, "set": 2.0})).point
    assert COMMANDS.value(point) == 3.5
