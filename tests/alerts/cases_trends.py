"""Cases that take days: samples come every half hour, rules are evaluated every four.

Of each alert the first case shows that it does not matter in which way metrics arrive; the other
ones run in one way, as a week takes its time.
"""

from tests.alerts.harness import BOTH, SERVER, Case

_WEEK = 336
"""Half hours."""
_HIT_RATE = "MemcachedHitRateFell{warning, @a}"
_THROUGHPUT = "MemcachedThroughputFell{warning, @a}"
_LATENCY = "MemcachedLatencyRose{warning, @a}"
_AFTER = "176h"
"""In the second week, when rules were evaluated twice."""


def _steps(before: int, after: int, reset: bool = False) -> str:
    """A counter that grows by so much each half hour in one week, and in the next."""
    start = 0 if reset else before * _WEEK + after
    return f"0+{before}x{_WEEK} {start}+{after}x26"


def _gets(
    before: tuple[int, int], after: tuple[int, int], name: str = "a", uptime: str = ""
) -> dict[str, str]:
    """Hits and misses a second in one week, and in the next."""
    labels = f'@{name}, command="get"'
    return {
        f'memcached_commands_total{{{labels}, status="{status}"}}': _steps(
            before[i] * 1800, after[i] * 1800
        )
        for i, status in enumerate(("hit", "miss"))
    } | {f"memcached_uptime_seconds{{@{name}}}": uptime or "99999+1800x400"}


def _pings(before: float, after: float, name: str = "a") -> dict[str, str]:
    """Round trips in one week, and in the next."""
    return {f"memcached_ping_seconds{{@{name}}}": f"{before}+0x{_WEEK} {after}+0x26"}


def _case(
    about: str,
    series: dict[str, str],
    *fires: str,
    says: str = "",
    time: str = _AFTER,
) -> Case:
    return Case(
        about,
        series,
        {"164h": [], "172h": [], time: fires},
        (time, fires[0], says) if says else None,
        ways=BOTH if says else [SERVER],
        interval="30m",
    )


