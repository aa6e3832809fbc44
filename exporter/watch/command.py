"""The command `watch`: its arguments, and what it says at its end."""

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from exporter.configuration import Configuration
from exporter.durations import parse_duration
from exporter.errors import ConfigurationError, ExporterError
from exporter.flags import checked, file_name
from exporter.watch.comparison import partners
from exporter.watch.display import Display, Lines
from exporter.watch.pace import held_signals
from exporter.watch.record import Record, read_baseline
from exporter.watch.report import comparison, summary
from exporter.watch.statistics import Accounts, Run
from exporter.watch.watch import Watch

_LEAST_INTERVAL, _LONGEST_INTERVAL = 0.1, 3600.0
_WORSE = 1


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Declare what `watch` is told besides which servers to read, and how."""
    add = parser.add_argument
    add(
        "--interval",
        metavar="DURATION",
        type=checked(parse_duration),
        default="5s",
        help="time between looks (default 5s)",
    )
    add(
        "--duration",
        metavar="DURATION",
        type=checked(parse_duration),
        help="how long to watch, in whole intervals (default until Ctrl-C)",
    )
    add("--csv", metavar="FILE", type=file_name, help="write all figures to a new CSV file")
    add(
        "--baseline",
        metavar="FILE",
        type=file_name,
        help="compare with the CSV file of an earlier watch; exit status 1 when throughput, hit"
        " rate or latency is worse by more than the threshold decline (0.2)",
    )


def watch(configuration: Configuration, unread: Sequence[str], flags: dict[str, Any]) -> int:
    """Watch, and return the exit status: 1 when this run is worse than the baseline.

    ``unread`` are the sources of servers that could not be read. Raises ConfigurationError before
    anything is watched, and ExporterError when nothing could be measured or the CSV file cannot be
    written any more.
    """
    interval, count = _pace(flags["interval"], flags["duration"])
    for source in unread:
        sys.stderr.write(f"{source} cannot be read: the servers that it has are not watched\n")
    servers = [server.address.text for server in configuration.servers]
    if not servers:
        raise ConfigurationError("there is no server to watch: name one as an argument")
    before: dict[str, Run] = {}
    if flags["baseline"]:
        before = partners(Accounts(read_baseline(flags["baseline"])).runs(), servers)
    with held_signals(), contextlib.ExitStack() as stack:
        record: Record | None = None
        if flags["csv"]:
            record = stack.enter_context(contextlib.closing(Record(flags["csv"])))
        watched = Watch(configuration, interval, count, _display(configuration), record)
        try:
            watched.run()
        finally:
            worse = _conclude(watched, before, configuration)
    _check_answers(watched.accounts.runs())
    return _WORSE if worse else 0


def _pace(interval_text: str, duration_text: str | None) -> tuple[float, int | None]:
    """Return the interval in seconds, and the number of intervals; None for no end."""
    interval = parse_duration(interval_text)
    if not _LEAST_INTERVAL <= interval <= _LONGEST_INTERVAL:
        raise ConfigurationError("--interval: must be from 100ms to 1h")
    if duration_text is None:
        return interval, None
    # A little more, since 0.6 / 0.2 is a little less than 3.
    count = int(parse_duration(duration_text) / interval + 1e-6)
    if count < 1:
        raise ConfigurationError(
            f"--duration: {duration_text} is shorter than one interval of {interval_text}:"
            " watch for longer, or set --interval"
        )
    return interval, count


def _display(configuration: Configuration) -> Display:
    """Return the live table where there is a terminal that can do it, and rich, else lines."""
    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        try:
            from exporter.watch.live import LiveTable  # noqa: PLC0415, rich is optional
        except ImportError:
            sys.stderr.write("lines, since the live table needs rich: pip install rich\n")
        else:
            return LiveTable(configuration.thresholds)
    return Lines([server.address.text for server in configuration.servers])


def _conclude(watch: Watch, before: dict[str, Run], configuration: Configuration) -> bool:
    """Print summary and comparison; return whether this run is worse."""
    runs = watch.accounts.runs()
    lines = list(summary(runs))
    if watch.waiting.signal:
        lines.insert(0, f"ended by {watch.waiting.signal.name}")
    worse = False
    if before and runs:
        compared, worse = comparison(before, runs, configuration.thresholds)
        lines += compared
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()
    return worse


def _check_answers(runs: dict[str, Run]) -> None:
    if not runs:
        raise ExporterError("nothing was measured: the watch ended before its first interval did")
    if all(run.down == run.intervals for run in runs.values()):
        reasons = "; ".join(f"{run.server}: {run.reason}" for run in runs.values())
        raise ExporterError(f"no server answered: {reasons}")
