"""Rows of the board of a server: errors, background threads, external storage, proxy."""

from grafana.source.expressions import SERVER_NAME, rate
from grafana.source.shape import NEVER, Panel, Query, Section, above, below


def _gauge(name: str, word: str = "") -> Query:
    return Query(f"max by ($by) ({name}{{$on}})", f"{SERVER_NAME} {word}".rstrip())


def _rate(name: str, word: str = "") -> Query:
    return Query(rate(name), f"{SERVER_NAME} {word}".rstrip())


ERRORS = Section(
    "Errors",
    (
        Panel(
            title="Memory that could not be had",
            text="Times a second that the server got no memory for a connection, a buffer or a"
            " response, and closed the connection. The host or its control group is out of memory,"
            " or read_buf_mem_limit is too low.",
            unit="ops",
            queries=(
                _rate("memcached_malloc_fails_total", "from the system"),
                _rate("memcached_read_buffer_oom_total", "read buffer"),
                _rate("memcached_response_object_oom_total", "response"),
            ),
            steps=NEVER,
            runbooks=("MemcachedAllocationsFailing",),
        ),
        Panel(
            title="Logins and TLS that fail",
            text="Failed logins, TLS handshakes and TLS errors a second. A steady rate is a client"
            " with a wrong password, or one that speaks no TLS.",
            unit="ops",
            queries=(
                _rate("memcached_auth_errors_total", "logins"),
                _rate("memcached_ssl_handshake_errors_total", "TLS handshakes"),
                _rate("memcached_ssl_protocol_errors_total", "TLS protocol"),
            ),
        ),
        Panel(
            title="Sections that could not be read",
            text="1 for a part of the statistics that the exporter asked for and could not read:"
            " its metrics are missing. The exporter's log has the reason.",
            unit="bool",
            queries=(
                Query(
                    "max by ($by, section) (memcached_scrape_section_success{$on} == bool 0)",
                    f"{SERVER_NAME} {{{{section}}}}",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedSectionFailing", "MemcachedMalformedValues"),
        ),
        Panel(
            title="Certificates that end",
            text="Days until the certificate that a server presents ends. Renew it before the line;"
            " the command `refresh_certs` makes memcached load the new file. Only with TLS.",
            unit="d",
            queries=(
                Query(
                    "min by ($by) ((memcached_tls_certificate_not_after_timestamp_seconds{$on}"
                    " - time()) / 86400)",
                    SERVER_NAME,
                ),
            ),
            steps=below("certificate_days_critical", "certificate_days"),
            runbooks=("MemcachedCertificateExpiring",),
        ),
        Panel(
            title="Log lines lost",
            text="Log lines a second that were lost, or that a watching client was too slow for."
            " They say nothing about items, only about who watches.",
            unit="ops",
            queries=(
                _rate("memcached_log_worker_dropped_total", "lost"),
                _rate("memcached_log_watcher_skipped_total", "skipped"),
            ),
        ),
        Panel(
            title="Commands that clear all",
            text="Flushes a second: each makes all items invalid at once. The hit rate falls, as"
            " after a restart; find the client that sends them, or turn them off (-F).",
            unit="ops",
            queries=(
                Query(
                    rate("memcached_commands_total", ', command="flush", status="attempt"'),
                    SERVER_NAME,
                ),
            ),
            runbooks=("MemcachedHitRateFell",),
        ),
    ),
)

BACKGROUND = Section(
    "Item lists and page mover",
    (
        Panel(
            title="Items moved between lists",
            text="Items a second that went to the cold list, back to the warm one, or to the head"
            " of their list. Many to warm: items are wanted that were about to go.",
            unit="ops",
            queries=(
                _rate("memcached_lru_crawler_moves_to_cold_total", "to cold"),
                _rate("memcached_lru_crawler_moves_to_warm_total", "to warm"),
                _rate("memcached_lru_crawler_moves_within_lru_total", "within a list"),
            ),
        ),
        Panel(
            title="Memory regained",
            text="Items a second whose memory was used again: expired ones met when memory was"
            " needed, those that the crawler freed, and direct reclaims, for which a client had to"
            " wait. Direct reclaims mean that the background threads do not keep up.",
            unit="ops",
            queries=(
                _rate("memcached_items_reclaimed_total", "expired met"),
                _rate("memcached_lru_crawler_reclaimed_total", "by the crawler"),
                _rate("memcached_direct_reclaims_total", "direct"),
            ),
        ),
        Panel(
            title="Expired items never read",
            text="Items a second that expired without having been read once. Many: the cache holds"
            " what nobody asks for.",
            unit="ops",
            queries=(_rate("memcached_items_expired_unfetched_total"),),
        ),
        Panel(
            title="Crawler",
            text="Items a second that the crawler looked at in search of expired ones. None for"
            " hours: it is off, and expired items keep their memory until somebody asks.",
            unit="ops",
            queries=(_rate("memcached_lru_crawler_items_checked_total", "items looked at"),),
        ),
        Panel(
            title="Pages moved",
            text="Memory pages a second that went to another slab class, and times that a move had"
            " to wait. Moves without end: item sizes change all the time.",
            unit="ops",
            queries=(
                _rate("memcached_slab_pages_moved_total", "pages"),
                _rate("memcached_slab_reassign_busy_items_total", "waits for an item"),
            ),
        ),
        Panel(
            title="List updates lost",
            text="Reads a second whose effect on the order of items was dropped. Harmless in small"
            " numbers; many mean more load than the background threads can follow.",
            unit="ops",
            queries=(_rate("memcached_lru_bumps_dropped_total"),),
        ),
    ),
    folded=True,
)

EXTSTORE = Section(
    "External storage (no data where it is not used)",
    (
        Panel(
            title="Storage used",
            text="Bytes of live items, bytes of dead ones on used pages, and the limit. At the"
            " limit pages with live items are dropped.",
            unit="bytes",
            queries=(
                _gauge("memcached_extstore_bytes_used", "live"),
                _gauge("memcached_extstore_bytes_fragmented", "dead"),
                _gauge("memcached_extstore_bytes_limit", "limit"),
            ),
        ),
        Panel(
            title="Storage queue",
            text="Reads and writes that wait for the storage. Above the line the device does not"
            " keep up, and gets wait for it.",
            queries=(_gauge("memcached_extstore_io_queue_depth"),),
            steps=above("extstore_queue"),
            runbooks=("MemcachedExtstoreBacklog",),
        ),
        Panel(
            title="Storage reads that fail",
            text="Reads a second that failed: damaged, given up, or without memory; and values that"
            " were gone. Damaged ones are a bad device.",
            unit="ops",
            queries=(
                _rate("memcached_extstore_badcrc_total", "damaged"),
                _rate("memcached_extstore_gets_aborted_total", "given up"),
                _rate("memcached_extstore_gets_oom_total", "no memory"),
                _rate("memcached_extstore_misses_total", "gone"),
            ),
            runbooks=("MemcachedExtstoreErrors",),
        ),
        Panel(
            title="Storage traffic",
            text="Bytes a second read from and written to the storage. Much more written than read:"
            " it wears the device for little use.",
            unit="Bps",
            queries=(
                _rate("memcached_extstore_bytes_read_total", "read"),
                _rate("memcached_extstore_bytes_written_total", "written"),
            ),
        ),
        Panel(
            title="Storage evictions",
            text="Items a second that were lost with a dropped page, and lost or given up by"
            " compaction. They are not among the evictions from memory.",
            unit="ops",
            queries=(
                _rate("memcached_extstore_objects_evicted_total", "page dropped"),
                _rate("memcached_extstore_compact_lost_total", "lost by compaction"),
                _rate("memcached_extstore_compact_skipped_total", "given up"),
            ),
        ),
        Panel(
            title="Storage pages",
            text="Pages of the storage that are free and in use. Free ones should never reach 0.",
            queries=(
                _gauge("memcached_extstore_pages_free", "free"),
                _gauge("memcached_extstore_pages_used", "used"),
            ),
            runbooks=("MemcachedExtstoreBacklog",),
        ),
    ),
    folded=True,
)

PROXY = Section(
    "Proxy (no data where it is not used)",
    (
        Panel(
            title="Requests to the proxy",
            text="Requests a second from clients, and those that the proxy could not parse or had"
            " no memory for.",
            unit="reqps",
            queries=(
                _rate("memcached_proxy_conn_requests_total", "requests"),
                _rate("memcached_proxy_conn_errors_total", "not understood"),
                _rate("memcached_proxy_conn_oom_total", "no memory"),
            ),
        ),
        Panel(
            title="Backends that fail",
            text="Times a second that a backend failed or was taken out of use, and connections to"
            " backends that are marked bad now. The alert names the backend.",
            queries=(
                _rate("memcached_proxy_backend_failed_total", "failures a second"),
                _rate("memcached_proxy_backend_marked_bad_total", "taken out a second"),
                Query(
                    "sum by ($by, backend) (memcached_proxy_backend_bad_connections{$on})",
                    f"{SERVER_NAME} {{{{backend}}}} bad",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedProxyBackendsFailing",),
        ),
        Panel(
            title="Requests under way",
            text="Requests that the proxy works on now. A rise without more requests: a backend has"
            " become slow.",
            queries=(_gauge("memcached_proxy_req_active"),),
        ),
    ),
    folded=True,
)
