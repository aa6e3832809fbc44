"""Connections: how near a server is to refusing clients, and whether it did."""

from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, count, share, time, twice

_MISCOUNTING = ("1.5.21", "1.5.22")
"""Releases that count nearly each connection as rejected."""


def _high(view: View) -> Seen | None:
    levels, limits = view.levels, view.thresholds.connections
    used, limit = levels.connections_ratio, levels.connections_limit
    if used is None or limit is None or used <= limits.warning:
        return None
    severity = Severity.CRITICAL if used > limits.critical else Severity.WARNING
    text = f"{amount(levels.connections or 0)} of the {amount(limit)} connections that it can take"
    return Seen(severity, f"{text} are open ({share(used)}).", _more(view))


def _descriptors(view: View) -> Seen | None:
    used, most = (view.now.value(f"memcached_process_{name}_fds") for name in ("open", "max"))
    limits = view.thresholds.connections
    if used is None or not most or used / most <= limits.warning:
        return None
    severity = Severity.CRITICAL if used / most > limits.critical else Severity.WARNING
    text = f"{amount(used)} of the {amount(most)} files and sockets that it may have are open"
    return Seen(severity, f"{text} ({share(used / most)}).", {"more": twice(most)})


def _rejected(view: View) -> Seen | None:
    rejected = sum(view.increases("memcached_connections_rejected_total").values())
    if not rejected or (_miscounts(view) and not _high(view)):
        return None
    text = f"It refused {count(rejected, 'connection')} in the last {time(view.seconds or 0)}."
    return Seen(Severity.CRITICAL, text, _more(view))


def _rejected_before(view: View) -> Seen | None:
    rejected = view.now.value("memcached_connections_rejected_total")
    if not rejected or _miscounts(view) or _rejected(view):
        return None
    uptime = view.levels.uptime
    text = f"It has refused {count(rejected, 'connection')} since its start"
    told = f", {time(uptime)} ago" if uptime else ""
    return Seen(Severity.INFO, f"{text}{told}.", _more(view))


def _listener_disabled(view: View) -> Seen | None:
    if view.now.value("memcached_accepting_connections") == 0:
        return Seen(Severity.CRITICAL, "It accepts no connections now, as it is at its limit.")
    times = sum(view.increases("memcached_connections_listener_disabled_total").values())
    if not times:
        return None
    text = f"It stopped accepting connections {count(times, 'time')} in {time(view.seconds or 0)}."
    return Seen(Severity.CRITICAL, text)


def _backlog(view: View) -> Seen | None:
    wanted = view.now.value("memcached_settings_tcp_backlog")
    limits = view.now.by("address", "memcached_listen_queue_limit").values()
    # It is 0 while memcached has as many connections as it may.
    least = min((limit for limit in limits if limit), default=None)
    if wanted is None or least is None or least >= wanted:
        return None
    text = (
        f"{amount(wanted)} connections were to wait for being accepted (-b), the kernel lets"
        f" {amount(least)} wait."
    )
    return Seen(Severity.INFO, text, {"backlog": f"{wanted:.0f}"})


def _more(view: View) -> dict[str, str]:
    return {"more": twice(view.now.value("memcached_max_connections"))}


def _miscounts(view: View) -> bool:
    return view.levels.version.startswith(_MISCOUNTING)


CONNECTIONS = (
    Check(
        name="connections_high",
        judge=_high,
        why="At the limit it refuses new clients, or lets them wait without a word.",
        remedy="See first whether clients leak connections (`stats conns`). Then start memcached"
        " with -c {more} (systemd: LimitNOFILE={more} for it), or let it close what nobody uses:"
        " -o idle_timeout=SECONDS, longer than clients' pools keep connections.",
        leave="Clients with pools of a fixed size hold the same number for ever: a server that is"
        " near its limit then stays there.",
        runbook="MemcachedConnectionsHigh",
    ),
    Check(
        name="descriptors_high",
        judge=_descriptors,
        why="memcached needs descriptors of its own, 9 and 4 for each worker thread: with many"
        " threads they end before the connection limit is reached.",
        remedy="Start memcached with -c {more} (systemd: LimitNOFILE={more}), or with fewer worker"
        " threads (-t).",
        leave="As long as the number of connections does not grow.",
        runbook="MemcachedDescriptorsHigh",
    ),
    Check(
        name="connections_rejected",
        judge=_rejected,
        why="Each is a client that got an error instead of its data.",
        remedy="Start memcached with -c {more}, and see which clients hold connections"
        " (`stats conns`).",
        leave="Never, unless the clients that were refused are not wanted.",
        runbook="MemcachedConnectionsRejected",
    ),
    Check(
        name="connections_rejected_before",
        judge=_rejected_before,
        why="Its connection limit was too low for the peak, whatever the load is now.",
        remedy="Start memcached with -c {more}.",
        leave="When the cause is known and gone, such as clients that were all restarted at once.",
        runbook="MemcachedConnectionsRejected",
    ),
    Check(
        name="listener_disabled",
        judge=_listener_disabled,
        why="At its limit it does not accept connections: clients wait, and run into timeouts.",
        remedy="Raise the connection limit (-c) and LimitNOFILE. With `-o maxconns_fast`, the"
        " default since 1.5.0, clients are told at once.",
        leave="Never.",
        runbook="MemcachedListenerDisabled",
    ),
    Check(
        name="backlog_cut",
        judge=_backlog,
        why="The kernel takes the smaller of -b and net.core.somaxconn. When many clients connect"
        " at once, the rest is turned away.",
        remedy="sysctl -w net.core.somaxconn={backlog}, in a file below /etc/sysctl.d for the next"
        " boot, and start memcached again.",
        leave="When clients keep their connections and no listen overflows are counted.",
    ),
)
