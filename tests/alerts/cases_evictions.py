"""Cases for the alerts about evictions."""

from tests.alerts.cases_memory import memory
from tests.alerts.harness import Case

_USEFUL = "MemcachedEvictingUsedItems{warning, @a}"
_MANY = "MemcachedEvictionsHigh{warning, @a}"
_PER_SET = "MemcachedEvictionsPerSetHigh{warning, @a}"
_CALCIFIED = "MemcachedSlabCalcified{warning, @a}"

_EVICTED = "memcached_items_evicted_total{@a}"
_UNFETCHED = "memcached_items_evicted_unfetched_total{@a}"
_ACTIVE = "memcached_items_evicted_active_total{@a}"
_SETS = 'memcached_commands_total{@%s, command="set", status="attempt"}'


def _class(slab: int, evicted: str, last_used: int, name: str = "a") -> dict[str, str]:
    """What a slab class evicts, and for how long the last such item had not been used."""
    labels = f'@{name}, slab="{slab}"'
    return {
        f"memcached_slab_items_evicted_total{{{labels}}}": evicted,
        f"memcached_slab_items_evicted_time_seconds{{{labels}}}": f"{last_used}+0x60",
    }


def _pages(slab: int, free: int, evicted: str, name: str = "a") -> dict[str, str]:
    """A slab class of 50 pages of 10 chunks, and how many of these are free."""
    labels = f'@{name}, slab="{slab}"'
    return {
        f"memcached_slab_current_pages{{{labels}}}": "50+0x60",
        f"memcached_slab_chunks_per_page{{{labels}}}": "10+0x60",
        f"memcached_slab_chunks_free{{{labels}}}": f"{free}+0x60",
        f"memcached_slab_items_evicted_total{{{labels}}}": evicted,
    }


def _pool(pages: int, name: str = "a") -> dict[str, str]:
    """Pages that any class may take."""
    return {f"memcached_slab_global_page_pool{{@{name}}}": f"{pages}+0x60"}


USEFUL = (
    Case(
        "a full server evicts items nobody had read, to a tenth of all",
        memory(851) | {_EVICTED: "0+100x60", _UNFETCHED: "0+6x60", _ACTIVE: "0+5x60"},
        {"10m": [], "25m": [_USEFUL]},
        (
            "25m",
            _USEFUL,
            (
                "memcached on WHO is 85.1% full and evicts items that were used a short"
                " time ago, or that nobody had read yet: it has too little memory for what it is to"
                " hold."
            ),
        ),
    ),
    Case(
        "at the boundary of their share",
        memory(851) | {_EVICTED: "0+120x60", _UNFETCHED: "0+6x60", _ACTIVE: "0+6x60"},
        {"25m": []},
    ),
    Case(
        "at the boundary of the memory",
        memory(850) | {_EVICTED: "0+100x60", _UNFETCHED: "0+100x60", _ACTIVE: "0+0x60"},
        {"25m": []},
    ),
    Case(
        "an old server that does not count items in use",
        memory(900) | {_EVICTED: "0+100x60", _UNFETCHED: "0+11x60"},
        {"25m": [_USEFUL]},
    ),
    Case(
        "a class of one of two servers evicts what was used within the hour",
        memory(900)
        | memory(900, "b")
        | _class(1, "5+0x60", 10)
        | _class(2, "0+1x60", 3599)
        | _class(2, "0+1x60", 3600, "b"),
        {"25m": [_USEFUL]},
    ),
    Case("at the boundary of that time", memory(900) | _class(2, "0+1x60", 3600), {"25m": []}),
    Case("right after use", memory(900) | _class(2, "0+1x60", 0), {"25m": [_USEFUL]}),
    Case(
        "0 seconds, as nothing was evicted yet", memory(900) | _class(2, "0+0x60", 0), {"25m": []}
    ),
    Case(
        "E10: evictions of an hour ago, a restart, and a reset",
        memory(900)
        | _class(2, "0+1x10 10+0x20 _x2 0+0x30", 10)
        | {_EVICTED: "0+9x10 90+0x20 0+0x30", _UNFETCHED: "0+9x10 90+0x20 0+0x30"},
        {"28m": [], "29m": []},
    ),
)

