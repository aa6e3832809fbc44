"""A report for people at a terminal."""

import textwrap
from collections.abc import Iterator

from exporter.check.report import Report, ServerReport
from exporter.health.figures import Levels, Rates
from exporter.health.findings.shape import Finding
from exporter.health.words import amount, share, size, time, visible

_WIDTH = 79
_NAME = 18
_COLUMN = 26


def text(report: Report, runbooks: str) -> str:
    """Return the report as lines of plain text; ``runbooks`` is what stands before their names."""
    lines: list[str] = []
    for server in report.servers:
        lines += [*_server(server, report.window_seconds, runbooks), ""]
    for source in report.unread:
        lines.append(f"UNKNOWN  {source}: no servers could be read from it (see --log.level=warn)")
    counts = [
        f"{sum(server.status == status for server in report.servers)} {status}"
        for status in ("critical", "warning", "ok")
    ]
    ignored = f"; ignored: {', '.join(report.ignored)}" if report.ignored else ""
    lines.append(f"{report.status.upper()}: servers: {', '.join(counts)}{ignored}")
    return "\n".join(map(visible, lines)) + "\n"


def _server(server: ServerReport, window: float, runbooks: str) -> Iterator[str]:
    levels = server.levels
    if levels is None:
        yield f"{server.server}  CRITICAL  down: {server.reason}: {server.detail}"
        yield from _wrapped("do", server.remedy)
        return
    uptime = "" if levels.uptime is None else f", up {time(levels.uptime)}"
    yield f"{server.server}  {server.status.upper()}  memcached {levels.version}{uptime}"
    if server.missed:
        yield from _wrapped("WARNING", f"At the first look it was down: {server.missed}")
    if server.restarted:
        yield "  It was started anew, or its counters were reset, during the check."
    heads = (f"last {time(window)}" if server.rates else "now", "since start")
    yield f"  {'':{_NAME}}{heads[0]:{_COLUMN}}{heads[1]}".rstrip()
    for name, now, ever in _figures(server, levels):
        yield f"  {name:{_NAME}}{now:{_COLUMN}}{ever}".rstrip()
    for section, why in server.left_out.items():
        yield from _wrapped("not read", f"stats {section}: {why}")
    for finding in server.findings:
        yield from _finding(finding, runbooks)


def _figures(server: ServerReport, levels: Levels) -> Iterator[tuple[str, str, str]]:
    """Yield name, what is now, and what was since the start."""
    now, ever = server.rates, server.lifetime
    if levels.connections is not None:
        limit = levels.connections_limit
        used = amount(levels.connections) + ("" if limit is None else f" of {amount(limit)}")
        yield "connections", f"{used}{_part(levels.connections_ratio)}", ""
    if levels.memory_bytes is not None and levels.memory_limit_bytes is not None:
        used = f"{size(levels.memory_bytes)} of {size(levels.memory_limit_bytes)}"
        yield "memory", f"{used}{_part(levels.memory_ratio)}", ""
    yield "hit rate", _ratio(now, "hit_ratio"), _ratio(ever, "hit_ratio")
    yield "commands", _rate(now, "total"), _rate(ever, "total")
    for command in _busy(now, ever):
        yield f"  {command}", _of_command(now, command), _of_command(ever, command)
    yield "evictions", _rate(now, "evictions"), _rate(ever, "evictions")
    yield "evicted per store", _ratio(now, "evicted_per_set"), _ratio(ever, "evicted_per_set")
    if server.pings and server.pings.p50 is not None and server.pings.p99 is not None:
        both = f"{time(server.pings.p50)}, {time(server.pings.p99)}"
        yield "latency p50, p99", f"{both} ({server.pings.count} measured)", ""
    elif levels.ping_seconds is not None:
        yield "latency", f"{time(levels.ping_seconds)} (once)", ""
    if now and now.voluntary_switches is not None and now.involuntary_switches is not None:
        switches = f"{amount(now.voluntary_switches)}/s, {amount(now.involuntary_switches)}/s"
        yield "context switches", f"{switches} forced", ""


def _busy(now: Rates | None, ever: Rates | None) -> list[str]:
    """Return the commands that were used."""
    used = [rates.commands for rates in (ever, now) if rates]
    return list(dict.fromkeys(name for one in used for name, rate in one.items() if rate))


def _part(ratio: float | None) -> str:
    return "" if ratio is None else f" ({share(ratio)})"


def _ratio(rates: Rates | None, name: str) -> str:
    value = getattr(rates, name) if rates else None
    return "-" if value is None else share(value)


def _rate(rates: Rates | None, name: str) -> str:
    value = getattr(rates, name) if rates else None
    return "-" if value is None else f"{amount(value)}/s"


def _of_command(rates: Rates | None, command: str) -> str:
    return "-" if rates is None else f"{amount(rates.commands.get(command, 0.0))}/s"


def _finding(finding: Finding, runbooks: str) -> Iterator[str]:
    yield ""
    yield from _wrapped(finding.severity.upper(), f"{finding.name}: {finding.seen}")
    yield from _wrapped("  why", finding.why)
    yield from _wrapped("  do", finding.remedy)
    yield from _wrapped("  leave it", finding.leave)
    if finding.runbook:
        yield f"    {'see':10}{runbooks.rstrip('/')}/{finding.runbook}.md"


def _wrapped(head: str, told: str) -> list[str]:
    """Return lines that begin with a word at the margin; commands are not cut at hyphens."""
    return textwrap.wrap(
        told,
        _WIDTH,
        initial_indent=f"  {head:11} " if head.startswith("  ") else f"  {head:9} ",
        subsequent_indent=" " * (14 if head.startswith("  ") else 12),
        break_long_words=False,
        break_on_hyphens=False,
    )
