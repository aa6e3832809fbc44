"""Rows of `stats` about memory: limit, items and how they leave, free pages, hash table."""

from exporter.catalogue.row import Row, Scale, counter, gauge

MEMORY: tuple[Row, ...] = (
    gauge(
        "limit_maxbytes",
        "memcached_limit_bytes",
        "Bytes of memory that the server may use to hold items.",
        since="1.2.0",
        absent=("-1",),
        note="Can be changed at run time. Bounds the slab pages only: the hash table, buffers and "
        "connections come on top. A bucket port of Couchbase sends a meaningless 64 MiB.",
    ),
    gauge(
        "bytes",
        "memcached_current_bytes",
        "Bytes of all stored items, that is of their keys, values and headers.",
        since="1.2.0",
        note="Levels off below memcached_limit_bytes on a full server, since unused rests of "
        "chunks are not included. Can exceed the limit when the limit is small, or with extstore, "
        "where values on disk are included.",
    ),
    gauge(
        "curr_items",
        "memcached_current_items",
        "Items that are stored now.",
        since="1.2.0",
        note="Includes expired items that were not yet removed.",
    ),
    counter(
        "total_items",
        "memcached_items_total",
        "Items that were stored.",
        since="1.2.0",
        note="With extstore it grows on its own, as moving a value to disk stores the item anew.",
    ),
    counter(
        "evictions",
        "memcached_items_evicted_total",
        "Valid items that were removed to free memory for new ones.",
        since="1.2.2",
        note="Items that the page mover or the external storage gives up are not included.",
    ),
    counter(
        "evicted_unfetched",
        "memcached_items_evicted_unfetched_total",
        "Evicted items that nobody had read since they were stored.",
        since="1.4.8",
    ),
    counter(
        "evicted_active",
        "memcached_items_evicted_active_total",
        "Evicted items that had been read shortly before.",
        since="1.4.34",
    ),
    counter(
        "reclaimed",
        "memcached_items_reclaimed_total",
        "Expired or flushed items whose memory was reused for new items.",
        since="1.4.5",
    ),
    counter(
        "expired_unfetched",
        "memcached_items_expired_unfetched_total",
        "Expired items that nobody had read since they were stored.",
        since="1.4.8",
    ),
    gauge(
        "slab_global_page_pool",
        "memcached_slab_global_page_pool",
        "Free slab pages in the pool that any slab class may take from.",
        since="1.4.25",
    ),
    gauge(
        "hash_power_level",
        "memcached_hash_power_level",
        "Size of the hash table as a power of two: the table has 2 to this power buckets.",
        since="1.4.8",
    ),
    gauge(
        "hash_bytes",
        "memcached_hash_bytes",
        "Bytes of memory that the hash table takes.",
        since="1.4.8",
        note="Not part of memcached_limit_bytes. Holds the old and the new table during growth.",
    ),
    gauge(
        "hash_is_expanding",
        "memcached_hash_is_expanding",
        "1 while the hash table is being moved to a larger one, 0 otherwise.",
        since="1.4.8",
        scale=Scale.BOOLEAN,
    ),
    counter(
        "malloc_fails",
        "memcached_malloc_fails_total",
        "Allocations of memory that the operating system refused.",
        since="1.4.16",
    ),
)
