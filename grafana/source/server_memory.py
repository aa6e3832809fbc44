"""Rows of the board of a server: memory, and what is thrown out of it."""

from grafana.source.expressions import (
    EVICTED_PER_SET,
    EVICTIONS,
    MEMORY_USED,
    PAGES_IDLE,
    SERVER_NAME,
    USEFUL_EVICTED,
    rate,
)
from grafana.source.shape import NEVER, Panel, Query, Section, Step, above, below


def _gauge(name: str, word: str) -> Query:
    return Query(f"max by ($by) ({name}{{$on}})", f"{SERVER_NAME} {word}".rstrip())


MEMORY = Section(
    "Memory",
    (
        Panel(
            title="Memory used by server",
            text="Items to the memory limit (-m). Levels off below 100 % on a full server, since"
            " rests of chunks are not in it, and can exceed it on a small one. Full is normal for a"
            " cache: see below what it evicts.",
            unit="percentunit",
            queries=(Query(MEMORY_USED, SERVER_NAME),),
            steps=above("memory"),
            runbooks=("MemcachedMemoryHigh", "MemcachedEvictingUsedItems"),
        ),
        Panel(
            title="Memory of items",
            text="Bytes of items, bytes taken for slab pages, and the limit. Pages far above items:"
            " memory lies in the wrong slab classes or in rests of chunks; see the board Slabs."
            " With external storage, items that lie there count as items, too.",
            unit="bytes",
            queries=(
                _gauge("memcached_current_bytes", "items"),
                _gauge("memcached_malloced_bytes", "slab pages"),
                _gauge("memcached_limit_bytes", "limit"),
            ),
            runbooks=("MemcachedSlabCalcified",),
        ),
        Panel(
            title="Memory of the process",
            text="What the process takes of RAM, and what is not in the limit for items: hash table"
            " and read buffers. RAM far above limit, hash table and buffers together is a leak or"
            " fragmentation. RAM only where the exporter may read the process.",
            unit="bytes",
            queries=(
                _gauge("memcached_process_resident_memory_bytes", "in RAM"),
                _gauge("memcached_hash_bytes", "hash table"),
                _gauge("memcached_read_buffer_bytes", "read buffers"),
                _gauge("memcached_limit_bytes", "limit for items"),
            ),
            runbooks=("MemcachedCgroupMemoryTight", "MemcachedSwapping"),
        ),
        Panel(
            title="Items",
            text="Items that are stored, expired ones included until they are found. A step to near"
            " zero is a restart; a flush leaves the number for a while.",
            queries=(_gauge("memcached_current_items", ""),),
            runbooks=("MemcachedRestarted",),
        ),
        Panel(
            title="Pages that lie idle",
            text="Slab pages that are free in classes which do not evict, or in the pool, to all"
            " pages. Above the threshold while other classes evict, memory is stuck where nobody"
            " needs it: see the board Slabs.",
            unit="percentunit",
            highest=1,
            queries=(Query(PAGES_IDLE, SERVER_NAME),),
            steps=above("evictions.idle_pages"),
            runbooks=("MemcachedSlabCalcified",),
        ),
        Panel(
            title="Hash table growing",
            text="1 while the hash table is moved to a larger one. It should take seconds to"
            " minutes; until then both take memory.",
            unit="bool",
            queries=(_gauge("memcached_hash_is_expanding", ""),),
            runbooks=("MemcachedHashExpansionSlow",),
        ),
    ),
)

EVICTED = Section(
    "Evictions",
    (
        Panel(
            title="Evictions",
            text="Valid items a second that were thrown out to make room. The line is the rate that"
            " adds up to the threshold of an hour.",
            unit="ops",
            queries=(Query(EVICTIONS, SERVER_NAME),),
            steps=(Step("green", None), Step("orange", "evictions.per_hour", 1 / 3600)),
            runbooks=("MemcachedEvictionsHigh",),
        ),
        Panel(
            title="Evictions per set by server",
            text="Evicted items to items stored. Near 100 % each new item costs an old one: give"
            " the server more memory, or its items a shorter life.",
            unit="percentunit",
            queries=(Query(EVICTED_PER_SET, SERVER_NAME),),
            steps=above("evictions.per_set"),
            runbooks=("MemcachedEvictionsPerSetHigh",),
        ),
        Panel(
            title="Evicted items of use",
            text="Evicted items that had been read shortly before or were never read at all, to all"
            " evicted ones. High: the cache is too small, as it throws out what clients want. No"
            " line means no evictions.",
            unit="percentunit",
            highest=1,
            queries=(Query(USEFUL_EVICTED, SERVER_NAME),),
            steps=above("evictions.useful"),
            runbooks=("MemcachedEvictingUsedItems",),
        ),
        Panel(
            title="Age of evicted items",
            text="Seconds since the last use of the item that was evicted last, in the slab class"
            " where that is shortest among those which evict now. Below the line items go that were"
            " in use. No line means no evictions.",
            unit="s",
            queries=(
                Query(
                    "min by ($by) (memcached_slab_items_evicted_time_seconds{$on}"
                    " and increase(memcached_slab_items_evicted_total{$on}[15m]) > 0)",
                    SERVER_NAME,
                ),
            ),
            steps=below("evictions.young"),
            runbooks=("MemcachedEvictingUsedItems",),
        ),
        Panel(
            title="Items refused",
            text="Stores a second that failed: no memory could be found (evictions off, or nothing"
            " to evict), or the item was larger than allowed (-I). Both are errors at clients.",
            unit="ops",
            queries=(
                Query(rate("memcached_item_no_memory_total"), f"{SERVER_NAME} no memory"),
                Query(
                    rate("memcached_slab_items_outofmemory_total"),
                    f"{SERVER_NAME} no memory in a class",
                ),
                Query(rate("memcached_item_too_large_total"), f"{SERVER_NAME} too large"),
            ),
            steps=NEVER,
            runbooks=("MemcachedOutOfMemory",),
        ),
        Panel(
            title="Items lost by moving pages",
            text="Valid items a second that were lost because their page was moved to another slab"
            " class. They are not among the evictions.",
            unit="ops",
            queries=(
                Query(
                    rate("memcached_slab_reassign_evictions_nomem_total"),
                    f"{SERVER_NAME} no room",
                ),
                Query(rate("memcached_slab_reassign_busy_deletes_total"), f"{SERVER_NAME} in use"),
            ),
            runbooks=("MemcachedSlabCalcified",),
        ),
    ),
)
