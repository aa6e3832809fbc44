"""Cases for the alerts about connections. The server can take 1000 of them."""

from tests.alerts.harness import SERVER, Case

_HIGH = "MemcachedConnectionsHigh{%s, @a}"
_FILES = "MemcachedDescriptorsHigh{%s, @a}"
_REJECTED = "MemcachedConnectionsRejected{critical, @a}"
_LISTENER = "MemcachedListenerDisabled{critical, @a}"
_NOT_ACCEPTING = "MemcachedNotAccepting{critical, @a}"
_REFUSED = 'MemcachedScrapeRefused{critical, @exporter, reason="connection_limit"}'
_ERRORS = 'memcached_exporter_scrape_errors_total{@exporter, reason="%s"}'


def _server(current: str, name: str = "a", limit: int = 1020, reserved: int = 20) -> dict[str, str]:
    """Connections of a server."""
    return {
        f"memcached_current_connections{{@{name}}}": current,
        f"memcached_max_connections{{@{name}}}": f"{limit}+0x60",
        f"memcached_reserved_fds{{@{name}}}": f"{reserved}+0x60",
    }


def _files(current: str, name: str = "a", limit: int = 1000) -> dict[str, str]:
    """Open files of a server's process."""
    return {
        f"memcached_process_open_fds{{@{name}}}": current,
        f"memcached_process_max_fds{{@{name}}}": f"{limit}+0x60",
    }


def _version(version: str) -> dict[str, str]:
    """The version of server a."""
    labels = f'version="{version}", libevent="2.1.12-stable", pointer_size="64"'
    return {f"memcached_version_info{{@a, {labels}}}": "1+0x60"}


HIGH = (
    Case(
        "one of two is above the warning",
        _server("801+0x60") | _server("10+0x60", "b"),
        {"9m": [], "12m": [_HIGH % "warning"]},
        (
            "12m",
            _HIGH % "warning",
            (
                "80.1% of the connections that memcached on WHO can take are"
                " open. At the limit it refuses clients."
            ),
        ),
    ),
    Case("at the boundary of the warning", _server("800+0x60"), {"30m": []}),
    Case("at the boundary to critical", _server("950+0x60"), {"12m": [_HIGH % "warning"]}),
    Case(
        "critical, and then no warning",
        _server("951+0x60"),
        {"1m": [], "4m": [_HIGH % "critical"], "30m": [_HIGH % "critical"]},
        (
            "4m",
            _HIGH % "critical",
            (
                "95.1% of the connections that memcached on WHO can take are"
                " open. At the limit it refuses clients."
            ),
        ),
    ),
    Case(
        "it rises from one to the other and falls again",
        _server("850+0x19 960+0x9 850+0x30"),
        {
            "15m": [_HIGH % "warning"],
            "24m": [_HIGH % "critical"],
            "32m": [_HIGH % "critical"],
            "38m": [],
            "42m": [_HIGH % "warning"],
        },
    ),
    Case("a short peak", _server("10+0x5 990 10+0x30"), {"6m": [], "8m": [], "12m": []}),
    Case(
        "at the limit it refuses the exporter as well",
        _server("990+0x5 _x20"),
        {"5m": [_HIGH % "critical"], "10m": [_HIGH % "critical"], "14m": [_HIGH % "critical"]},
    ),
    Case("after a restart", _server("990+0x5 _x2 3+0x30"), {"5m": [_HIGH % "critical"], "14m": []}),
    Case(
        "E07: a million connections since the start, five of them open",
        _server("5+0x60", limit=1024) | {"memcached_connections_total{@a}": "1000000+0x60"},
        {"30m": []},
    ),
    Case("no limit is known", _server("900+0x60", limit=0, reserved=0), {"30m": []}),
    Case("the limit is smaller than what is kept back", _server("9+0x60", limit=10), {"30m": []}),
    Case(
        "an old server that does not say what it keeps back",
        {
            "memcached_current_connections{@a}": "900+0x60",
            "memcached_max_connections{@a}": "1000+0x60",
        },
        {"12m": [_HIGH % "warning"]},
    ),
    Case("no limit is sent", {"memcached_current_connections{@a}": "900+0x60"}, {"30m": []}),
)

