"""Traffic: how many keys are found, and how that and the load compare with a week ago."""

from exporter.health.rules.shape import Alert, Group, Severity

_HIT_RATE = "server:memcached_get_hits_per_get:ratio_rate5m{$selector}"
_SAYS_SOMETHING = """
and server:memcached_gets:rate5m{$selector} > ${hit_rate.floor}
and memcached_uptime_seconds{$selector} > ${hit_rate.warm_up}
"""
# The hour that the rate looks at must lie wholly after the warm-up.
_WARM_FOR_AN_HOUR = "memcached_uptime_seconds{$selector} > 3600 + ${hit_rate.warm_up}"
_HIT_RATE_TEXT = (
    "{{ $value | humanizePercentage }} of the keys that clients ask memcached on ${who} for are"
    " found"
)

TRAFFIC = Group(
    "memcached-traffic",
    (
        Alert(
            name="MemcachedHitRateLow",
            severity=Severity.WARNING,
            expr=f"{_HIT_RATE} < ${{hit_rate.warning}}{_SAYS_SOMETHING}",
            wait="15m",
            summary="The hit rate of a memcached server is low.",
            description=f"{_HIT_RATE_TEXT}, less than ${{hit_rate.warning|percent}}.",
        ),
        Alert(
            name="MemcachedHitRateBelowTarget",
            severity=Severity.INFO,
            expr=f"{_HIT_RATE} < ${{hit_rate.target}} >= ${{hit_rate.warning}}{_SAYS_SOMETHING}",
            wait="1h",
            summary="The hit rate of a memcached server is below its target.",
            description=f"{_HIT_RATE_TEXT}; the target is ${{hit_rate.target|percent}}.",
        ),
        Alert(
            name="MemcachedHitRateFell",
            severity=Severity.WARNING,
            expr=f"""
server:memcached_get_hits_per_get:ratio_rate1h{{$selector}}
/
(server:memcached_get_hits_per_get:ratio_rate1h{{$selector}} offset 1w > 0)
< 1 - ${{decline}}
and server:memcached_gets:rate1h{{$selector}} > ${{hit_rate.floor}}
and server:memcached_gets:rate1h{{$selector}} offset 1w > ${{hit_rate.floor}}
and {_WARM_FOR_AN_HOUR}
""",
            wait="30m",
            summary="The hit rate of a memcached server is lower than a week ago.",
            description="The hit rate of memcached on ${who} in the last hour is"
            " {{ $value | humanizePercentage }} of what it was in the same hour a week ago.",
        ),
        Alert(
            name="MemcachedThroughputFell",
            severity=Severity.WARNING,
            expr=f"""
server:memcached_commands:rate1h{{$selector}}
/
(server:memcached_commands:rate1h{{$selector}} offset 1w > ${{decline_floor}})
< 1 - ${{decline}}
and {_WARM_FOR_AN_HOUR}
""",
            wait="30m",
            summary="A memcached server serves fewer commands than a week ago.",
            description="memcached on ${who} served in the last hour"
            " {{ $value | humanizePercentage }} of the commands of the same hour a week ago.",
        ),
        Alert(
            name="MemcachedLatencyRose",
            severity=Severity.WARNING,
            expr="""
server:memcached_latency_seconds:mean1h{$selector}
/
(server:memcached_latency_seconds:mean1h{$selector} offset 1w > 0)
> 1 + ${decline}
and server:memcached_latency_seconds:mean1h{$selector} > ${latency.floor}
""",
            wait="30m",
            summary="A memcached server answers more slowly than a week ago.",
            description="The mean round trip to memcached on ${who} in the last hour is"
            " {{ $value | humanizePercentage }} of what it was in the same hour a week ago.",
        ),
    ),
)
