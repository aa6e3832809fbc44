"""Rows of `stats` about background work: slab page mover, LRU threads, crawler, log watchers."""

from exporter.catalogue.row import Row, Scale, counter, gauge, text

BACKGROUND: tuple[Row, ...] = (
    # Slab page mover, sent only when slab_reassign is on (the default since 1.5.0)
    gauge(
        "slab_reassign_running",
        "memcached_slab_reassign_running",
        "1 while a memory page is being moved from one slab class to another, 0 otherwise.",
        since="1.4.11",
        scale=Scale.BOOLEAN,
    ),
    counter(
        "slabs_moved",
        "memcached_slab_pages_moved_total",
        "Memory pages that were moved from one slab class to another.",
        since="1.4.11",
    ),
    counter(
        "slab_reassign_rescues",
        "memcached_slab_reassign_rescues_total",
        "Items that were copied to safety before their memory page was moved.",
        since="1.4.25",
    ),
    counter(
        "slab_reassign_chunk_rescues",
        "memcached_slab_reassign_chunk_rescues_total",
        "Chunks of large items that were copied to safety before their memory page was moved.",
        since="1.4.29",
    ),
    counter(
        "slab_reassign_evictions_nomem",
        "memcached_slab_reassign_evictions_nomem_total",
        "Valid items lost by moving a memory page because there was no room to copy them to.",
        since="1.4.25",
        until="1.6.33",
        note="Not included in memcached_items_evicted_total.",
    ),
    counter(
        "slab_reassign_inline_reclaim",
        "memcached_slab_reassign_inline_reclaim_total",
        "Chunks of a page under way that were handed out as new memory and had to be taken back.",
        since="1.4.25",
    ),
    counter(
        "slab_reassign_busy_items",
        "memcached_slab_reassign_busy_items_total",
        "Times that moving a memory page had to wait for an item that was in use.",
        since="1.4.25",
    ),
    counter(
        "slab_reassign_busy_deletes",
        "memcached_slab_reassign_busy_deletes_total",
        "Items deleted because they stayed in use for too long while their page was to be moved.",
        since="1.4.38",
        note="Not included in memcached_items_evicted_total.",
    ),
    counter(
        "slab_reassign_busy_nomem",
        "memcached_slab_reassign_busy_nomem_total",
        "Times that moving a memory page had to wait for memory to copy an item to.",
        since="1.6.34",
    ),
    text(
        "slab_reassign_last_busy_status",
        "memcached_slab_reassign_last_busy_status_info",
        "What last held up the move of a memory page, as a label; the value is always 1.",
        label="status",
        since="1.6.40",
    ),
    # LRU
    gauge(
        "lru_crawler_running",
        "memcached_lru_crawler_running",
        "1 while the crawler searches the item lists for expired items, 0 otherwise.",
        since="1.4.18",
        scale=Scale.BOOLEAN,
        note="Sent only when the crawler is enabled.",
    ),
    counter(
        "lru_crawler_starts",
        "memcached_lru_crawler_starts_total",
        "Times that the crawler started to search the item lists for expired items.",
        since="1.4.23",
        note="Wraps to 0 at 4294967296, which looks like a restart of the counter.",
    ),
    counter(
        "crawler_reclaimed",
        "memcached_lru_crawler_reclaimed_total",
        "Items that the crawler freed because they had expired or been flushed.",
        since="1.4.18",
    ),
    counter(
        "crawler_items_checked",
        "memcached_lru_crawler_items_checked_total",
        "Items that the crawler looked at.",
        since="1.4.23",
    ),
    counter(
        "lru_maintainer_juggles",
        "memcached_lru_maintainer_juggles_total",
        "Rounds of the background thread that keeps the item lists in balance.",
        since="1.4.23",
        note="Grows by 150 to 1000 a second even on an idle server.",
    ),
    counter(
        "lrutail_reflocked",
        "memcached_lru_tail_reflocked_total",
        "Times that the item at the end of a list could not be removed because it was in use.",
        since="1.4.21",
    ),
    counter(
        "moves_to_cold",
        "memcached_lru_crawler_moves_to_cold_total",
        "Items that were moved from the hot or warm list to the cold list.",
        since="1.4.23",
        note="The LRU maintainer thread does this; `crawler` stands in the name for compatibility.",
    ),
    counter(
        "moves_to_warm",
        "memcached_lru_crawler_moves_to_warm_total",
        "Items that were moved from the cold list to the warm list after they were read again.",
        since="1.4.23",
        note="The LRU maintainer thread does this; `crawler` stands in the name for compatibility.",
    ),
    counter(
        "moves_within_lru",
        "memcached_lru_crawler_moves_within_lru_total",
        "Items that were moved to the head of the hot or warm list after they were read again.",
        since="1.4.23",
        note="The LRU maintainer thread does this; `crawler` stands in the name for compatibility.",
    ),
    counter(
        "direct_reclaims",
        "memcached_direct_reclaims_total",
        "Times that a worker thread itself had to free memory before it could store an item.",
        since="1.4.23",
        note="A sign that the background threads do not keep up; such writes take longer.",
    ),
    counter(
        "lru_bumps_dropped",
        "memcached_lru_bumps_dropped_total",
        "Reads whose effect on the order of the items was dropped because a queue was full.",
        since="1.4.35",
        note="Not zeroed by `stats reset`.",
    ),
    # Log watchers
    gauge(
        "log_watchers",
        "memcached_log_watchers",
        "Clients that watch the log of the server.",
        since="1.6.11",
    ),
    counter(
        "log_worker_dropped",
        "memcached_log_worker_dropped_total",
        "Log lines that were lost because the buffer of a worker thread was full.",
        since="1.4.26",
    ),
    counter(
        "log_worker_written",
        "memcached_log_worker_written_total",
        "Log lines that worker threads wrote to their buffers.",
        since="1.4.26",
    ),
    counter(
        "log_watcher_skipped",
        "memcached_log_watcher_skipped_total",
        "Log lines that were not sent to a watching client because it read too slowly.",
        since="1.4.26",
    ),
    counter(
        "log_watcher_sent",
        "memcached_log_watcher_sent_total",
        "Log lines that were sent to watching clients.",
        since="1.4.26",
    ),
)