FELL = (
    _case(
        "the hit rate of one of two",
        _gets((100, 100), (78, 122)) | _gets((100, 100), (100, 100), "b"),
        _HIT_RATE,
        says="The hit rate of memcached on WHO in the last hour is 78% of what it was in the same"
        " hour a week ago.",
    ),
    _case("the hit rate at the boundary", _gets((10, 10), (8, 12))),
    _case("the hit rate where nothing was found a week ago", _gets((0, 20), (5, 15))),
    _case("the hit rate at the boundary of the floor", _gets((1, 1), (0, 1))),
    _case("the hit rate above it", _gets((2, 1), (0, 2)), _HIT_RATE),
    _case("the hit rate above it a week ago", _gets((1, 1), (0, 2)), _HIT_RATE),
    _case("the hit rate at the boundary of the floor a week ago", _gets((1, 0), (0, 2))),
    _case(
        "no baseline: it began this week",
        {name: f"_x{_WEEK} {text.split(' ')[-1]}" for name, text in _gets((9, 1), (1, 9)).items()},
    ),
    _case(
        "the throughput of one of two, and the hit rate stays",
        _gets((90, 10), (71, 8)) | _gets((90, 10), (90, 10), "b"),
        _THROUGHPUT,
        says="memcached on WHO served in the last hour 79% of the commands of the same hour a week"
        " ago.",
    ),
    _case("the throughput at the boundary", _gets((90, 10), (72, 8))),
    _case("the throughput at the boundary of its floor", _gets((9, 1), (1, 0))),
    _case("the throughput above its floor", _gets((10, 1), (2, 0)), _THROUGHPUT),
    _case(
        "a set counts once, also under the legacy names, and a cas as a set",
        _gets((90, 10), (90, 10))
        | {
            'memcached_commands_total{@a, command="set", status="attempt"}': _steps(1800, 1800),
            'memcached_commands_total{@a, command="set", status="hit"}': _steps(1800000, 0),
            'memcached_commands_total{@a, command="flush", status="hit"}': _steps(1800000, 0),
            'memcached_commands_total{@a, command="cas", status="hit"}': _steps(1800000, 0),
        },
    ),
    _case(
        "sets and the commands of a proxy count",
        _gets((1, 0), (1, 0))
        | {'memcached_commands_total{@a, command="set", status="attempt"}': _steps(36000, 9000)}
        | {
            f'memcached_commands_total{{@{name}, command="set", status="attempt"}}': "0+0x400"
            for name in "bc"
        }
        | {'memcached_proxy_commands_total{@b, command="mg"}': _steps(36000, 9000)}
        | {'memcached_proxy_commands_total{@c, command="mg"}': _steps(36000, 36000)}
        | {f"memcached_uptime_seconds{{@{name}}}": "99999+1800x400" for name in "bc"},
        _THROUGHPUT,
        "MemcachedThroughputFell{warning, @b}",
    ),
    Case(
        "after a restart the cache is cold, and an hour that lies wholly after that comes later",
        _gets((90, 10), (1, 99), uptime=f"99999+1800x{_WEEK + 6} 2+1800x20"),
        {"172h": [], "176h": [], "180h": [_HIT_RATE]},
        ways=[SERVER],
        interval="30m",
    ),
    _case(
        "at the boundary of that time",
        _gets((90, 10), (0, 20), uptime="5400+0x400"),
    ),
    _case(
        "a little after it",
        _gets((90, 10), (0, 20), uptime="5401+0x400"),
        _HIT_RATE,
        _THROUGHPUT,
    ),
    _case(
        "stats reset",
        {
            series: text.replace(f" {text.split(' ')[1].split('+')[0]}+", " 0+")
            for series, text in _gets((90, 10), (90, 10)).items()
            if "uptime" not in series
        }
        | {"memcached_uptime_seconds{@a}": "99999+1800x400"},
    ),
    _case("an idle server", _gets((0, 0), (0, 0))),
    _case("a server that became idle", _gets((90, 10), (0, 0)), _THROUGHPUT),
)

ROSE = (
    _case(
        "the latency of one of two",
        _pings(0.001, 0.00125) | _pings(0.001, 0.001, "b"),
        _LATENCY,
        says="The mean round trip to memcached on WHO in the last hour is 125% of what it was in"
        " the same hour a week ago.",
    ),
    _case("the latency at the boundary", _pings(0.001, 0.0012)),
    _case("the latency at the boundary of its floor", _pings(0.0001, 0.0005)),
    _case("the latency above its floor", _pings(0.0001, 0.00051), _LATENCY),
    _case("a latency of nothing a week ago", _pings(0, 0.004)),
    _case("no latency a week ago", {"memcached_ping_seconds{@a}": f"_x{_WEEK} 0.004+0x26"}),
    _case(
        "the prober's latency",
        {
            'memcached_probe_duration_seconds_sum{@a, operation="noop"}': _steps(2, 3),
            'memcached_probe_duration_seconds_count{@a, operation="noop"}': _steps(1800, 1800),
            'memcached_probe_duration_seconds_sum{@b, operation="noop"}': _steps(2, 2),
            'memcached_probe_duration_seconds_count{@b, operation="noop"}': _steps(1800, 1800),
        },
        _LATENCY,
    ),
)

FULL = (
    Case(
        "E09: full for a day, and nothing is evicted: a ticket, no page",
        {
            "memcached_up{@a}": "1+0x50",
            "memcached_current_bytes{@a}": "970+0x50",
            "memcached_limit_bytes{@a}": "1000+0x50",
            "memcached_items_evicted_total{@a}": "0+0x50",
        },
        {"24h": ["MemcachedMemoryHigh{warning, @a}"]},
        interval="30m",
    ),
)

CASES = (*FELL, *ROSE, *FULL)
