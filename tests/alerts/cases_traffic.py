"""Cases for the alerts about traffic and latency, as they are now."""

from tests.alerts.harness import SERVER, Case

_LOW = "MemcachedHitRateLow{warning, @a}"
_TARGET = "MemcachedHitRateBelowTarget{info, @a}"
_P99 = "MemcachedLatencyP99High{warning, @a}"
_MEAN = "MemcachedLatencyMeanHigh{critical, @a}"
_PROBES = "MemcachedProbesFailing{warning, @a}"
_WARM = "100000+60x120"


def _gets(hits: str, misses: str, name: str = "a", uptime: str = _WARM) -> dict[str, str]:
    """Gets of a server, by the minute."""
    labels = f'@{name}, command="get"'
    return {
        f'memcached_commands_total{{{labels}, status="hit"}}': hits,
        f'memcached_commands_total{{{labels}, status="miss"}}': misses,
        f"memcached_uptime_seconds{{@{name}}}": uptime,
    }


def _probes(noop: int, slow: int = 0, failures: int = 0, name: str = "a") -> dict[str, str]:
    """Probes a minute: those within 2 ms, those of 20 ms, and those without an answer."""
    labels = f'@{name}, operation="noop"'
    duration = "memcached_probe_duration_seconds"
    total = f"0+{noop + slow}x60"
    return {
        f'{duration}_bucket{{{labels}, le="0.001"}}': "0+0x60",
        f'{duration}_bucket{{{labels}, le="0.0025"}}': f"0+{noop}x60",
        f'{duration}_bucket{{{labels}, le="0.01"}}': f"0+{noop}x60",
        f'{duration}_bucket{{{labels}, le="0.025"}}': total,
        f'{duration}_bucket{{{labels}, le="+Inf"}}': total,
        f"{duration}_count{{{labels}}}": total,
        f"{duration}_sum{{{labels}}}": f"0+{noop * 0.002 + slow * 0.02}x60",
        f"memcached_probe_failures_total{{{labels}}}": f"0+{failures}x60",
    }


HIT_RATE = (
    Case(
        "E01: the hit rate of one of two collapses after an hour",
        _gets("0+90x60 5410+10x60", "0+10x60 690+90x60") | _gets("0+99x120", "0+1x120", "b"),
        {"59m": [], "70m": [], "85m": [_LOW]},
        (
            "85m",
            _LOW,
            "10% of the keys that clients ask memcached on WHO for are found, less than 80 %.",
        ),
    ),
    Case("at the boundary, below the target", _gets("0+240x120", "0+60x120"), {"80m": [_TARGET]}),
    Case("a little below", _gets("0+799x120", "0+201x120"), {"80m": [_LOW]}),
    Case(
        "below the target, on one of two servers",
        _gets("0+949x120", "0+51x120") | _gets("0+1140x120", "0+60x120", "b"),
        {"59m": [], "70m": [_TARGET]},
        (
            "70m",
            _TARGET,
            (
                "94.9% of the keys that clients ask memcached on WHO for are found; the"
                " target is 95 %."
            ),
        ),
    ),
    Case(
        "E02: three hits to a miss are no miss rate", _gets("0+75x30", "0+25x30"), {"30m": [_LOW]}
    ),
    Case("E03: an idle server", _gets("100+0x90", "9000+0x90"), {"30m": [], "80m": []}),
    Case("E03: a fresh server", _gets("0+0x90", "0+0x90", uptime="2+60x90"), {"80m": []}),
    Case("at the boundary of the floor", _gets("0+6x90", "0+54x90"), {"30m": []}),
    Case("a little above it", _gets("0+6x90", "0+55x90"), {"30m": [_LOW]}),
    *(
        Case(
            f"below the target, {about}",
            _gets(hits, "0+6x90", uptime=uptime),
            {"80m": [_TARGET] if fires else []},
        )
        for about, hits, uptime, fires in (
            ("at the boundary of the floor", "0+54x90", _WARM, False),
            ("a little above it", "0+54.5x90", _WARM, True),
            ("at the boundary of the warm-up", "0+60x90", "1800+0x90", False),
            ("a little after it", "0+60x90", "1801+0x90", True),
        )
    ),
    Case(
        "after a restart the cache is cold for half an hour",
        _gets("0+99x20 _x2 0+10x70", "0+1x20 _x2 0+90x70", uptime="90000+60x20 _x2 2+60x70"),
        {"40m": [], "65m": [], "72m": [_LOW]},
    ),
    Case(
        "it is at the boundary of the warm-up all the time",
        _gets("0+10x60", "0+90x60", uptime="1800+0x60"),
        {"30m": []},
    ),
    Case("a little after it", _gets("0+10x60", "0+90x60", uptime="1801+0x60"), {"30m": [_LOW]}),
    Case(
        "stats reset",
        _gets("1000000+99x20 0+99x60", "10000+1x20 0+1x60"),
        {"25m": [], "40m": []},
    ),
    Case(
        "other commands do not count",
        _gets("0+99x60", "0+1x60")
        | {'memcached_commands_total{@a, command="delete", status="miss"}': "0+900x60"},
        {"30m": []},
    ),
    Case(
        "no uptime is sent",
        {
            series: values
            for series, values in _gets("0+10x60", "0+90x60").items()
            if "uptime" not in series
        },
        {"30m": []},
    ),
)

