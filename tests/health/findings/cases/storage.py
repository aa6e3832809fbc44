"""Cases of external storage and proxy."""

from tests.health.findings.cases.shape import WARNING, Case, labelled

CASES = (
    Case(
        "extstore_errors",
        WARNING,
        "Reads from its external storage failed in 60 s: 2 damaged, 1 without memory for the item.",
        {"extstore_badcrc_total": 2.0, "extstore_gets_oom_total": 1.0},
        {"extstore_badcrc_total": 0.0, "extstore_gets_oom_total": 0.0},
        grown=("extstore_badcrc_total", "extstore_gets_oom_total"),
    ),
    Case(
        "extstore_errors",
        WARNING,
        "Reads from its external storage failed in 60 s: 3 given up.",
        {"extstore_gets_aborted_total": 3.0},
        {"extstore_gets_aborted_total": 0.0},
        grown=("extstore_gets_aborted_total",),
    ),
    Case(
        "extstore_backlog",
        WARNING,
        "1,001 reads and writes wait for its external storage.",
        {"extstore_io_queue_depth": 1001.0},
        {"extstore_io_queue_depth": 1000.0},
        remedy="-o ext_threads=4",
    ),
    Case(
        "proxy_backends_failing",
        WARNING,
        "Its proxy does not use a, b, c and 1 more backend.",
        {"proxy_backend_bad_connections": {labelled(backend=name): 4.0 for name in "dcba"}},
        {"proxy_backend_bad_connections": {labelled(backend="a"): 0.0}},
    ),
    Case(
        "proxy_backends_failing",
        WARNING,
        "Its proxy took backends out of use 2 times in 60 s, after repeated failures.",
        {"proxy_backend_marked_bad_total": 2.0},
        {"proxy_backend_marked_bad_total": 0.0},
        grown=("proxy_backend_marked_bad_total",),
    ),
)
