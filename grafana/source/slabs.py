"""The board of slab classes: where the memory of a server is, and what each class throws out."""

from grafana.source.expressions import PAGES_IDLE, SERVER_NAME
from grafana.source.shape import NEVER, Board, Column, Kind, Panel, Query, Section, Step, above

_CLASS = f"{SERVER_NAME} class {{{{slab}}}}"
_AGE = (Step("orange", None), Step("green", "evictions.young"))


def _gauge(name: str) -> str:
    return f"max by ($by, slab) ({name}{{$on}})"


def _rate(name: str, matchers: str = "") -> str:
    return f"sum by ($by, slab) (rate({name}{{$on{matchers}}}[$span]))"


_EVICTED = _rate("memcached_slab_items_evicted_total")
_EVICTS_NOW = "increase(memcached_slab_items_evicted_total{$on}[15m]) > 0"
_EVICTED_AGE = f"""
min by ($by, slab) (memcached_slab_items_evicted_time_seconds{{$on}} and {_EVICTS_NOW})
"""
_USED = (
    "max by ($by, slab) (memcached_slab_chunks_used{$on}"
    " / (memcached_slab_current_chunks{$on} > 0))"
)
_WASTED = """
max by ($by, slab) (
  clamp_min(
    memcached_slab_chunks_used{$on} * memcached_slab_chunk_size_bytes{$on}
    - memcached_slab_mem_requested_bytes{$on},
    0
  )
)
"""
_FREE = """
max by ($by, slab) (memcached_slab_chunks_free{$on} * memcached_slab_chunk_size_bytes{$on})
"""
_HITS = _rate("memcached_slab_commands_total", ', command="get", status="hit"')
_SETS = _rate("memcached_slab_commands_total", ', command="set", status="attempt"')
_PAGES = _gauge("memcached_slab_current_pages")

CALCIFICATION = Section(
    "Calcification: memory stuck where nobody needs it",
    (
        Panel(
            title="Pages that lie idle",
            text="Slab pages that are free in classes which do not evict, or in the pool, to all"
            " pages. Above the line while the graph beside it shows evictions: memory is stuck in"
            " the wrong classes. Turn the page mover on (slab_automove=1), or restart the server.",
            unit="percentunit",
            highest=1,
            queries=(Query(PAGES_IDLE, SERVER_NAME),),
            steps=above("evictions.idle_pages"),
            runbooks=("MemcachedSlabCalcified",),
        ),
        Panel(
            title="Evictions by class",
            text="Valid items a second that each slab class threw out. A few classes that evict,"
            " with idle pages beside: calcified. All of them: the server is too small.",
            unit="ops",
            queries=(Query(_EVICTED, _CLASS),),
            runbooks=("MemcachedSlabCalcified", "MemcachedEvictionsHigh"),
        ),
        Panel(
            title="Pages by class",
            text="Memory pages (1 MiB, as a rule) that each slab class has. On a server whose"
            " memory is all taken, lines move only when the page mover works.",
            stack=True,
            queries=(Query(_PAGES, _CLASS),),
            runbooks=("MemcachedSlabCalcified",),
        ),
    ),
)

CLASSES = Section(
    "Classes",
    (
        Panel(
            kind=Kind.TABLE,
            title="Slab classes",
            text="One row per server and slab class, those that evict most first. Look for"
            " classes with many pages and low Chunks used: these hold what the evicting ones lack."
            " Wasted is the unused rest of chunks; much of it in a large class: a smaller growth"
            " factor (-f) fits your items better.",
            columns=(
                Column("Server", label="server", least=160),
                Column("Instance", label="instance", least=150),
                Column("Class", label="slab"),
                Column("Chunk size", _gauge("memcached_slab_chunk_size_bytes"), unit="bytes"),
                Column("Pages", _PAGES),
                Column("Chunks used", _USED, unit="percentunit"),
                Column("Items", _gauge("memcached_slab_current_items")),
                Column("Free", _FREE, unit="bytes"),
                Column("Wasted", _WASTED, unit="bytes"),
                Column("Hits", _HITS, unit="ops"),
                Column("Sets", _SETS, unit="ops"),
                Column("Evictions", _EVICTED, unit="ops", steps=above(1e-9)),
                Column("Age of evicted", _EVICTED_AGE, unit="s", steps=_AGE, least=115),
                Column("Oldest item", _gauge("memcached_slab_items_age_seconds"), unit="s"),
                Column("Job", label="job"),
            ),
            sorted_by="Evictions",
            highest_first=True,
            runbooks=("MemcachedSlabCalcified", "MemcachedEvictingUsedItems"),
            width=24,
            height=14,
        ),
    ),
)

