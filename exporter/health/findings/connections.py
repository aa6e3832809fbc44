"""Connections: how near the server is to refusing clients."""

from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View


def _connections(view: View) -> Seen | None:
    levels, limits = view.levels, view.thresholds.connections
    if levels.connections_ratio is None or levels.connections_ratio < limits.warning:
        return None
    severe = levels.connections_ratio >= limits.critical
    return Seen(
        Severity.CRITICAL if severe else Severity.WARNING,
        f"{levels.connections:.0f} of {levels.connections_limit:.0f} connections are open"
        f" ({levels.connections_ratio:.0%}).",
        {"more": f"{2 * (view.now.value('memcached_max_connections') or 0):.0f}"},
    )


CONNECTIONS = (
    Check(
        name="connections_high",
        judge=_connections,
        why="At the limit the server refuses new clients, or lets them wait without a word.",
        remedy="Start memcached with -c {more}, and give its process the descriptors for it"
        " (systemd: LimitNOFILE={more}). First see whether clients leak connections.",
        leave="Clients with pools of a fixed size hold the same number for ever: then a server"
        " that is near its limit stays there.",
        runbook="MemcachedConnectionsHigh",
    ),
)
