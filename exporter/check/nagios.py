"""A report for Nagios, Icinga and others that run monitoring plugins."""

from collections.abc import Iterator

from exporter.check.report import Report, ServerReport
from exporter.health.findings.shape import Severity
from exporter.health.thresholds import Thresholds
from exporter.health.words import count, visible


def nagios(report: Report) -> str:
    """Return one line of summary with performance data, and a line for each finding."""
    data = [one for server in report.servers for one in _data(server, report)]
    head = f"MEMCACHED {report.status.upper()} - {_clean(_summary(report))}"
    details = [line for server in report.servers for line in _details(server)]
    first = f"{head} | {' '.join(data)}" if data else head
    return "\n".join([first, *details]) + "\n"


def unknown(message: str) -> str:
    """Return the line that tells why nothing was looked at."""
    return f"MEMCACHED UNKNOWN - {_clean(message)}\n"


def _summary(report: Report) -> str:
    missing = f"sources of servers that cannot be read: {', '.join(report.unread)}"
    worst = next((one for one in report.servers if one.status == report.status), None)
    if worst is None:
        return missing if report.unread else "there is no server to check"
    if worst.status == "ok":
        several = len(report.servers) > 1
        return f"{len(report.servers)} servers are well" if several else f"{worst.server} is well"
    others = sum(one.status != "ok" for one in report.servers) - 1
    more = f" (and {count(others, 'more server')})" if others else ""
    more += f"; {missing}" if report.unread else ""
    return f"{worst.server}: {_told(worst)}{more}"


def _told(server: ServerReport) -> str:
    if server.levels is None:
        return f"down, {server.reason}: {server.detail}"
    worst = next((one for one in server.findings if one.severity != Severity.INFO), None)
    if worst is None:
        return f"at the first look it was down, {server.missed}"
    return f"{worst.name}: {worst.seen}"


def _details(server: ServerReport) -> Iterator[str]:
    if server.levels is None:
        yield _clean(f"{server.server}: CRITICAL down, {server.reason}: {server.detail}")
    if server.missed:
        yield _clean(f"{server.server}: WARNING at the first look it was down, {server.missed}")
    for one in server.findings:
        yield _clean(f"{server.server}: {one.severity.upper()} {one.name}: {one.seen} {one.remedy}")


def _clean(line: str) -> str:
    """Return a line without what would begin performance data, or be taken for markup."""
    return visible(line).replace("|", "/").replace("<", "(").replace(">", ")")


def _data(server: ServerReport, report: Report) -> Iterator[str]:
    """Yield performance data; of several servers each label begins with the address."""
    several = f"{server.server} " if len(report.servers) > 1 else ""
    for name, value, unit, limits in _figures(server, report.thresholds):
        label = visible(f"{several}{name}").replace("'", "''").replace("=", "_")
        yield f"'{label}'={value:.10g}{unit};{limits}"


def _figures(server: ServerReport, thresholds: Thresholds) -> Iterator[tuple[str, float, str, str]]:
    """Yield name, value, unit, and the limits for warning, critical, least and most."""
    levels, rates = server.levels, server.rates or server.lifetime
    if levels is None:
        return
    if levels.connections is not None:
        most, limits = levels.connections_limit, thresholds.connections
        yield "connections", levels.connections, "", _upper(most, limits.warning, limits.critical)
    if levels.memory_bytes is not None:
        most = levels.memory_limit_bytes
        yield "memory", levels.memory_bytes, "B", _upper(most, thresholds.memory)
    if rates:
        yield "commands", rates.total, "", ";;0"
        if rates.hit_ratio is not None:
            # Low is bad: outside of what lies from the threshold upwards.
            low = f"{100 * thresholds.hit_rate.warning:.10g}:;;0;100"
            yield "hit_rate", 100 * rates.hit_ratio, "%", low
        if rates.evictions is not None:
            a_second = thresholds.evictions.per_hour / 3600
            yield "evictions", rates.evictions, "", f"{a_second:.10g};;0"
    latency = thresholds.latency
    if server.pings and server.pings.p50 is not None and server.pings.p99 is not None:
        yield "latency_p50", server.pings.p50, "s", f";{latency.mean:.10g};0"
        yield "latency_p99", server.pings.p99, "s", f"{latency.p99:.10g};;0"
    if levels.uptime is not None:
        yield "uptime", levels.uptime, "s", ";;0"


def _upper(most: float | None, warning: float, critical: float | None = None) -> str:
    """Return the limits of what has a most, from ratios to it."""
    if not most:
        return ";;0"
    severe = "" if critical is None else f"{critical * most:.10g}"
    return f"{warning * most:.10g};{severe};0;{most:.10g}"
