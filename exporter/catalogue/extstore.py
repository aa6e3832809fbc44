"""Rows of `stats` and `stats settings` about extstore, the external storage of values on disk.

The keys of `stats` are sent only by a server that was started with ext_path, the settings by every
server that was built with extstore. `stats reset` does not zero the counters of pages, objects and
bytes.
"""

from exporter.catalogue.row import Row, Scale, counter, gauge

EXTSTORE: tuple[Row, ...] = (
    # Reads
    counter(
        "get_extstore",
        "memcached_extstore_gets_total",
        "Gets that had to read the value from the external storage.",
        since="1.5.4",
        note="They count as hits of get, also when the value then turns out to be missing.",
    ),
    counter(
        "get_aborted_extstore",
        "memcached_extstore_gets_aborted_total",
        "Gets that were given up before the value was read from the external storage.",
        since="1.5.9",
    ),
    counter(
        "get_oom_extstore",
        "memcached_extstore_gets_oom_total",
        "Gets that failed because no memory was left to read the value from the external storage.",
        since="1.5.9",
    ),
    counter(
        "recache_from_extstore",
        "memcached_extstore_recaches_total",
        "Values that were put back into memory after reads from the external storage.",
        since="1.5.4",
    ),
    counter(
        "miss_from_extstore",
        "memcached_extstore_misses_total",
        "Gets whose value was no longer in the external storage when it was to be read.",
        since="1.5.4",
        note="Counted as hits of get first, so that the true number of hits is lower by this.",
    ),
    counter(
        "badcrc_from_extstore",
        "memcached_extstore_badcrc_total",
        "Values read from the external storage that were damaged, as their checksum was wrong.",
        since="1.5.4",
    ),
    gauge(
        "extstore_io_queue",
        "memcached_extstore_io_queue_depth",
        "Reads and writes that wait for the external storage.",
        since="1.5.11",
    ),
    gauge(
        "extstore_memory_pressure",
        "memcached_extstore_memory_pressure_ratio",
        "Pressure on memory as the server rates it for its external storage, from 0 to 1.",
        since="1.6.34",
        scale=Scale.PERCENT,
    ),
    # Compaction
    counter(
        "extstore_compact_lost",
        "memcached_extstore_compact_lost_total",
        "Items lost by the compaction of external storage because they were in use.",
        since="1.5.4",
    ),
    counter(
        "extstore_compact_rescues",
        "memcached_extstore_compact_rescued_total",
        "Items that the compaction of external storage wrote to a new page.",
        since="1.5.4",
    ),
    counter(
        "extstore_compact_resc_cold",
        "memcached_extstore_compact_rescued_cold_total",
        "Items that the compaction of external storage wrote to a page for items nobody reads.",
        since="1.6.25",
    ),
    counter(
        "extstore_compact_resc_old",
        "memcached_extstore_compact_rescued_old_total",
        "Items that the compaction of external storage wrote to a page for old items.",
        since="1.6.25",
    ),
    counter(
        "extstore_compact_skipped",
        "memcached_extstore_compact_skipped_total",
        "Items that the compaction of external storage gave up because nobody had read them.",
        since="1.5.4",
    ),
    # Pages
    counter(
        "extstore_page_allocs",
        "memcached_extstore_pages_allocated_total",
        "Pages of external storage that were taken into use.",
        since="1.5.4",
    ),
    counter(
        "extstore_page_evictions",
        "memcached_extstore_pages_evicted_total",
        "Pages of external storage that were dropped with live items to make room.",
        since="1.5.4",
    ),
    counter(
        "extstore_page_reclaims",
        "memcached_extstore_pages_reclaimed_total",
        "Pages of external storage that were freed for new use.",
        since="1.5.4",
    ),
    gauge(
        "extstore_pages_free",
        "memcached_extstore_pages_free",
        "Pages of external storage that are free.",
        since="1.5.4",
    ),
    gauge(
        "extstore_pages_used",
        "memcached_extstore_pages_used",
        "Pages of external storage that are in use.",
        since="1.5.4",
    ),
    # Objects and bytes
    counter(
        "extstore_objects_evicted",
        "memcached_extstore_objects_evicted_total",
        "Items that were lost from external storage because their page was dropped.",
        since="1.5.4",
        note="Not included in memcached_items_evicted_total.",
    ),
    counter(
        "extstore_objects_read",
        "memcached_extstore_objects_read_total",
        "Items that were read from external storage.",
        since="1.5.4",
    ),
    counter(
        "extstore_objects_written",
        "memcached_extstore_objects_written_total",
        "Items that were written to external storage.",
        since="1.5.4",
    ),
    gauge(
        "extstore_objects_used",
        "memcached_extstore_objects_used",
        "Items that are in external storage now.",
        since="1.5.4",
    ),
    counter(
        "extstore_bytes_evicted",
        "memcached_extstore_bytes_evicted_total",
        "Bytes of items that were lost from external storage because their page was dropped.",
        since="1.5.4",
    ),
    counter(
        "extstore_bytes_read",
        "memcached_extstore_bytes_read_total",
        "Bytes that were read from external storage.",
        since="1.5.4",
    ),
    counter(
        "extstore_bytes_written",
        "memcached_extstore_bytes_written_total",
        "Bytes that were written to external storage.",
        since="1.5.4",
    ),
    gauge(
        "extstore_bytes_used",
        "memcached_extstore_bytes_used",
        "Bytes of external storage that hold live items.",
        since="1.5.4",
    ),
    gauge(
        "extstore_bytes_fragmented",
        "memcached_extstore_bytes_fragmented",
        "Bytes of the external storage's pages in use that hold no live item.",
        since="1.5.4",
    ),
    gauge(
        "extstore_limit_maxbytes",
        "memcached_extstore_bytes_limit",
        "Bytes that the external storage may hold at most.",
        since="1.5.4",
    ),
)

