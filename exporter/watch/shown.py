"""What of the figures is shown in a terminal, how, and when it is worrying."""

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from exporter.health.findings.shape import Severity
from exporter.health.thresholds import Thresholds
from exporter.watch.columns import GETS, HIT_RATIO, PING_P50, PING_P99, THROUGHPUT, Figures
from exporter.watch.rows import Row

UNKNOWN = "-"
Judge = Callable[[Figures, Thresholds], Severity | None]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One column of the table."""

    title: str
    figure: str
    format: Callable[[float], str]
    rank: int
    """Where there is little room, columns of a high rank are left out."""
    judge: Judge = lambda _figures, _thresholds: None
    """How bad the figure is; only asked when it is known."""


def _connections(figures: Figures, thresholds: Thresholds) -> Severity | None:
    limits, ratio = thresholds.connections, figures.get("connections_ratio", 0.0)
    if ratio > limits.critical:
        return Severity.CRITICAL
    return Severity.WARNING if ratio > limits.warning else None


def _memory(figures: Figures, thresholds: Thresholds) -> Severity | None:
    return Severity.WARNING if figures["memory_ratio"] > thresholds.memory else None


def _hit_rate(figures: Figures, thresholds: Thresholds) -> Severity | None:
    limits = thresholds.hit_rate
    says_something = figures.get(GETS, 0.0) > limits.floor
    return Severity.WARNING if says_something and figures[HIT_RATIO] < limits.warning else None


def _evictions(figures: Figures, thresholds: Thresholds) -> Severity | None:
    limits, sets = thresholds.evictions, figures.get("sets_per_second", 0.0)
    many = figures["evictions_per_second"] > limits.per_set * sets
    return Severity.WARNING if sets > limits.floor and many else None


def _typical_latency(figures: Figures, thresholds: Thresholds) -> Severity | None:
    return Severity.CRITICAL if figures[PING_P50] > thresholds.latency.mean else None


def _latency(figures: Figures, thresholds: Thresholds) -> Severity | None:
    return Severity.WARNING if figures[PING_P99] > thresholds.latency.p99 else None


def short(value: float) -> str:
    """Return a number in at most five characters: 7.2, 340, 12.3k, 4.5M."""
    for unit in ("", "k", "M", "G"):
        if value < 999.5:  # noqa: PLR2004, what rounds to 1000 has the next unit
            broken = not value.is_integer() and value < (99.95 if unit else 9.95)
            return f"{value:.1f}{unit}" if broken else f"{value:.0f}{unit}"
        value /= 1000
    return f"{value:.0f}T"


def _percent(value: float) -> str:
    return f"{value * 100:.1f}%"


def _milliseconds(value: float) -> str:
    return f"{value * 1000:.2f}" if value < 1 else short(value * 1000)


SHOWN = (
    Shown(title="cmd/s", figure=THROUGHPUT, format=short, rank=1),
    Shown(title="get/s", figure=GETS, format=short, rank=3),
    Shown(title="set/s", figure="sets_per_second", format=short, rank=3),
    Shown(title="del/s", figure="deletes_per_second", format=short, rank=5),
    Shown(title="tch/s", figure="touches_per_second", format=short, rank=6),
    Shown(title="oth/s", figure="others_per_second", format=short, rank=6),
    Shown(title="hits", figure=HIT_RATIO, format=_percent, rank=1, judge=_hit_rate),
    Shown(title="evi/s", figure="evictions_per_second", format=short, rank=2, judge=_evictions),
    Shown(title="conn", figure="connections", format=short, rank=1, judge=_connections),
    Shown(title="mem", figure="memory_ratio", format=_percent, rank=1, judge=_memory),
    Shown(title="p50 ms", figure=PING_P50, format=_milliseconds, rank=3, judge=_typical_latency),
    Shown(title="p99 ms", figure=PING_P99, format=_milliseconds, rank=1, judge=_latency),
    Shown(title="vcs/s", figure="voluntary_switches_per_second", format=short, rank=4),
    Shown(title="ics/s", figure="involuntary_switches_per_second", format=short, rank=4),
)
WIDTH = 6
"""Of each column, without the blank before it."""
STATE_WIDTH = 14
"""Room for most of what is said of a server besides its figures."""


def fitting(width: int) -> Sequence[Shown]:
    """Return the columns that have room in a number of characters, the most important ones."""
    most = max(width // (WIDTH + 1), 1)
    kept = sorted(SHOWN, key=lambda shown: shown.rank)[:most]
    return [shown for shown in SHOWN if shown in kept]


def text(shown: Shown, row: Row) -> str:
    """Return the figure of a row as it is shown."""
    value = row.figures.get(shown.figure)
    return UNKNOWN if value is None else shown.format(value)


def state(row: Row) -> str:
    """Return what is to be said of a server besides its figures."""
    return row.event if row.up else f"down: {row.reason}"


def moment(row: Row) -> str:
    """Return the time of a row as the clock on the wall has it."""
    return datetime.fromtimestamp(row.time).astimezone().strftime("%H:%M:%S")
