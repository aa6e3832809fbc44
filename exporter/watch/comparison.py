"""How a run compares with an earlier one: what is worse by more than is allowed."""

from collections.abc import Callable, Mapping

import msgspec

from exporter.errors import ConfigurationError
from exporter.health.thresholds import Thresholds
from exporter.watch.columns import COLUMNS, GETS, HIT_RATIO, PING_P50, PING_P99, THROUGHPUT, Column
from exporter.watch.statistics import Run


def _mean(run: Run, figure: str) -> float:
    """Return the mean of a figure, 0 where it is not known."""
    return run.figures[figure].mean if figure in run.figures else 0.0


class _Judged(msgspec.Struct, frozen=True):
    """A figure that decides whether a run is worse."""

    name: str
    says_something: Callable[[Thresholds, Run, Run], bool]
    """False where before and now are so small that a change of them means nothing."""


def _busy(thresholds: Thresholds, before: Run, _now: Run) -> bool:
    return _mean(before, THROUGHPUT) > thresholds.decline_floor


def _asked(thresholds: Thresholds, before: Run, now: Run) -> bool:
    return min(_mean(before, GETS), _mean(now, GETS)) > thresholds.hit_rate.floor


def _slow(figure: str) -> Callable[[Thresholds, Run, Run], bool]:
    return lambda thresholds, _before, now: _mean(now, figure) > thresholds.latency.floor


# The same terms as the alerts that compare with a week ago: health/rules/traffic.py.
_JUDGED = (
    _Judged(THROUGHPUT, _busy),
    _Judged(HIT_RATIO, _asked),
    _Judged(PING_P50, _slow(PING_P50)),
    _Judged(PING_P99, _slow(PING_P99)),
)


class Change(msgspec.Struct, frozen=True):
    """The mean of a figure of a server, before and now."""

    name: str
    before: float
    now: float | None
    """None when it is not known any more."""
    ratio: float | None
    """Now to before; None when it was 0 before."""
    worse: bool
    """By more than is allowed, in a figure that decides."""


def partners(baseline: Mapping[str, Run], servers: list[str]) -> dict[str, Run]:
    """Return the earlier run of each server that has one.

    Servers are known by their address; one alone is compared with one alone, whatever it is called.
    Raises ConfigurationError when none has an earlier run in which something was measured.
    """
    if len(baseline) == len(servers) == 1:
        found = dict(zip(servers, baseline.values(), strict=True))
    else:
        found = {server: baseline[server] for server in servers if server in baseline}
    if not found:
        raise ConfigurationError(
            f"--baseline: has none of the servers that are watched, but {', '.join(baseline)}:"
            " watch one of these, or compare a file of one server with one server"
        )
    if not any(THROUGHPUT in run.figures for run in found.values()):
        raise ConfigurationError(
            f"--baseline: nothing was measured in it of {', '.join(found)}: use that of a run in"
            " which the server answered"
        )
    return found


def changes(before: Run, now: Run, thresholds: Thresholds) -> list[Change]:
    """Return how the figures of the earlier run have changed."""
    return [
        _change(column, before, now, thresholds)
        for column in COLUMNS
        if column.name in before.figures
    ]


def more_down(before: Run, now: Run) -> bool:
    """Return whether the server was down more often, of which the rates may show nothing."""
    return now.down * before.intervals > before.down * now.intervals


def _change(column: Column, before: Run, now: Run, thresholds: Thresholds) -> Change:
    old = before.figures[column.name].mean
    if column.name not in now.figures:
        return Change(column.name, old, None, None, worse=False)
    new = now.figures[column.name].mean
    ratio = new / old if old else None
    judged = next((one for one in _JUDGED if one.name == column.name), None)
    worse = (
        judged is not None
        and ratio is not None
        and _declined(column, ratio, thresholds.decline)
        and judged.says_something(thresholds, before, now)
    )
    return Change(column.name, old, new, ratio, worse)


def _declined(column: Column, ratio: float, decline: float) -> bool:
    return ratio < 1 - decline if column.more_is_better else ratio > 1 + decline
