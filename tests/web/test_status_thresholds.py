"""Numbers beyond the thresholds of the configuration are told in a word."""

from typing import Any

import pytest

from exporter.health.thresholds import Connections, Evictions, HitRate, Latency, Thresholds
from exporter.web.status.pages import status_page
from exporter.web.status.rows import Row
from tests.web.status import Page, context, request, up


def cell(column: str, row: Row, thresholds: Thresholds | None = None) -> str:
    """Return what stands in a column of a server."""
    answer = status_page(request(), [row], context(thresholds=thresholds))
    return Page(answer).servers[0][column]


@pytest.mark.parametrize(
    ("column", "known", "thresholds", "told"),
    [
        ("Connections", {"connections_ratio": 0.5}, Thresholds(), "50 %"),
        ("Connections", {"connections_ratio": 0.8}, Thresholds(), "80 %"),
        ("Connections", {"connections_ratio": 0.81}, Thresholds(), "81 % warning"),
        ("Connections", {"connections_ratio": 0.96}, Thresholds(), "96 % critical"),
        (
            "Connections",
            {"connections_ratio": 0.5},
            Thresholds(connections=Connections(warning=0.4, critical=0.6)),
            "50 % warning",
        ),
        ("Memory", {"memory_ratio": 0.85}, Thresholds(), "85 %"),
        ("Memory", {"memory_ratio": 0.86}, Thresholds(), "86 % warning"),
        ("Memory", {"memory_ratio": 0.5}, Thresholds(memory=0.4), "50 % warning"),
        ("Evictions/s", {"evictions": 2.7}, Thresholds(), "2.7"),
        ("Evictions/s", {"evictions": 2.8}, Thresholds(), "2.8 warning"),
        (
            "Evictions/s",
            {"evictions": 1.5},
            Thresholds(evictions=Evictions(per_hour=3600)),
            "1.5 warning",
        ),
        ("Latency", {"ping_seconds": 0.011}, Thresholds(), "11 ms info"),
        ("Latency", {"ping_seconds": 0.011}, Thresholds(latency=Latency(mean=0.02)), "11 ms"),
    ],
)
def test_thresholds_are_words(
    column: str, known: dict[str, Any], thresholds: Thresholds, told: str
) -> None:
    """Beyond a threshold of the configuration the severity stands beside the number."""
    assert cell(column, up(**known), thresholds) == told


@pytest.mark.parametrize(
    ("ratio", "gets", "uptime", "told"),
    [
        (0.79, 2.0, 1801.0, "79 % warning"),
        (0.8, 2.0, 1801.0, "80 % info"),
        (0.95, 2.0, 1801.0, "95 %"),
        (0.5, 1.0, 1801.0, "50 %"),
        (0.5, 2.0, 1800.0, "50 %"),
    ],
)
def test_hit_rates_are_judged_when_they_mean_something(
    ratio: float, gets: float, uptime: float, told: str
) -> None:
    """A cold cache and one that nobody asks are not called bad."""
    row = up(hit_ratio=ratio, commands={"get": gets}, uptime=uptime)
    assert cell("Hit rate", row) == told


def test_the_hit_rates_thresholds_are_those_of_the_configuration() -> None:
    """They can be lower for caches of which little is expected."""
    row = up(hit_ratio=0.5, commands={"get": 2.0}, uptime=1801.0)
    lenient = Thresholds(hit_rate=HitRate(warning=0.3, target=0.4))
    assert cell("Hit rate", row, lenient) == "50 %"
