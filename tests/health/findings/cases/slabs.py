"""Cases of slab classes."""

from tests.health.findings.cases.shape import FULL, INFO, MIB, WARNING, Case, slabs

CASES = (
    Case(
        "slabs_calcified",
        WARNING,
        "It evicts from 1 slab classes, while 6 of 100 memory pages lie idle (6 %).",
        {
            "slab_items_evicted_total": slabs(9, 0),
            "slab_current_pages": slabs(40, 59),
            "slab_global_page_pool": 1.0,
            "slab_chunks_free": slabs(999, 55),
            "slab_chunks_per_page": slabs(10, 10),
        },
        {"slab_chunks_free": slabs(999, 49)},
        grown=("slab_items_evicted_total",),
        remedy="slab_automove=1",
    ),
    Case(
        "slabs_calcified",
        WARNING,
        "It evicts from 1 slab classes, while 6 of 100 memory pages lie idle (6 %); moving them is"
        " off.",
        {
            "slab_items_evicted_total": slabs(9, 0),
            "slab_current_pages": slabs(40, 60),
            "slab_chunks_free": slabs(999, 60),
            "slab_chunks_per_page": slabs(10, 10),
            "settings_slab_automove_mode": 0.0,
        },
        {"slab_items_evicted_total": slabs(0, 0)},
        grown=("slab_items_evicted_total",),
        remedy="`slabs automove 1`",
    ),
    Case(
        "slabs_spread_thin",
        WARNING,
        "It evicted 9 items, though items take but 49 % of its memory: 20 pages are spread over 11"
        " slab classes.",
        {
            "items_evicted_total": 9.0,
            "current_bytes": 49 * MIB,
            "limit_bytes": 100 * MIB,
            "slab_current_pages": slabs(10, *[1] * 10, 0),
        },
        {"current_bytes": 50 * MIB},
        grown=("items_evicted_total",),
        remedy="-f 1.25",
    ),
    Case(
        "crawler_off",
        INFO,
        "It evicted 9 items, and nothing looks for those that have expired (lru_crawler is off).",
        {"items_evicted_total": 9.0, "lru_crawler_enabled": 0.0},
        {"lru_crawler_enabled": 1.0},
        grown=("items_evicted_total",),
        remedy="`lru_crawler enable`",
    ),
    Case(
        "slab_waste",
        INFO,
        "21 % of the memory of its items is lost to chunks larger than they (growth factor 1.25).",
        {
            "slab_chunk_size_bytes": slabs(100),
            "slab_chunks_used": slabs(100),
            "slab_mem_requested_bytes": slabs(7900),
            "settings_growth_factor": 1.25,
            **FULL,
        },
        {"slab_mem_requested_bytes": slabs(8000)},
        remedy="-f 1.08",
    ),
)
