"""Latency: the round trips of commands that need no work, to the prober or during scrapes."""

from exporter.health.rules.shape import Alert, Group, Severity

_MEAN = "server:memcached_latency_seconds:mean5m{$selector} > ${latency.mean}"

LATENCY = Group(
    "memcached-latency",
    (
        # Without a prober there is one sample a scrape: it waits for longer than one outlier stays
        # in the quarter of an hour that is looked at.
        Alert(
            name="MemcachedLatencyP99High",
            severity=Severity.WARNING,
            expr="server:memcached_latency_seconds:p99_15m{$selector} > ${latency.p99}"
            f"\nunless\n{_MEAN}",
            wait="20m",
            summary="Some commands to a memcached server take long.",
            description="One in a hundred round trips to memcached on ${who} takes"
            " {{ $value | humanizeDuration }} or more, with a command that needs no work; the limit"
            " is ${latency.p99|milliseconds}.",
        ),
        Alert(
            name="MemcachedLatencyMeanHigh",
            severity=Severity.CRITICAL,
            expr=_MEAN,
            wait="10m",
            summary="Commands to a memcached server take long.",
            description="The mean round trip to memcached on ${who} takes"
            " {{ $value | humanizeDuration }}, with a command that needs no work; the limit is"
            " ${latency.mean|milliseconds}.",
        ),
        Alert(
            name="MemcachedProbesFailing",
            severity=Severity.WARNING,
            expr="""
server:memcached_probe_failures_per_probe:ratio_rate5m{$selector} > ${latency.probe_failures}
unless on (job, instance, server)
max_over_time(memcached_up{$selector}[2m]) == 0
""",
            wait="5m",
            summary="Probes of a memcached server fail.",
            description="memcached on ${who} leaves {{ $value | humanizePercentage }} of the probes"
            " without an answer in time.",
        ),
    ),
)
