"""How a run compares with an earlier one: what is worse by more than is allowed."""

from collections.abc import Callable, Mapping

import msgspec

from exporter.errors import ConfigurationError
from exporter.health.thresholds import Thresholds
from exporter.watch.columns import COLUMNS, GETS, HIT_RATIO, PING_P50, PING_P99, THROUGHPUT
from exporter.watch.statistics import Run


class _Judged(msgspec.Struct, frozen=True):
    """A figure that decides whether a run is worse."""

    name: str
    says_something: Callable[[Thresholds, Run, Run], bool]
    """False where before and now are so small that a change of them means nothing."""


def _busy(thresholds: Thresholds, before: Run, _now: Run) -> bool:
    return mean(before, THROUGHPUT) > thresholds.decline_floor


def _asked(thresholds: Thresholds, before: Run, now: Run) -> bool:
    return min(mean(before, GETS), mean(now, GETS)) > thresholds.hit_rate.floor


def _slow(figure: str) -> Callable[[Thresholds, Run, Run], bool]:
    return lambda thresholds, _before, now: mean(now, figure) > thresholds.latency.floor


# The same terms as the alerts that compare with a week ago: health/rules/traffic.py.
_JUDGED = (
    _Judged(THROUGHPUT, _busy),
    _Judged(HIT_RATIO, _asked),
    _Judged(PING_P50, _slow(PING_P50)),
    _Judged(PING_P99, _slow(PING_P99)),
)


class Change(msgspec.Struct, frozen=True):
    """A figure of a server, before and now."""

    name: str
    before: float
    now: float
    ratio: float | None
    """Now to before; None when it was 0 before."""
    worse: bool
    """By more than is allowed, in a figure that decides."""


def partners(baseline: Mapping[str, Run], servers: list[str]) -> dict[str, Run]:
    """Return the earlier run of each server that has one.

    Servers are known by their address; one alone is compared with one alone, whatever it is called.
    Raises ConfigurationError when none has an earlier run.
    """
    if len(baseline) == len(servers) == 1:
        return dict(zip(servers, baseline.values(), strict=True))
    found = {server: baseline[server] for server in servers if server in baseline}
    if not found:
        raise ConfigurationError(
            f"--baseline: has none of the servers that are watched, but {', '.join(baseline)}:"
            " watch one of these, or compare a file of one server with one server"
        )
    return found


def changes(before: Run, now: Run, thresholds: Thresholds) -> list[Change]:
    """Return the figures that both runs have."""
    judged = {one.name: one for one in _JUDGED}
    found = []
    for column in COLUMNS:
        if column.name not in before.figures or column.name not in now.figures:
            continue
        old, new = mean(before, column.name), mean(now, column.name)
        ratio = new / old if old else None
        judge = judged.get(column.name)
        worse = (
            judge is not None
            and ratio is not None
            and _declined(ratio, thresholds.decline, more_is_better=column.more_is_better)
            and judge.says_something(thresholds, before, now)
        )
        found.append(Change(column.name, old, new, ratio, worse))
    return found


def mean(run: Run, figure: str) -> float:
    """Return the mean of a figure, 0 where it is not known."""
    return run.figures[figure].mean if figure in run.figures else 0.0


def _declined(ratio: float, decline: float, *, more_is_better: bool) -> bool:
    return ratio < 1 - decline if more_is_better else ratio > 1 + decline
