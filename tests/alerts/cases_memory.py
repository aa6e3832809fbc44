"""Cases for the alerts about memory. The limit is 1000 bytes."""

from tests.alerts.harness import Case

_HIGH = "MemcachedMemoryHigh{warning, @a}"
_OUT = "MemcachedOutOfMemory{critical, @a}"
_GROWING = "MemcachedHashExpansionSlow{warning, @a}"
_FAILING = "MemcachedAllocationsFailing{warning, @a}"

_EVICTED = "memcached_items_evicted_total{@a}"


def memory(used: int, name: str = "a", limit: int = 1000) -> dict[str, str]:
    """Memory of a server."""
    return {
        f"memcached_current_bytes{{@{name}}}": f"{used}+0x60",
        f"memcached_limit_bytes{{@{name}}}": f"{limit}+0x60",
    }


FULL = (
    Case(
        "one of two is above the limit",
        memory(851) | memory(10, "b"),
        {"29m": [], "32m": [_HIGH]},
        (
            "32m",
            _HIGH,
            (
                "Items take 85.1% of the memory of memcached on WHO. That is normal for a"
                " cache that evicts, and harmless as long as what it evicts is of no use."
            ),
        ),
    ),
    Case("at the boundary", memory(850), {"40m": []}),
    Case(
        "E16: more than the limit, as each class may take a page beyond it",
        memory(2240),
        {"32m": [_HIGH]},
        (
            "32m",
            _HIGH,
            (
                "Items take 224% of the memory of memcached on WHO. That is normal for a"
                " cache that evicts, and harmless as long as what it evicts is of no use."
            ),
        ),
    ),
    Case("no limit is known", memory(900, limit=0), {"40m": []}),
    Case("a limit of -1, as Dragonfly sends it", memory(900, limit=-1), {"40m": []}),
    Case("no limit is sent", {"memcached_current_bytes{@a}": "900+0x60"}, {"40m": []}),
    Case(
        "what lies in external storage takes no memory",
        memory(5000) | {"memcached_extstore_bytes_used{@a}": "4150+0x60"},
        {"40m": []},
    ),
    Case(
        "nor does it hide that memory is full",
        memory(5000) | {"memcached_extstore_bytes_used{@a}": "4149+0x60"},
        {"40m": [_HIGH]},
    ),
)

NO_MEMORY = (
    Case(
        "E19: stores fail and nothing is evicted, on one of two servers",
        {
            "memcached_item_no_memory_total{@a}": "0+0x5 508+508x4 2540+0x40",
            'memcached_slab_items_outofmemory_total{@a, slab="18"}': "0+0x5 508+508x4 2540+0x40",
            "memcached_item_no_memory_total{@b}": "0+0x60",
            _EVICTED: "0+0x60",
        },
        {"7m": [], "10m": [_OUT], "30m": []},
        (
            "10m",
            _OUT,
            (
                "memcached on WHO refused 2.54k stores in the last five minutes, as it found"
                " no memory for them and could evict nothing."
            ),
        ),
    ),
    Case(
        "an old server that counts by class only",
        {
            'memcached_slab_items_outofmemory_total{@a, slab="3"}': "0+1x60",
            'memcached_slab_items_outofmemory_total{@a, slab="4"}': "0+1x60",
        },
        {"10m": [_OUT]},
        (
            "10m",
            _OUT,
            (
                "memcached on WHO refused 10 stores in the last five minutes, as it found no"
                " memory for them and could evict nothing."
            ),
        ),
    ),
    Case(
        "a server without the sections of slabs",
        {"memcached_item_no_memory_total{@a}": "0+1x60"},
        {"10m": [_OUT]},
    ),
    Case(
        "a restart and a reset",
        {"memcached_item_no_memory_total{@a}": "2540+0x9 _x2 0+0x9 0+0x9"},
        {"13m": [], "25m": []},
    ),
    Case(
        "E10: connections of one of two got no memory for a time",
        {
            "memcached_malloc_fails_total{@a}": "5+0x60",
            "memcached_read_buffer_oom_total{@a}": "0+0x5 1+1x4 5+0x40",
            "memcached_read_buffer_oom_total{@b}": "9+0x60",
        },
        {"7m": [], "10m": [_FAILING], "30m": []},
        (
            "10m",
            _FAILING,
            (
                "memcached on WHO failed 5 times in the last five minutes to get memory"
                " for a connection, a buffer or a response, and closed connections for it."
            ),
        ),
    ),
    *(
        Case(
            f"{name} alone",
            {f"memcached_{name}_total{{@a}}": "0+1x60"},
            {"10m": [_FAILING]},
            (
                "10m",
                _FAILING,
                (
                    "memcached on WHO failed 5 times in the last five minutes to get memory for a"
                    " connection, a buffer or a response, and closed connections for it."
                ),
            ),
        )
        for name in ("malloc_fails", "response_object_oom")
    ),
)

GROWING = (
    Case(
        "one of two takes longer than half an hour",
        {
            "memcached_hash_is_expanding{@a}": "0+0x5 1+0x10 _x3 1+0x27 0+0x20",
            "memcached_hash_is_expanding{@b}": "0+0x5 1+0x20 0+0x40",
        },
        {"34m": [], "38m": [_GROWING], "50m": []},
        (
            "38m",
            _GROWING,
            (
                "memcached on WHO has been moving its hash table to a larger one for more"
                " than 30m; until it is done, both take memory."
            ),
        ),
    ),
)

CASES = (*FULL, *NO_MEMORY, *GROWING)
