"""The reply to `stats items`: items per slab class, how old they are and how they leave.

A class without items is left out of the reply, and comes back later with its old counters: sums
over the classes are no substitute for the totals of `stats`.
"""

from exporter.catalogue.row import Row, Section, counter, gauge

MEM_REQUESTED = "memcached_slab_mem_requested_bytes"
MEM_REQUESTED_HELP = (
    "Bytes that the items of the slab class really need, without the unused rests of their chunks."
)

_LRU_HITS = "memcached_slab_lru_hits_total"
_LRU_HITS_HELP = "Keys of the slab class that a get found, by the list that held the item."

_ROWS: tuple[Row, ...] = (
    # Number of items, their age and size
    gauge(
        "number",
        "memcached_slab_current_items",
        "Items of the slab class that are stored now.",
        since="1.2.0",
        per_class=True,
        note="Includes expired items that were not yet removed.",
    ),
    gauge(
        "number_hot",
        "memcached_slab_hot_items",
        "Items of the slab class in its hot list, which holds new items.",
        since="1.4.23",
        per_class=True,
    ),
    gauge(
        "number_warm",
        "memcached_slab_warm_items",
        "Items of the slab class in its warm list, which holds items that are read often.",
        since="1.4.23",
        per_class=True,
    ),
    gauge(
        "number_cold",
        "memcached_slab_cold_items",
        "Items of the slab class in its cold list, from which items are evicted.",
        since="1.4.23",
        per_class=True,
    ),
    gauge(
        "number_temp",
        "memcached_slab_temporary_items",
        "Items of the slab class in its temporary list, which holds items with a short lifetime.",
        since="1.4.35",
        per_class=True,
        note="Sent only with temp_lru.",
    ),
    gauge(
        "number_noexp",
        "memcached_slab_noexp_items",
        "Items of the slab class in its list of items that never expire.",
        since="1.4.23",
        until="1.4.34",
        per_class=True,
    ),
    gauge(
        "age_hot",
        "memcached_slab_hot_age_seconds",
        "Seconds since the last access to the item at the end of the hot list.",
        since="1.4.35",
        per_class=True,
    ),
    gauge(
        "age_warm",
        "memcached_slab_warm_age_seconds",
        "Seconds since the last access to the item at the end of the warm list.",
        since="1.4.35",
        per_class=True,
    ),
    gauge(
        "age",
        "memcached_slab_items_age_seconds",
        "Seconds since the last access to the item that would be evicted next.",
        since="1.2.0",
        per_class=True,
        note="0 when the list is empty. May jump to the uptime for one scrape while the crawler "
        "starts. Without segmented lists an access counts only once a minute.",
    ),
    gauge(
        "mem_requested",
        MEM_REQUESTED,
        MEM_REQUESTED_HELP,
        since="1.5.17",
        per_class=True,
        note="Large items count wholly in the class of their largest chunk, so it can exceed the "
        "memory of that class.",
    ),
    # Items that left before their time
    counter(
        "evicted",
        "memcached_slab_items_evicted_total",
        "Valid items of the slab class that were removed to free memory for new ones.",
        since="1.2.5",
        per_class=True,
    ),
    counter(
        "evicted_nonzero",
        "memcached_slab_items_evicted_nonzero_total",
        "Evicted items of the slab class that had an expiry time.",
        since="1.4.2",
        per_class=True,
    ),
    gauge(
        "evicted_time",
        "memcached_slab_items_evicted_time_seconds",
        "Seconds for which the item that was evicted last had not been accessed.",
        since="1.2.7",
        per_class=True,
        note="0 means evicted right after use, or nothing evicted yet.",
    ),
    counter(
        "evicted_unfetched",
        "memcached_slab_items_evicted_unfetched_total",
        "Evicted items of the slab class that nobody had read since they were stored.",
        since="1.4.8",
        per_class=True,
    ),
    counter(
        "evicted_active",
        "memcached_slab_items_evicted_active_total",
        "Evicted items of the slab class that had been read shortly before.",
        since="1.4.34",
        per_class=True,
    ),
    counter(
        "outofmemory",
        "memcached_slab_items_outofmemory_total",
        "Times that no memory could be found for a new item of the slab class.",
        since="1.2.5",
        per_class=True,
        note="Happens when evictions are disabled or when nothing could be evicted.",
    ),
    counter(
        "direct_reclaims",
        "memcached_slab_items_direct_reclaims_total",
        "Times that a worker thread itself had to free memory for an item of the slab class.",
        since="1.4.23",
        per_class=True,
    ),
    # Items that left because they had expired
    counter(
        "reclaimed",
        "memcached_slab_items_reclaimed_total",
        "Expired or flushed items of the slab class whose memory was reused for new items.",
        since="1.4.5",
        per_class=True,
    ),
    counter(
        "expired_unfetched",
        "memcached_slab_items_expired_unfetched_total",
        "Expired items of the slab class that nobody had read since they were stored.",
        since="1.4.8",
        per_class=True,
    ),
    counter(
        "crawler_reclaimed",
        "memcached_slab_items_crawler_reclaimed_total",
        "Items of the slab class that the crawler freed as they had expired or been flushed.",
        since="1.4.18",
        per_class=True,
    ),
    counter(
        "crawler_items_checked",
        "memcached_slab_items_crawler_checked_total",
        "Items of the slab class that the crawler looked at.",
        since="1.4.23",
        per_class=True,
    ),
    # The lists
    counter(
        "tailrepairs",
        "memcached_slab_items_tailrepairs_total",
        "Items of the slab class that were freed by force as they seemed to be in use for ever.",
        since="1.2.7",
        per_class=True,
        note="Moves only with tail_repair_time.",
    ),
    counter(
        "lrutail_reflocked",
        "memcached_slab_items_lru_tail_reflocked_total",
        "Times that the item at the end of a list of the slab class was in use and had to stay.",
        since="1.4.21",
        per_class=True,
    ),
    counter(
        "moves_to_cold",
        "memcached_slab_items_moves_to_cold_total",
        "Items of the slab class that were moved from the hot or warm list to the cold list.",
        since="1.4.23",
        per_class=True,
    ),
    counter(
        "moves_to_warm",
        "memcached_slab_items_moves_to_warm_total",
        "Items of the slab class moved from the cold to the warm list after they were read again.",
        since="1.4.23",
        per_class=True,
    ),
    counter(
        "moves_within_lru",
        "memcached_slab_items_moves_within_lru_total",
        "Items of the slab class moved to the head of their list after they were read again.",
        since="1.4.23",
        per_class=True,
    ),
    counter("hits_to_hot", _LRU_HITS, _LRU_HITS_HELP, since="1.4.37", per_class=True, lru="hot"),
    counter("hits_to_warm", _LRU_HITS, _LRU_HITS_HELP, since="1.4.37", per_class=True, lru="warm"),
    counter("hits_to_cold", _LRU_HITS, _LRU_HITS_HELP, since="1.4.37", per_class=True, lru="cold"),
    counter(
        "hits_to_temp",
        _LRU_HITS,
        _LRU_HITS_HELP,
        since="1.4.37",
        per_class=True,
        note="Sent also by servers that have no temporary list.",
        lru="temporary",
    ),
)

ITEMS = Section(name="items", command="stats items", class_prefix="items:", rows=_ROWS)
