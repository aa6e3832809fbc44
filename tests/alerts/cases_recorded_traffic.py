"""Cases for recorded series of traffic and latency, by their values."""

from tests.alerts.cases_recordings import NONE, at, command
from tests.alerts.harness import SERVER, Case

_GETS = "server:memcached_gets:rate%s"
_COMMANDS = "server:memcached_commands:rate%s"
_HITS = "server:memcached_get_hits_per_get:ratio_rate%s"
_P99 = "server:memcached_latency_seconds:p99_15m"
_MEAN = "server:memcached_latency_seconds:mean%s"
_FAILURES = "server:memcached_probe_failures_per_probe:ratio_rate5m"


def _gets(hits: str, misses: str) -> dict[str, str]:
    """Gets of server a."""
    return command("get", "hit", hits) | command("get", "miss", misses)


def _probes(count: int, seconds: float, failures: int) -> dict[str, str]:
    """Probes a minute of server a, all in one bucket."""
    labels = '@a, operation="noop"'
    name = "memcached_probe_duration_seconds"
    return {
        f'{name}_bucket{{{labels}, le="0.01"}}': "7+0x90",
        f'{name}_bucket{{{labels}, le="0.02"}}': f"7+{count}x90",
        f'{name}_bucket{{{labels}, le="+Inf"}}': f"7+{count}x90",
        f"{name}_count{{{labels}}}": f"7+{count}x90",
        f"{name}_sum{{{labels}}}": f"0+{seconds}x90",
        f"memcached_probe_failures_total{{{labels}}}": f"7+{failures}x90",
    }


TRAFFIC = (
    Case(
        "E01: within the window after a collapse the hit rate is that of now",
        _gets("0+90x60 5410+10x30", "0+10x60 690+90x30"),
        {},
        gives={_HITS % "5m": at(0.1, "66m")},
    ),
    Case(
        "E02: three hits to a miss are 0.75",
        _gets("0+180x90", "0+60x90"),
        {},
        gives={
            _HITS % "5m": at(0.75, "80m"),
            _HITS % "1h": at(0.75, "80m"),
            _GETS % "5m": at(4, "80m"),
            _GETS % "1h": at(4, "80m"),
        },
    ),
    Case(
        "E03: without traffic there is no hit rate, neither 0 nor 1",
        _gets("900+0x90", "7+0x90"),
        {},
        gives={
            _HITS % "5m": NONE,
            _HITS % "1h": NONE,
            _GETS % "5m": at(0, "80m"),
            _COMMANDS % "5m": at(0, "80m"),
        },
    ),
    Case(
        "commands: each once, whatever the legacy names add",
        _gets("0+120x90", "0+60x90")
        | command("set", "attempt", "0+60x90")
        | command("set", "hit", "0+60x90")
        | command("cas", "hit", "0+60x90")
        | command("flush", "attempt", "0+60x90")
        | command("flush", "hit", "0+60x90")
        | command("delete", "miss", "0+60x90"),
        {},
        gives={_COMMANDS % "5m": at(6, "80m"), _COMMANDS % "1h": at(6, "80m")},
    ),
    Case(
        "commands of a proxy",
        _gets("0+0x90", "0+0x90")
        | {'memcached_proxy_commands_total{@a, command="mg"}': "0+120x90"}
        | {'memcached_proxy_commands_total{@a, command="get"}': "0+60x90"},
        {},
        gives={_COMMANDS % "5m": at(3, "80m"), _COMMANDS % "1h": at(3, "80m")},
    ),
    Case(
        "a restart and a reset are no negative traffic",
        _gets("900+60x20 _x2 0+60x20 0+60x40", "0+0x90"),
        {},
        gives={_GETS % "5m": at(1, "75m"), _HITS % "5m": at(1, "75m")},
    ),
)

LATENCY = (
    Case(
        "without a prober, that of the scrapes",
        {"memcached_ping_seconds{@a}": "0.25+0x90"},
        {},
        gives={
            _P99: at(0.25, "80m"),
            _MEAN % "5m": at(0.25, "80m"),
            _MEAN % "1h": at(0.25, "80m"),
        },
    ),
    Case(
        "which is not always the same",
        {"memcached_ping_seconds{@a}": "0+0x78 3 3"},
        {},
        gives={
            _P99: at(3, "80m"),
            _MEAN % "5m": at(1, "80m"),
            _MEAN % "1h": at(6 / 61, "80m"),
        },
    ),
    Case(
        "that of the prober, and not of the scrapes as well",
        _probes(64, 1, 64) | {'memcached_ping_seconds{@a, pool="x"}': "0.25+0x90"},
        {},
        ways=[SERVER],
        gives={
            _P99: at(0.01 + 0.01 * 0.99, "80m"),
            _MEAN % "5m": at(1 / 64, "80m"),
            _MEAN % "1h": at(1 / 64, "80m"),
            _FAILURES: at(0.5, "80m"),
        },
    ),
    Case(
        "failures of both operations",
        {
            f'memcached_probe_{name}{{@a, operation="{operation}"}}': f"0+{step}x90"
            for name in ("failures_total", "duration_seconds_count")
            for operation, step in (("noop", 60), ("get", 180))
        },
        {},
        ways=[SERVER],
        gives={_FAILURES: at(0.5, "80m")},
    ),
    Case(
        "a prober without answers, and what scrapes say",
        _probes(0, 0, 0) | {"memcached_ping_seconds{@a}": "0.25+0x90"},
        {},
        ways=[SERVER],
        gives={
            _P99: at(0.25, "80m"),
            _MEAN % "5m": at(0.25, "80m"),
            _MEAN % "1h": at(0.25, "80m"),
        },
    ),
    Case(
        "a prober without answers, and nothing else",
        _probes(0, 0, 0),
        {},
        ways=[SERVER],
        gives={
            _P99: NONE,
            _MEAN % "5m": NONE,
            _MEAN % "1h": NONE,
            _FAILURES: NONE,
        },
    ),
)

CASES = (*TRAFFIC, *LATENCY)
