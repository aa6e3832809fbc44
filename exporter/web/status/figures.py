"""The figures that the pages show of a server: a table, and how a number is judged by it."""

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from exporter.health.figures import Levels
from exporter.health.findings.shape import Severity
from exporter.health.thresholds import Thresholds
from exporter.health.words import amount, share, size, time
from exporter.observation.history import Point

_HOUR = 3600


class Limit(msgspec.Struct, frozen=True):
    """A number beyond which a figure is marked."""

    severity: Severity
    value: float


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One number of a server over time."""

    name: str
    """As the parameter ``sort`` takes it."""
    title: str
    value: Callable[[Point], float | None]
    words: Callable[[float], str]
    """The number as people read it."""
    limits: Callable[[Thresholds], tuple[Limit, ...]] = lambda _: ()
    """The worst first."""
    says_something: Callable[[Point, Thresholds], bool] = lambda _, __: True
    """Whether the number can be judged at all."""
    least_is_worst: bool = False
    most: float | None = None
    """The end of its scale; None for one that ends at the highest value."""
    of: Callable[[Levels | None], str] = lambda _: ""
    """What the number is made of, in words."""
    picture: Literal["bar", "line", "none"] = "line"
    """What stands below the number in the table of servers."""

    def judge(self, point: Point, thresholds: Thresholds) -> Severity | None:
        """Return how bad the number of a point is; None when it is well, or not known."""
        value = self.value(point)
        if value is None or not self.says_something(point, thresholds):
            return None
        for limit in self.limits(thresholds):
            if value < limit.value if self.least_is_worst else value > limit.value:
                return limit.severity
        return None

    def badness(self, point: Point) -> float:
        """Return what to sort by: the worst number is the lowest, and what is not known the last.

        Where neither high nor low is bad, the highest comes first.
        """
        value = self.value(point)
        if value is None:
            return math.inf
        return value if self.least_is_worst else -value


def _field(name: str) -> Callable[[Point], float | None]:
    """Return what takes a field of a point."""
    return lambda point: getattr(point, name)


def _of(part: str, whole: str, words: Callable[[float], str]) -> Callable[[Levels | None], str]:
    """Return what tells two fields of ``Levels`` as a part of a whole."""

    def told(levels: Levels | None) -> str:
        some, most = getattr(levels, part, None), getattr(levels, whole, None)
        if some is None:
            return ""
        return words(some) + (", limit not known" if most is None else f" of {words(most)}")

    return told


def _hit_rate_counts(point: Point, thresholds: Thresholds) -> bool:
    """Return whether there are gets enough, and the cache has had time to fill."""
    limits = thresholds.hit_rate
    return (point.gets or 0.0) > limits.floor and (point.uptime or 0.0) > limits.warm_up


def _hit_rate_limits(thresholds: Thresholds) -> tuple[Limit, ...]:
    limits = thresholds.hit_rate
    return Limit(Severity.WARNING, limits.warning), Limit(Severity.INFO, limits.target)


def _connection_limits(thresholds: Thresholds) -> tuple[Limit, ...]:
    limits = thresholds.connections
    return Limit(Severity.CRITICAL, limits.critical), Limit(Severity.WARNING, limits.warning)


FIGURES = (
    Figure(
        name="hit_rate",
        title="Hit rate",
        value=_field("hit_ratio"),
        words=share,
        limits=_hit_rate_limits,
        says_something=_hit_rate_counts,
        least_is_worst=True,
        most=1.0,
    ),
    Figure(
        name="commands",
        title="Commands/s",
        value=_field("commands"),
        words=amount,
    ),
    Figure(
        name="memory",
        title="Memory",
        value=_field("memory_ratio"),
        words=share,
        limits=lambda thresholds: (Limit(Severity.WARNING, thresholds.memory),),
        most=1.0,
        of=_of("memory_bytes", "memory_limit_bytes", size),
        picture="bar",
    ),
    Figure(
        name="connections",
        title="Connections",
        value=_field("connections_ratio"),
        words=share,
        limits=_connection_limits,
        most=1.0,
        of=_of("connections", "connections_limit", amount),
        picture="bar",
    ),
    Figure(
        name="evictions",
        title="Evictions/s",
        value=_field("evictions"),
        words=amount,
        limits=lambda thresholds: (Limit(Severity.WARNING, thresholds.evictions.per_hour / _HOUR),),
        picture="none",
    ),
    Figure(
        name="latency",
        title="Latency",
        value=_field("ping_seconds"),
        words=time,
        # One slow answer is no more than worth knowing, as in the findings.
        limits=lambda thresholds: (Limit(Severity.INFO, thresholds.latency.mean),),
    ),
)
"""In the order of their columns."""