BYTES = Section(
    "Bytes",
    (
        Panel(
            title="Bytes of items by class",
            text="Bytes that the items of each slab class need. Compare with pages: a class with"
            " pages and few bytes holds memory for nothing.",
            unit="bytes",
            stack=True,
            queries=(Query(_gauge("memcached_slab_mem_requested_bytes"), _CLASS),),
        ),
        Panel(
            title="Bytes free by class",
            text="Bytes of free chunks in each slab class. Only items of this size can use them,"
            " until the page mover takes whole pages away.",
            unit="bytes",
            stack=True,
            queries=(Query(_FREE, _CLASS),),
            runbooks=("MemcachedSlabCalcified",),
        ),
        Panel(
            title="Bytes wasted by class",
            text="Bytes of used chunks that their items do not fill. 10 % of the memory or so is"
            " the price of slab classes; more: try a smaller growth factor (-f).",
            unit="bytes",
            stack=True,
            queries=(Query(_WASTED, _CLASS),),
        ),
    ),
)

AGES = Section(
    "Ages, hits and refusals",
    (
        Panel(
            title="Age of evicted items by class",
            text="Seconds since the last use of the item that a slab class evicted last, for those"
            " that evict. Below the line items go that were in use. Very different ages: memory is"
            " unevenly spread.",
            unit="s",
            queries=(Query(_EVICTED_AGE, _CLASS),),
            steps=_AGE,
            runbooks=("MemcachedEvictingUsedItems",),
        ),
        Panel(
            title="Oldest item by class",
            text="Seconds since the last use of the item that a slab class would evict next. Ages"
            " far apart mean that one class keeps what nobody wants while another throws out what"
            " is needed.",
            unit="s",
            queries=(Query(_gauge("memcached_slab_items_age_seconds"), _CLASS),),
            runbooks=("MemcachedSlabCalcified",),
        ),
        Panel(
            title="Hits by class",
            text="Gets a second that found their key, by slab class. A class with hits and young"
            " evicted items is where more memory pays.",
            unit="ops",
            stack=True,
            queries=(Query(_HITS, _CLASS),),
        ),
        Panel(
            title="Sets by class",
            text="Stores a second by slab class. A class that is stored to and never read is a"
            " client that caches what nobody asks for.",
            unit="ops",
            stack=True,
            queries=(Query(_SETS, _CLASS),),
        ),
        Panel(
            title="Hits by list",
            text="Gets a second that found their key, by the list that held it, in sum over the"
            " chosen servers. Many in cold: items are wanted again just before they would go.",
            unit="ops",
            stack=True,
            queries=(
                Query(
                    "sum by (lru) (rate(memcached_slab_lru_hits_total{$on}[$span]))",
                    "{{lru}}",
                ),
            ),
        ),
        Panel(
            title="Items refused by class",
            text="Stores a second that failed as no memory could be found for the slab class. Each"
            " is an error at a client.",
            unit="ops",
            queries=(Query(_rate("memcached_slab_items_outofmemory_total"), _CLASS),),
            steps=NEVER,
            runbooks=("MemcachedOutOfMemory",),
        ),
    ),
)

SLABS = Board(
    uid="memcached-slabs",
    title="Memcached / Slabs",
    text="Where the memory of a server is, class by class, and what each class throws out.",
    sections=(CALCIFICATION, CLASSES, BYTES, AGES),
)
