"""Cases for recorded series of connections and memory, by their values.

Dashboards show them, also where no alert compares them.
"""

from tests.alerts.harness import SERVER, Case

_USED = "server:memcached_connections_used:ratio"
_FILES = "server:memcached_open_fds:ratio"
_DOWN = "job:memcached_servers_down:ratio"
_MEMORY = "server:memcached_memory_used:ratio"
_SETS = "server:memcached_sets:rate5m"
_PER_SET = "server:memcached_items_evicted_per_set:ratio_rate5m"
_USEFUL = "server:memcached_items_evicted_useful:ratio_rate15m"
_IDLE_PAGES = "server:memcached_slab_pages_idle:ratio"

NONE: tuple[str, dict[str, float]] = ("30m", {})


def at(value: float, time: str = "30m") -> tuple[str, dict[str, float]]:
    """Server a has this value, and no other one has any."""
    return (time, {"{@a}": value})


def command(command: str, status: str, values: str, name: str = "a") -> dict[str, str]:
    """Commands of a server."""
    labels = f'@{name}, command="{command}", status="{status}"'
    return {f"memcached_commands_total{{{labels}}}": values}


LIMITS = (
    Case(
        "E07: connections that are open now, of those that clients can have",
        {
            "memcached_current_connections{@a}": "5+0x40",
            "memcached_connections_total{@a}": "1000000+9x40",
            "memcached_max_connections{@a}": "1024+0x40",
            "memcached_reserved_fds{@a}": "20+0x40",
        },
        {},
        gives={_USED: at(5 / 1004)},
    ),
    Case(
        "no limit, and one that is kept back as a whole",
        {
            "memcached_current_connections{@a}": "5+0x40",
            "memcached_max_connections{@a}": "0+0x40",
            "memcached_current_connections{@b}": "5+0x40",
            "memcached_max_connections{@b}": "20+0x40",
            "memcached_reserved_fds{@b}": "20+0x40",
        },
        {},
        gives={_USED: NONE},
    ),
    Case(
        "open files, of one process whose limit is known",
        {
            "memcached_process_open_fds{@a}": "30+0x40",
            "memcached_process_max_fds{@a}": "120+0x40",
            "memcached_process_open_fds{@b}": "30+0x40",
            "memcached_process_max_fds{@b}": "0+0x40",
        },
        {},
        ways=[SERVER],
        gives={_FILES: at(0.25)},
    ),
    Case(
        "limits that were lowered by a restart, as they are now",
        {
            "memcached_current_connections{@a}": "90+0x4 3+0x40",
            "memcached_max_connections{@a}": "1024+0x4 50+0x40",
            "memcached_reserved_fds{@a}": "80+0x4 20+0x40",
            "memcached_current_connections{@b}": "3+0x40",
            "memcached_max_connections{@b}": "1024+0x4 30+0x40",
            "memcached_process_open_fds{@a}": "90+0x4 3+0x40",
            "memcached_process_max_fds{@a}": "1024+0x4 30+0x40",
        },
        {},
        ways=[SERVER],
        gives={_USED: ("6m", {"{@a}": 0.1, "{@b}": 0.1}), _FILES: at(0.1, "6m")},
    ),
    Case(
        "servers that are down",
        {f"memcached_up{{@{name}}}": "1+0x40" for name in "abc"} | {"memcached_up{@d}": "0+0x40"},
        {},
        gives={_DOWN: ("30m", {'{job="memcached"}': 0.25})},
    ),
    Case(
        "none is down, and one fails now and then",
        {"memcached_up{@a}": "1+0x40", "memcached_up{@b}": " ".join(["1 0"] * 20)},
        {},
        gives={_DOWN: NONE},
    ),
)

MEMORY = (
    Case(
        "E16: memory above its limit, as it is; and limits that are none",
        {"memcached_current_bytes{@a}": "2240+0x40", "memcached_limit_bytes{@a}": "1000+0x40"}
        | {f"memcached_current_bytes{{@{name}}}": "9+0x40" for name in "bc"}
        | {"memcached_limit_bytes{@b}": "0+0x40", "memcached_limit_bytes{@c}": "-1+0x40"},
        {},
        gives={_MEMORY: at(2.24)},
    ),
    Case(
        "more lies in external storage than items take",
        {
            "memcached_current_bytes{@a}": "90+0x40",
            "memcached_extstore_bytes_used{@a}": "100+0x40",
            "memcached_limit_bytes{@a}": "1000+0x40",
        },
        {},
        gives={_MEMORY: at(0)},
    ),
    Case(
        "evictions",
        command("set", "attempt", "0+120x40")
        | command("set", "hit", "0+120x40")
        | {
            "memcached_items_evicted_total{@a}": "0+60x40",
            "memcached_items_evicted_unfetched_total{@a}": "0+15x40",
            "memcached_items_evicted_active_total{@a}": "0+30x40",
        },
        {},
        gives={_SETS: at(2), _PER_SET: at(0.5), _USEFUL: at(0.75)},
    ),
    Case(
        "an old server that does not count items in use",
        {
            "memcached_items_evicted_total{@a}": "0+60x40",
            "memcached_items_evicted_unfetched_total{@a}": "0+15x40",
        },
        {},
        gives={_USEFUL: at(0.25)},
    ),
    Case(
        "E03: a server that stores and evicts nothing has no share of it",
        command("set", "attempt", "9+0x40")
        | {
            "memcached_items_evicted_total{@a}": "9+0x40",
            "memcached_items_evicted_unfetched_total{@a}": "9+0x40",
        },
        {},
        gives={_SETS: at(0), _PER_SET: NONE, _USEFUL: NONE},
    ),
    Case(
        "idle pages: whole ones, of classes that do not evict, and of the pool",
        {
            f'memcached_slab_{name}{{@a, slab="{slab}"}}': values
            for slab, free, evicted in ((1, 50, "0+1x40"), (2, 39, "7+0x40"), (4, 29, "7+0x40"))
            for name, values in {
                "current_pages": "10+0x40",
                "chunks_per_page": "10+0x40",
                "chunks_free": f"{free}+0x40",
                "items_evicted_total": evicted,
            }.items()
        }
        | {
            "memcached_slab_global_page_pool{@a}": "5+0x40",
            'memcached_slab_chunks_per_page{@a, slab="3"}': "0+0x40",
            'memcached_slab_chunks_free{@a, slab="3"}': "0+0x40",
        },
        {},
        gives={_IDLE_PAGES: at(10 / 35)},
    ),
    Case(
        "no page yet",
        {
            'memcached_slab_current_pages{@a, slab="1"}': "0+0x40",
            'memcached_slab_chunks_per_page{@a, slab="1"}': "0+0x40",
            'memcached_slab_chunks_free{@a, slab="1"}': "0+0x40",
            'memcached_slab_current_pages{@b, slab="1"}': "0+0x40",
            'memcached_slab_chunks_per_page{@b, slab="1"}': "10+0x40",
            'memcached_slab_chunks_free{@b, slab="1"}': "0+0x40",
            "memcached_slab_global_page_pool{@a}": "0+0x40",
            "memcached_slab_global_page_pool{@b}": "0+0x40",
        },
        {},
        gives={_IDLE_PAGES: NONE},
    ),
)

CASES = (*LIMITS, *MEMORY)
