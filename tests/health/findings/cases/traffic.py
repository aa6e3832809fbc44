"""Cases of traffic."""

from exporter.health.findings.view import Pings
from tests.health.findings.cases.shape import (
    COMMANDS,
    CRITICAL,
    INFO,
    WARM,
    WARNING,
    Case,
    commands,
    labelled,
)

CASES = (
    Case(
        "hit_rate_low",
        WARNING,
        "79 % of the keys asked for were found in the last 60 s, less than 80 %.",
        {COMMANDS: commands(hits=79, misses=21), **WARM},
        {COMMANDS: commands(hits=80, misses=20)},
        grown=(COMMANDS,),
    ),
    Case(
        "hit_rate_low",
        WARNING,
        "50 % of the keys asked for were found",
        {COMMANDS: commands(hits=31, misses=31), **WARM},
        {COMMANDS: commands(hits=30, misses=30)},
        grown=(COMMANDS,),
    ),
    Case(
        "hit_rate_low",
        WARNING,
        "50 % of the keys asked for were found",
        {COMMANDS: commands(hits=50, misses=50), "uptime_seconds": 1801.0},
        {"uptime_seconds": 1800.0},
        grown=(COMMANDS,),
    ),
    Case(
        "hit_rate_below_target",
        INFO,
        "94 % of the keys asked for were found in the last 60 s; the target is 95 %.",
        {COMMANDS: commands(hits=94, misses=6), **WARM},
        {COMMANDS: commands(hits=95, misses=5)},
        grown=(COMMANDS,),
    ),
    Case(
        "latency_high",
        WARNING,
        "A command that needs no work took 0.2 ms in the middle and 5.1 ms in the slowest of a"
        " hundred (50 measured).",
        {},
        {},
        pings=Pings(p50=0.0002, p99=0.0051, count=50, failed=0),
    ),
    Case(
        "latency_high",
        CRITICAL,
        "A command that needs no work took 11 ms in the middle",
        {},
        {},
        pings=Pings(p50=0.011, p99=0.02, count=5, failed=0),
    ),
    Case(
        "latency_high_once",
        INFO,
        "At the last scrape, a command that needs no work took 11 ms.",
        {"ping_seconds": 0.011},
        {"ping_seconds": 0.010},
    ),
    Case(
        "pings_failing",
        WARNING,
        "6 of 100 small commands were not answered in time.",
        {},
        {},
        pings=Pings(p50=0.0001, p99=0.0002, count=94, failed=6),
    ),
    Case(
        "auth_errors",
        WARNING,
        "4 logins failed in the last 60 s.",
        {"auth_errors_total": 4.0},
        {"auth_errors_total": 0.0},
        grown=("auth_errors_total",),
    ),
    Case(
        "connections_yield",
        INFO,
        "11 times in 60 s a connection had sent so much that others got their turn first (-R 20).",
        {
            "connections_yielded_total": 11.0,
            COMMANDS: commands(hits=1000),
            "settings_requests_per_event": 20.0,
        },
        {"connections_yielded_total": 10.0},
        grown=("connections_yielded_total", COMMANDS),
    ),
    Case(
        "flushed",
        INFO,
        "It was told to forget all items (`flush_all`) 2 times in 60 s.",
        {COMMANDS: {labelled(command="flush", status="attempt"): 2.0}},
        {COMMANDS: {labelled(command="flush", status="attempt"): 0.0}},
        grown=(COMMANDS,),
        remedy="-F",
    ),
)