EXTSTORE_SETTINGS: tuple[Row, ...] = (
    gauge(
        "ext_item_size",
        "memcached_settings_extstore_item_size_bytes",
        "Size in bytes from which on an item may move to external storage.",
        since="1.5.4",
    ),
    gauge(
        "ext_item_age",
        "memcached_settings_extstore_item_age_seconds",
        "Seconds that an item must be idle before it moves to external storage whatever is free.",
        since="1.5.4",
        absent=("4294967295",),
        note="Absent when no age is set.",
    ),
    gauge(
        "ext_low_ttl",
        "memcached_settings_extstore_low_ttl_seconds",
        "Remaining lifetime in seconds below which items go to external pages of their own.",
        since="1.5.4",
    ),
    gauge(
        "ext_recache_rate",
        "memcached_settings_extstore_recache_rate",
        "One in this many reads of busy items from external storage puts the value back in memory.",
        since="1.5.4",
    ),
    gauge(
        "ext_wbuf_size",
        "memcached_settings_extstore_write_buffer_bytes",
        "Bytes of the buffer that collects items before they are written to external storage.",
        since="1.5.4",
    ),
    gauge(
        "ext_compact_under",
        "memcached_settings_extstore_compact_under_pages",
        "Number of free pages of external storage below which compaction starts.",
        since="1.5.4",
    ),
    gauge(
        "ext_drop_under",
        "memcached_settings_extstore_drop_under_pages",
        "Number of free pages of external storage below which items that are not read are dropped.",
        since="1.5.4",
    ),
    gauge(
        "ext_max_sleep",
        "memcached_settings_extstore_max_sleep_seconds",
        "Longest pause in seconds of the threads that write to and compact external storage.",
        since="1.6.15",
        scale=Scale.MICROSECONDS,
    ),
    gauge(
        "ext_max_frag",
        "memcached_settings_extstore_max_fragmentation_ratio",
        "Share of a page, from 0 to 1, that bounds the waste which compaction lets stand.",
        since="1.5.4",
    ),
    gauge(
        "ext_drop_unread",
        "memcached_settings_extstore_drop_unread_enabled",
        "1 if compaction may drop items that nobody has read, 0 if not.",
        since="1.5.4",
        scale=Scale.BOOLEAN,
    ),
)
