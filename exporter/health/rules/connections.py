"""Connections: close to the limit, or beyond it."""

from exporter.health.rules.shape import Alert, Group, Severity

_USED = "server:memcached_connections_used:ratio{$selector}"
_OPEN = "server:memcached_open_fds:ratio{$selector}"
_USED_SUMMARY = "A memcached server is close to its connection limit."
_USED_TEXT = (
    "{{ $value | humanizePercentage }} of the connections that memcached on ${who} can take are"
    " open. At the limit it refuses clients."
)
_OPEN_SUMMARY = "A memcached server is close to its limit of open files."
_OPEN_TEXT = (
    "{{ $value | humanizePercentage }} of the descriptors that memcached on ${who} may have are"
    " open. At the limit it refuses clients, whatever its connection limit is."
)

CONNECTIONS = Group(
    "memcached-connections",
    (
        Alert(
            name="MemcachedConnectionsHigh",
            severity=Severity.WARNING,
            expr=f"{_USED} > ${{connections.warning}} <= ${{connections.critical}}",
            wait="10m",
            summary=_USED_SUMMARY,
            description=_USED_TEXT,
        ),
        # It goes on for a while, so that a server that refuses the exporter too, or that hovers
        # around the limit, does not resolve and fire in turns; the warning waits for longer.
        Alert(
            name="MemcachedConnectionsHigh",
            severity=Severity.CRITICAL,
            expr=f"{_USED} > ${{connections.critical}}",
            wait="2m",
            keep="5m",
            summary=_USED_SUMMARY,
            description=_USED_TEXT,
        ),
        Alert(
            name="MemcachedDescriptorsHigh",
            severity=Severity.WARNING,
            expr=f"{_OPEN} > ${{connections.warning}} <= ${{connections.critical}}",
            wait="10m",
            summary=_OPEN_SUMMARY,
            description=_OPEN_TEXT,
        ),
        Alert(
            name="MemcachedDescriptorsHigh",
            severity=Severity.CRITICAL,
            expr=f"{_OPEN} > ${{connections.critical}}",
            wait="2m",
            keep="5m",
            summary=_OPEN_SUMMARY,
            description=_OPEN_TEXT,
        ),
        # 1.5.21 and 1.5.22 count nearly each connection as rejected: of them it is believed only
        # when connections are many as well.
        Alert(
            name="MemcachedConnectionsRejected",
            severity=Severity.CRITICAL,
            expr=f"""
increase(memcached_connections_rejected_total{{$selector}}[5m]) > 0
unless ignoring (version, libevent, pointer_size)
(
  memcached_version_info{{$selector, version=~"1[.]5[.]2[12].*"}}
  unless ignoring (version, libevent, pointer_size)
  {_USED} > ${{connections.warning}}
)
""",
            wait="2m",
            summary="A memcached server refuses connections.",
            description="memcached on ${who} refused {{ $value | humanize }} connections in the"
            " last five minutes, as it is at its limit.",
        ),
        Alert(
            name="MemcachedListenerDisabled",
            severity=Severity.CRITICAL,
            expr="increase(memcached_connections_listener_disabled_total{$selector}[5m]) > 0",
            wait="2m",
            summary="A memcached server stopped accepting connections for a time.",
            description="memcached on ${who} stopped accepting connections"
            " {{ $value | humanize }} times in the last five minutes, as it was at its limit.",
        ),
        Alert(
            name="MemcachedNotAccepting",
            severity=Severity.CRITICAL,
            expr="last_over_time(memcached_accepting_connections{$selector}[5m]) == 0",
            wait="2m",
            summary="A memcached server accepts no connections.",
            description="memcached on ${who} accepts no new connections, as it is at its limit:"
            " clients wait, and time out.",
        ),
        Alert(
            name="MemcachedScrapeRefused",
            severity=Severity.CRITICAL,
            expr="""
increase(memcached_exporter_scrape_errors_total{$selector, reason="connection_limit"}[5m]) > 0
""",
            wait="2m",
            summary="A memcached server at its connection limit refuses the exporter.",
            description="A memcached server refused the exporter at {{ $labels.instance }}"
            " {{ $value | humanize }} times in the last five minutes, as it is at its connection"
            " limit. Which one is on the exporter's page and in its log.",
        ),
    ),
)
