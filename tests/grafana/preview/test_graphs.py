"""What graphs and the heatmap are made of."""

import math
from typing import Any

import pytest

from grafana.preview.display import PALETTE
from grafana.preview.graphs import buckets, lines, ticks_of
from grafana.preview.prometheus import Series
from grafana.preview.variables import Span

TIMES = Span(100, 140, 10, 40)
PANEL: dict[str, Any] = {
    "targets": [
        {"refId": "A", "legendFormat": "{{server}}"},
        {"refId": "B", "legendFormat": "limit"},
    ]
}


def test_lines() -> None:
    """Each series has its name, its colour, and a gap where it has no number."""
    answers = {
        "A": [
            Series({"server": "a"}, [(100, 1), (110, 5), (140, 2)]),
            Series({"server": "b"}, [(130, 7)]),
        ],
        "B": [Series({}, [(when, 9.0) for when in range(100, 141, 10)])],
    }
    first, second, limit = lines(PANEL, answers, TIMES)
    assert [line.name for line in (first, second, limit)] == ["a", "b", "limit"]
    assert [line.colour for line in (first, second, limit)] == list(PALETTE[:3])
    assert first.values[:2] == [1, 5]
    assert [math.isnan(value) for value in first.values] == [False, False, True, True, False]
    assert (first.last, first.most) == (2, 5)
    assert (second.last, second.most) == (7, 7)
    assert limit.values == [9] * 5


def test_lines_of_odd_times() -> None:
    """Steps of a fraction of a second are met."""
    answers = {"A": [Series({}, [(0.0, 1.0), (1.4, 3.0), (2.1, 4.0)])], "B": []}
    (line,) = lines(PANEL, answers, Span(0, 2.1, 0.7, 2.8))
    assert [line.values[0], *line.values[2:]] == [1, 3, 4]
    assert math.isnan(line.values[1])


@pytest.mark.parametrize(
    ("highest", "config", "texts"),
    [
        (1, {"unit": "percentunit"}, ["0%", "25%", "50%", "75%", "100%"]),
        (0.0006, {"unit": "s"}, ["0 s", "200 µs", "400 µs", "600 µs"]),
        (290, {"unit": "ops"}, ["0 ops/s", "100 ops/s", "200 ops/s"]),
        (134e6, {"unit": "bytes"}, ["0 B", "50 MiB", "100 MiB"]),
        (1, {"unit": "bool", "decimals": 0}, ["False", "True"]),
    ],
)
def test_ticks(highest: float, config: dict[str, Any], texts: list[str]) -> None:
    """An axis has round numbers, of bytes too, and none with more digits than its panel wants."""
    assert list(ticks_of(highest, config).values()) == texts


def test_buckets() -> None:
    """Rows of a heatmap are what is between two bounds, ordered by number and not by text."""
    counts = {"0.25": [3, 4], "+Inf": [6, 9], "0.001": [1, 0], "10": [3, 8]}
    answers = [
        Series({"le": bound}, [(100, numbers[0]), (110, numbers[1])])
        for bound, numbers in counts.items()
    ]
    bounds, rows = buckets(answers, Span(100, 110, 10, 40))
    assert bounds == [0.001, 0.25, 10, math.inf]
    assert rows == [[1, 0], [2, 4], [0, 4], [3, 1]]
