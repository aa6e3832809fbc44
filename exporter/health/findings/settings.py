"""How memcached was started: what is dangerous, or costs more than it gives."""

import ipaddress

from exporter.health.findings.memory import is_full
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, share, size

_INFO = "memcached_settings_info"
_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104
"""What memcached says of itself without -l, and what -l may say to the same effect."""
_CAS_BYTES = 8
_CAS_SHARE = 0.05
"""Of an item, below which 8 bytes are nothing to gain."""


def _udp(view: View) -> Seen | None:
    port, interface = view.now.text("udpport", _INFO), view.now.text("interface", _INFO)
    if port in {"", "0"} or _is_loopback(interface):
        return None
    where = f"on {interface}" if interface else "on all interfaces"
    return Seen(Severity.WARNING, f"It answers by UDP, port {port} {where}.")


def _open_to_all(view: View) -> Seen | None:
    if _INFO not in view.now.families or view.now.text("interface", _INFO) not in _EVERYWHERE:
        return None
    no_tcp = view.now.text("tcpport", _INFO) in {"", "0"}
    # Whoever has to log in leaves a mark here, as the exporter does.
    logins = view.now.value("memcached_auth_commands_total")
    encrypted = view.now.value("memcached_settings_ssl_enabled")
    if no_tcp or logins != 0 or encrypted:
        return None
    return Seen(Severity.INFO, "It listens on all interfaces, and nobody has had to log in.")


def _is_loopback(interface: str) -> bool:
    try:
        return ipaddress.ip_address(interface).is_loopback
    except ValueError:
        return interface == "localhost"


def _detail(view: View) -> Seen | None:
    if not view.now.value("memcached_settings_detail_enabled"):
        return None
    return Seen(Severity.INFO, "It counts commands by key prefix (`stats detail on`, or -D).")


def _shutdown(view: View) -> Seen | None:
    if not view.now.value("memcached_settings_shutdown_command_enabled"):
        return None
    return Seen(Severity.INFO, "Clients may stop it by the command `shutdown` (-A).")


def _tail_repair(view: View) -> Seen | None:
    seconds = view.now.value("memcached_settings_tail_repair_time_seconds")
    if not seconds:
        return None
    text = f"It takes back items that are in use for more than {amount(seconds)} s"
    return Seen(Severity.WARNING, f"{text} (-o tail_repair_time).")


def _cas(view: View) -> Seen | None:
    items, used = view.levels.items, view.levels.memory_bytes
    cas = view.now.value("memcached_commands_total", command="cas")
    enabled = view.now.value("memcached_settings_cas_enabled")
    if not enabled or cas != 0 or not items or not used or not is_full(view):
        return None
    if _CAS_BYTES * items / used < _CAS_SHARE:
        return None
    text = (
        f"Its {amount(items)} items are small ({size(used / items)} on average), and nobody has"
        f" used cas: {share(_CAS_BYTES * items / used)} of their memory is for that."
    )
    return Seen(Severity.INFO, text)


def _maxconns_slow(view: View) -> Seen | None:
    used, limits = view.levels.connections_ratio, view.thresholds.connections
    fast = view.now.value("memcached_settings_maxconns_fast_enabled")
    if fast != 0 or used is None or used <= limits.warning:
        return None
    return Seen(Severity.INFO, "At its connection limit it will let clients wait without a word.")


SETTINGS = (
    Check(
        name="udp_on",
        judge=_udp,
        why="Anybody who reaches it can make it send floods to others by forged requests, many"
        " times what they send themselves.",
        remedy="Start memcached with -U 0, the default since 1.5.6, or bind it to an address that"
        " only its clients reach (-l).",
        leave="Behind a firewall that lets only its own clients through.",
    ),
    Check(
        name="open_to_all",
        judge=_open_to_all,
        why="Whoever reaches it can read, change and forget all items.",
        remedy="Start memcached with -l and the address that its clients use, or let a firewall"
        " pass only them. The other way is a login (-Y, since 1.5.15), over TLS (-Z).",
        leave="In a container or a network that only its clients reach.",
    ),
    Check(
        name="tail_repair_on",
        judge=_tail_repair,
        why="It is for builds with leaks of references. In a sound one it can free an item that is"
        " being sent.",
        remedy="Start memcached without -o tail_repair_time.",
        leave="While a leak is being looked for.",
    ),
    Check(
        name="maxconns_slow",
        judge=_maxconns_slow,
        why="Clients cannot tell a full server from a hung one.",
        remedy="Start memcached with -o maxconns_fast, the default since 1.5.0.",
        leave="When clients should rather wait than fail.",
        runbook="MemcachedListenerDisabled",
    ),
    Check(
        name="detail_on",
        judge=_detail,
        why="It takes a lock that all workers share, for each command.",
        remedy="`stats detail off` when you have seen enough; start memcached without -D.",
        leave="When the exporter is to show prefixes (section `detail`), and throughput is well.",
    ),
    Check(
        name="shutdown_on",
        judge=_shutdown,
        why="One word of any client ends it.",
        remedy="Start memcached without -A.",
        leave="In tests.",
    ),
    Check(
        name="cas_unused",
        judge=_cas,
        why="Each item has 8 bytes for its version number.",
        remedy="Start memcached with -C, if no client will ever need `gets`, `cas` or the versions"
        " of meta commands: they stop working.",
        leave="In general. It is to be thought of only for very many tiny items.",
    ),
)
