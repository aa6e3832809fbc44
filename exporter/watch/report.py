"""What is said at the end of a watch: the summary, and the comparison with an earlier run."""

from collections.abc import Iterator, Mapping

from exporter.health.thresholds import Thresholds
from exporter.watch.columns import THROUGHPUT
from exporter.watch.comparison import Change, changes, more_down
from exporter.watch.shown import UNKNOWN
from exporter.watch.statistics import Run

_NAME = 34
_NUMBER = 16


def summary(runs: Mapping[str, Run]) -> Iterator[str]:
    """Yield the lines of the summary."""
    for run in runs.values():
        yield ""
        yield f"{run.server}: {_course(run)}"
        if run.figures:
            yield _line("", "mean", "p95", "worst")
        for name, found in run.figures.items():
            yield _line(name, *map(number, (found.mean, found.p95, found.worst)))
    if any(run.figures for run in runs.values()):
        yield ""
        yield "p95: 95 % of the intervals were at least as good"


def comparison(
    before: Mapping[str, Run], now: Mapping[str, Run], thresholds: Thresholds
) -> tuple[list[str], bool]:
    """Return the lines that compare each server with an earlier run, and whether one is worse."""
    lines: list[str] = []
    worse: list[str] = []
    for server, run in now.items():
        told, found = _compared(server, before.get(server), run, thresholds)
        lines += ["", *told]
        worse += [f"{server}: {', '.join(found)}"] if found else []
    if worse:
        verdict = f"worse than the baseline: {'; '.join(worse)}"
    else:
        limit = f"{thresholds.decline * 100:g} %"
        verdict = f"not worse than the baseline: no decline of more than {limit} that counts"
    return [*lines, "", verdict], bool(worse)


def _compared(
    server: str, before: Run | None, now: Run, thresholds: Thresholds
) -> tuple[list[str], list[str]]:
    """Return the lines about one server, and what is worse."""
    if before is None:
        return [f"{server}: is not in the baseline"], []
    title = f"{server} against {before.server} in the baseline:"
    if THROUGHPUT not in before.figures:
        return [title, "  nothing was measured then"], []
    if THROUGHPUT not in now.figures:
        return [title, "  nothing was measured now"], ["nothing was measured"]
    found = changes(before, now, thresholds)
    lines = [title, _line("mean", "before", "now", "change"), *map(_changed, found)]
    worse = [f"{one.name} {_change(one)}" for one in found if one.worse]
    if more_down(before, now):
        worse.append(f"down in {now.down} of {now.intervals} intervals")
        lines.append(f"  {worse[-1]}, before in {before.down} of {before.intervals}  worse")
    return lines, worse


def number(value: float) -> str:
    """Return a number with the digits that say something, and without an exponent."""
    if value == 0:
        return "0"
    if value >= 100:  # noqa: PLR2004
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.6f}"


def _course(run: Run) -> str:
    """Return how it went with a server, in words."""
    if run.down == run.intervals:
        return f"never answered ({run.reason})"
    told = [f"{run.intervals} intervals"]
    if run.down:
        told.append(f"down in {run.down} (last: {run.reason})")
    if run.resets:
        told.append(f"counters began anew: {run.resets}")
    return ", ".join(told)


def _line(name: str, *cells: str) -> str:
    return (f"  {name:<{_NAME}}" + "".join(f"{cell:>{_NUMBER}}" for cell in cells)).rstrip()


def _changed(change: Change) -> str:
    now = UNKNOWN if change.now is None else number(change.now)
    mark = "  worse" if change.worse else ""
    return _line(change.name, number(change.before), now, _change(change)) + mark


def _change(change: Change) -> str:
    return "" if change.ratio is None else f"{(change.ratio - 1) * 100:+.1f} %"
