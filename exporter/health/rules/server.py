"""Servers that are down, or were restarted."""

from exporter.health.rules.shape import Alert, Group, Severity

SERVER = Group(
    "memcached-servers",
    (
        Alert(
            name="MemcachedDown",
            severity=Severity.CRITICAL,
            expr="max_over_time(memcached_up{$selector}[2m]) == 0",
            wait="1m",
            summary="A memcached server does not answer the exporter.",
            description="memcached on ${who} has not answered for two minutes. The reason is in"
            " the exporter's log and on its page.",
        ),
    ),
)