FILES = (
    Case(
        "one of two is above the warning",
        _files("801+0x60") | _files("10+0x60", "b"),
        {"9m": [], "12m": [_FILES % "warning"]},
        (
            "12m",
            _FILES % "warning",
            (
                "80.1% of the descriptors that memcached on WHO may have are"
                " open. At the limit it refuses clients, whatever its connection limit is."
            ),
        ),
        ways=[SERVER],
    ),
    Case("at the boundary of the warning", _files("800+0x60"), {"30m": []}, ways=[SERVER]),
    Case(
        "at the boundary to critical",
        _files("950+0x60"),
        {"12m": [_FILES % "warning"]},
        ways=[SERVER],
    ),
    Case(
        "critical, and then no warning",
        _files("951+0x20 9+0x30"),
        {"1m": [], "4m": [_FILES % "critical"], "20m": [_FILES % "critical"], "28m": []},
        (
            "4m",
            _FILES % "critical",
            (
                "95.1% of the descriptors that memcached on WHO may have are"
                " open. At the limit it refuses clients, whatever its connection limit is."
            ),
        ),
        ways=[SERVER],
    ),
    Case("the limit is 0", _files("900+0x60", limit=0), {"30m": []}, ways=[SERVER]),
)

REJECTED = (
    Case(
        "E10: one of two refuses some, and then no more",
        {
            "memcached_connections_rejected_total{@a}": "7+0x5 8+1x4 12+0x40",
            "memcached_connections_rejected_total{@b}": "7+0x60",
        },
        {"7m": [], "10m": [_REJECTED], "30m": []},
        (
            "10m",
            _REJECTED,
            (
                "memcached on WHO refused 5 connections in the last five minutes, as it"
                " is at its limit."
            ),
        ),
    ),
    Case(
        "a single one",
        {"memcached_connections_rejected_total{@a}": "7+0x5 8+0x40"} | _version("1.6.18"),
        {"9m": [_REJECTED], "13m": []},
    ),
    Case(
        "E08: 1.5.22 counts all connections",
        {"memcached_connections_rejected_total{@a}": "865+10x60"}
        | _version("1.5.22")
        | _server("69+0x60", limit=1024),
        {"12m": [], "30m": []},
    ),
    Case(
        "E08: 1.5.21 as a distribution calls it",
        {"memcached_connections_rejected_total{@a}": "865+10x60"} | _version("1.5.21-1ubuntu1"),
        {"12m": []},
    ),
    Case(
        "E08: 1.5.22 at its limit",
        {"memcached_connections_rejected_total{@a}": "865+10x60"}
        | _version("1.5.22")
        | _server("999+0x60"),
        {"12m": [_REJECTED, _HIGH % "critical"]},
    ),
    Case(
        "E08: 1.5.22 at the boundary of that",
        {"memcached_connections_rejected_total{@a}": "865+10x60"}
        | _version("1.5.22")
        | _server("800+0x60"),
        {"12m": []},
    ),
    Case(
        "1.5.2 is another version",
        {"memcached_connections_rejected_total{@a}": "0+1x60"} | _version("1.5.2"),
        {"12m": [_REJECTED]},
    ),
    Case(
        "after a restart and after stats reset",
        {"memcached_connections_rejected_total{@a}": "900+0x10 _x2 0+0x10 0+0x20"},
        {"14m": [], "25m": []},
    ),
)

STOPPED = (
    Case(
        "E10: the listener of one of two was off for a time",
        {
            "memcached_connections_listener_disabled_total{@a}": "3+0x5 4+0x40",
            "memcached_connections_listener_disabled_total{@b}": "3+0x60",
        },
        {"7m": [], "9m": [_LISTENER], "13m": []},
        (
            "9m",
            _LISTENER,
            (
                "memcached on WHO stopped accepting connections 1 times in the last"
                " five minutes, as it was at its limit."
            ),
        ),
    ),
    Case(
        "after a restart",
        {"memcached_connections_listener_disabled_total{@a}": "9+0x5 _x2 0+0x30"},
        {"9m": [], "12m": []},
    ),
    Case(
        "one of two does not accept connections, nor the exporter's",
        {
            "memcached_accepting_connections{@a}": "1+0x5 0+0x5 _x20",
            "memcached_accepting_connections{@b}": "1+0x60",
        },
        {"7m": [], "10m": [_NOT_ACCEPTING], "15m": [_NOT_ACCEPTING], "20m": []},
        (
            "10m",
            _NOT_ACCEPTING,
            (
                "memcached on WHO accepts no new connections, as it is at its"
                " limit: clients wait, and time out."
            ),
        ),
    ),
    Case("for one scrape only", {"memcached_accepting_connections{@a}": "1 0 1 1 1 1"}, {"5m": []}),
    Case(
        "the exporter is refused",
        {
            _ERRORS % "connection_limit": "0+0x5 1+1x4 5+0x40",
            _ERRORS % "refused": "0+1x60",
        },
        {"7m": [], "10m": [_REFUSED], "30m": []},
        (
            "10m",
            _REFUSED,
            (
                "A memcached server refused the exporter at exporter:9150 5 times in the last five"
                " minutes, as it is at its connection limit. Which one is on the exporter's page"
                " and in its log."
            ),
        ),
        ways=[SERVER],
    ),
)

CASES = (*HIGH, *FILES, *REJECTED, *STOPPED)