EVICTIONS = (
    Case(
        "one of two evicts more than 10000 in an hour",
        {_EVICTED: "0+501x30", "memcached_items_evicted_total{@b}": "0+499x30"},
        {"70m": [_MANY]},
        ("70m", _MANY, "memcached on WHO evicted 10.02k items in the last hour, more than 10 000."),
        interval="3m",
    ),
    Case("at the boundary", {_EVICTED: "0+500x30"}, {"70m": []}, interval="3m"),
    Case(
        "E10: many, and then none",
        {_EVICTED: "0+0x4 20000+0x40"},
        {"24m": [_MANY], "72m": [_MANY], "81m": []},
        interval="3m",
    ),
    Case(
        "three of them, and then none",
        {_EVICTED: "0+0x5 3+0x30"} | {_SETS % "a": "0+600x40"},
        {"10m": [], "30m": []},
    ),
    Case("a restart and a reset", {_EVICTED: "90000+0x9 _x2 0+0x9 9000 0+0x9"}, {"29m": []}),
    Case(
        "one of two evicts more than a tenth of what it stores",
        {
            _EVICTED: "0+11x60",
            _SETS % "a": "0+100x60",
            "memcached_items_evicted_total{@b}": "0+1x60",
            _SETS % "b": "0+100x60",
        },
        {"14m": [], "22m": [_PER_SET]},
        (
            "22m",
            _PER_SET,
            "memcached on WHO evicts 11% as many items as it stores, more than 10 %.",
        ),
    ),
    Case("at that boundary", {_EVICTED: "0+12x60", _SETS % "a": "0+120x60"}, {"30m": []}),
    Case(
        "at the boundary of the floor", {_EVICTED: "0+60x60", _SETS % "a": "0+60x60"}, {"30m": []}
    ),
    Case(
        "the legacy names, under which sets come twice, do not halve the share",
        {
            _EVICTED: "0+11x60",
            _SETS % "a": "0+100x60",
            'memcached_commands_total{@a, command="set", status="hit"}': "0+100x60",
        },
        {"22m": [_PER_SET]},
    ),
    Case("it is idle", {_EVICTED: "9+0x60", _SETS % "a": "9+0x60"}, {"30m": []}),
)

CALCIFIED = (
    Case(
        "a class of one of two servers evicts, and others hold more than a twentieth of all pages",
        _pages(1, 0, "0+1x60")
        | _pages(2, 59, "7+0x60")
        | _pool(1)
        | _pages(1, 0, "0+1x60", "b")
        | _pages(2, 49, "7+0x60", "b")
        | _pool(0, "b"),
        {"9m": [], "15m": [_CALCIFIED]},
        (
            "15m",
            _CALCIFIED,
            (
                "memcached on WHO evicts items, while 5.941% of its memory pages lie"
                " idle in other slab classes or in the pool."
            ),
        ),
    ),
    Case(
        "at the boundary: 5 whole pages of 100",
        _pages(1, 0, "0+1x60") | _pages(2, 59, "7+0x60") | _pool(0),
        {"30m": []},
    ),
    Case(
        "what the class that evicts has free is its own",
        _pages(1, 300, "0+1x60") | _pages(2, 0, "7+0x60") | _pool(0),
        {"30m": []},
    ),
    Case(
        "nothing is evicted",
        _pages(1, 0, "9+0x60") | _pages(2, 400, "7+0x60") | _pool(9),
        {"30m": []},
    ),
    Case(
        "E10: evictions of half an hour ago",
        _pages(1, 0, "0+1x15 15+0x40") | _pages(2, 400, "7+0x60") | _pool(0),
        {"25m": [_CALCIFIED], "40m": []},
    ),
    Case(
        "all classes evict, and the pool has pages",
        _pages(1, 0, "0+1x60") | _pages(2, 0, "0+1x60") | _pool(6),
        {"15m": [_CALCIFIED]},
    ),
    Case(
        "an old server without a pool",
        _pages(1, 0, "0+1x60") | _pages(2, 60, "7+0x60"),
        {"15m": [_CALCIFIED]},
    ),
    Case("without the sections of slabs", _pool(30) | {_EVICTED: "0+1x60"}, {"30m": []}),
)

CASES = (*USEFUL, *EVICTIONS, *CALCIFIED)
