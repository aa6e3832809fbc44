"""Cases for the alerts about external storage and the backends of proxies."""

from tests.alerts.harness import Case

_BACKLOG = "MemcachedExtstoreBacklog{warning, @a}"
_ERRORS = "MemcachedExtstoreErrors{warning, @a}"
_BACKEND = 'MemcachedProxyBackendsFailing{warning, @a, backend="b1"}'
_SOME_BACKEND = "MemcachedProxyBackendsFailing{warning, @a}"
_QUEUE = "memcached_extstore_io_queue_depth{@%s}"

EXTSTORE = (
    Case(
        "the queue of one of two is long",
        {_QUEUE % "a": "1001+0x30", _QUEUE % "b": "5+0x30"},
        {"4m": [], "8m": [_BACKLOG]},
        (
            "8m",
            _BACKLOG,
            (
                "1.001k reads and writes wait for the external storage of memcached on"
                " WHO, more than 1 000."
            ),
        ),
    ),
    Case("at the boundary", {_QUEUE % "a": "1000+0x30"}, {"20m": []}),
    Case("one burst", {_QUEUE % "a": "0+0x5 1500 0+0x30"}, {"7m": [], "11m": []}),
    Case(
        "E10: damaged values on one of two, and then none",
        {
            "memcached_extstore_badcrc_total{@a}": "2+0x5 3 4 5+0x60",
            "memcached_extstore_badcrc_total{@b}": "7+0x60",
        },
        {"8m": [], "20m": [_ERRORS], "30m": []},
        (
            "20m",
            _ERRORS,
            (
                "3 reads from the external storage of memcached on WHO failed in the last"
                " quarter of an hour: damaged, given up or without memory."
            ),
        ),
    ),
    *(
        Case(
            f"{name} alone",
            {f"memcached_extstore_{name}_total{{@a}}": "0+1x30"},
            {"10m": [_ERRORS]},
            (
                "10m",
                _ERRORS,
                (
                    "10 reads from the external storage of memcached on WHO failed in the last"
                    " quarter of an hour: damaged, given up or without memory."
                ),
            ),
        )
        for name in ("gets_oom", "gets_aborted")
    ),
    Case(
        "a value that is not there any more is none",
        {
            "memcached_extstore_misses_total{@a}": "0+9x30",
            "memcached_extstore_badcrc_total{@a}": "0+0x30",
        },
        {"10m": []},
    ),
    Case(
        "a restart and a reset",
        {"memcached_extstore_badcrc_total{@a}": "90+0x5 _x2 0+0x10 0+0x30"},
        {"12m": [], "20m": []},
    ),
)

_BAD = 'memcached_proxy_backend_bad_connections{@%s, backend="b1"}'
_MARKED = "memcached_proxy_backend_marked_bad_total{@%s}"
PROXY = (
    Case(
        "a backend of one of two proxies is bad, and named",
        {
            _BAD % "a": "_x5 4+0x10 _x30",
            _MARKED % "a": "0+0x4 4+0x40",
            _MARKED % "b": "4+0x45",
        },
        {"5m": [], "9m": [_BACKEND], "15m": [_BACKEND], "25m": []},
        (
            "9m",
            _BACKEND,
            "The proxy on WHO has taken its backend b1 out of use, after repeated failures.",
        ),
    ),
    Case(
        "an older proxy that does not name it",
        {_MARKED % "a": "0+0x5 4+0x40"},
        {"6m": [], "9m": [_SOME_BACKEND], "15m": []},
        (
            "9m",
            _SOME_BACKEND,
            "The proxy on WHO has taken a backend out of use, after repeated failures.",
        ),
    ),
    Case(
        "now and then",
        {_BAD % "a": " ".join(["4 0"] * 20), _MARKED % "a": "0+4x40"},
        {"10m": [_BACKEND], "11m": [_BACKEND]},
    ),
    Case(
        "one that is not bad is not meant",
        {_BAD % "a": "0+0x40", _MARKED % "a": "0+4x40"},
        {"10m": [_SOME_BACKEND]},
    ),
    Case("none is bad", {_BAD % "a": "0+0x30", _MARKED % "a": "0+0x30"}, {"20m": []}),
    Case("a restart", {_MARKED % "a": "90+0x5 _x2 0+0x30"}, {"9m": [], "12m": []}),
)

CASES = (*EXTSTORE, *PROXY)