LATENCY = (
    Case(
        "one of two answers slowly at times",
        {
            "memcached_ping_seconds{@a}": "0.001 0.001 0.001 0.008x57",
            "memcached_ping_seconds{@b}": "0.001+0x60",
        },
        {"15m": [], "30m": [_P99]},
        (
            "30m",
            _P99,
            (
                "One in a hundred round trips to memcached on WHO takes 8ms or more, with a"
                " command that needs no work; the limit is 5 ms."
            ),
        ),
    ),
    Case("p99 at the boundary", {"memcached_ping_seconds{@a}": "0.005+0x60"}, {"40m": []}),
    Case("a little above", {"memcached_ping_seconds{@a}": "0.0051+0x60"}, {"40m": [_P99]}),
    Case(
        "a single outlier",
        {"memcached_ping_seconds{@a}": "0.0001x30 0.008 0.0001x60"},
        {"32m": [], "40m": [], "46m": [], "51m": []},
    ),
    Case("mean at the boundary", {"memcached_ping_seconds{@a}": "0.01+0x60"}, {"40m": [_P99]}),
    Case(
        "the mean is critical, and then p99 gives no warning",
        {"memcached_ping_seconds{@a}": "0.0101+0x60", "memcached_ping_seconds{@b}": "0.001+0x60"},
        {"9m": [], "12m": [_MEAN], "40m": [_MEAN]},
        (
            "40m",
            _MEAN,
            (
                "The mean round trip to memcached on WHO takes 10.1ms, with a command that"
                " needs no work; the limit is 10 ms."
            ),
        ),
    ),
    Case(
        "a single very slow answer",
        {"memcached_ping_seconds{@a}": "0.0001x30 0.9 0.0001x60"},
        {"32m": [], "36m": [], "45m": []},
    ),
    Case(
        "the prober's figures go before those of scrapes, also where the labels differ",
        _probes(58, 2) | {'memcached_ping_seconds{@a, pool="x"}': "0.02+0x60"},
        {"40m": [_P99]},
        ways=[SERVER],
    ),
    Case(
        "the prober's mean, on one of two servers",
        _probes(30, 30) | _probes(60, name="b"),
        {"12m": [_MEAN], "40m": [_MEAN]},
        (
            "40m",
            _MEAN,
            (
                "The mean round trip to memcached on WHO takes 11ms, with a command that"
                " needs no work; the limit is 10 ms."
            ),
        ),
        ways=[SERVER],
    ),
    Case("the prober finds nothing wrong", _probes(60), {"40m": []}, ways=[SERVER]),
    Case(
        "a prober that gets no answers leaves the word to the scrapes",
        _probes(0) | {"memcached_ping_seconds{@a}": "0.02+0x60"},
        {"40m": [_MEAN]},
        ways=[SERVER],
    ),
)

PROBES = (
    Case(
        "more than one in twenty fails, on one of two servers",
        _probes(94, failures=6) | _probes(100, name="b"),
        {"5m": [], "8m": [_PROBES]},
        ("8m", _PROBES, "memcached on WHO leaves 6% of the probes without an answer in time."),
        ways=[SERVER],
    ),
    Case("at the boundary", _probes(95, failures=5), {"20m": []}, ways=[SERVER]),
    Case(
        "the server answers the exporter now and then",
        _probes(0, failures=60) | {"memcached_up{@a}": " ".join(["1 0"] * 20)},
        {"20m": [_PROBES], "21m": [_PROBES]},
        ways=[SERVER],
    ),
    Case(
        "the server is known to be down",
        _probes(0, failures=60) | {'memcached_up{@a, pool="x"}': "0+0x60"},
        {"20m": []},
        ways=[SERVER],
    ),
    Case("no probes", _probes(0), {"20m": []}, ways=[SERVER]),
)

CASES = (*HIT_RATE, *LATENCY, *PROBES)
