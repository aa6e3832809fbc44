"""What lies behind a memcached: external storage, and the backends of a proxy."""

from exporter.health.rules.shape import Alert, Group, Severity

STORAGE = Group(
    "memcached-storage",
    (
        Alert(
            name="MemcachedExtstoreBacklog",
            severity=Severity.WARNING,
            expr="""
avg_over_time(memcached_extstore_io_queue_depth{$selector}[5m]) > ${extstore_queue}
""",
            wait="5m",
            summary="The external storage of a memcached server does not keep up.",
            description="{{ $value | humanize }} reads and writes wait for the external storage of"
            " memcached on ${who}, more than ${extstore_queue|plain}.",
        ),
        Alert(
            name="MemcachedExtstoreErrors",
            severity=Severity.WARNING,
            expr="""
increase(memcached_extstore_badcrc_total{$selector}[15m]) > 0
or
increase(memcached_extstore_gets_oom_total{$selector}[15m]) > 0
or
increase(memcached_extstore_gets_aborted_total{$selector}[15m]) > 0
""",
            wait="5m",
            summary="Reads from the external storage of a memcached server fail.",
            description="{{ $value | humanize }} reads from the external storage of memcached on"
            " ${who} failed in the last quarter of an hour: damaged, given up or without memory.",
        ),
        Alert(
            name="MemcachedProxyBackendsFailing",
            severity=Severity.WARNING,
            expr="""
max_over_time(memcached_proxy_backend_bad_connections{$selector}[2m]) > 0
or
(
  increase(memcached_proxy_backend_marked_bad_total{$selector}[5m]) > 0
  unless ignoring (backend)
  max_over_time(memcached_proxy_backend_bad_connections{$selector}[2m]) > 0
)
""",
            wait="2m",
            summary="A backend of a memcached proxy fails.",
            description="The proxy on ${who} has taken"
            " {{ with $labels.backend }}its backend {{ . }}{{ else }}a backend{{ end }} out of use,"
            " after repeated failures.",
        ),
    ),
)
