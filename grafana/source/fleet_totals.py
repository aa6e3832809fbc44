"""Rows of the board of all servers: sums over time, and how the exporters do."""

from grafana.source.expressions import COMMANDS, EVICTIONS, GETS, HITS, SERVER_NAME, rate, total
from grafana.source.shape import NEVER, Panel, Query, Section, below

_INSTANCE = "{{instance}}"

TOTALS = Section(
    "All chosen servers together",
    (
        Panel(
            title="Commands by job",
            text="Commands a second by job. A fall on all servers at once is the clients or the"
            " network.",
            unit="ops",
            stack=True,
            queries=(Query(f"sum by (job) ({COMMANDS})", "{{job}}"),),
            runbooks=("MemcachedThroughputFell",),
        ),
        Panel(
            title="Hit rate by job",
            text="Keys that gets found, to all they asked for, by job. A server that is lost takes"
            " its keys with it: the rate falls and comes back as they are stored elsewhere.",
            unit="percentunit",
            highest=1,
            queries=(Query(f"sum by (job) ({HITS}) / (sum by (job) ({GETS}) > 0)", "{{job}}"),),
            steps=below("hit_rate.warning", "hit_rate.target"),
            runbooks=("MemcachedHitRateLow", "MemcachedHitRateBelowTarget", "MemcachedHitRateFell"),
        ),
        Panel(
            title="Evictions by job",
            text="Valid items a second that were thrown out to make room, by job.",
            unit="ops",
            stack=True,
            queries=(Query(f"sum by (job) ({EVICTIONS})", "{{job}}"),),
            runbooks=("MemcachedEvictionsHigh",),
        ),
        Panel(
            title="Network traffic of all servers",
            text="Bytes a second that all chosen servers received and sent.",
            unit="Bps",
            queries=(
                Query(total(rate("memcached_read_bytes_total")), "received"),
                Query(total(rate("memcached_written_bytes_total")), "sent"),
            ),
        ),
        Panel(
            title="Memory of all servers",
            text="Bytes of items, bytes taken for slab pages, and the limit, in sum over the"
            " chosen servers.",
            unit="bytes",
            queries=(
                Query("sum(memcached_current_bytes{$on})", "items"),
                Query("sum(memcached_malloced_bytes{$on})", "slab pages"),
                Query("sum(memcached_limit_bytes{$on})", "limit"),
            ),
            runbooks=("MemcachedMemoryHigh",),
        ),
        Panel(
            title="Connections by job",
            text="Connections open at all chosen servers, by job. Steps are deployments or restarts"
            " of clients.",
            stack=True,
            queries=(Query("sum by (job) (memcached_current_connections{$on})", "{{job}}"),),
            runbooks=("MemcachedConnectionsHigh",),
        ),
    ),
)

EXPORTER = Section(
    "Exporters",
    (
        Panel(
            title="Scrapes that fail",
            text="Scrapes of servers a second that failed, by reason. Timeouts of all servers at"
            " once are the network; connection_limit is a full server that refuses the exporter.",
            unit="ops",
            queries=(
                Query(
                    "sum by (job, instance, reason)"
                    " (rate(memcached_exporter_scrape_errors_total{$host}[$span]))",
                    f"{_INSTANCE} {{{{reason}}}}",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedDown", "MemcachedScrapeRefused"),
        ),
        Panel(
            title="Longest scrapes",
            text="Time that reading the slowest server of an exporter takes. It must stay well"
            " below Prometheus' scrape timeout.",
            unit="s",
            queries=(
                Query("max by (job, instance) (memcached_scrape_duration_seconds{$on})", _INSTANCE),
            ),
            runbooks=("MemcachedExporterDown",),
        ),
        Panel(
            title="Servers found",
            text="Servers that each source of an exporter lists. 0 of a source that is no file of"
            " your own is an outage of the source.",
            queries=(
                Query(
                    "max by (job, instance, source) (memcached_exporter_discovery_servers{$host})",
                    f"{_INSTANCE} {{{{source}}}}",
                ),
            ),
            runbooks=("MemcachedDiscoveryEmpty", "MemcachedDiscoveryFailing"),
        ),
        Panel(
            title="Configuration not loaded",
            text="1 for an exporter that could not load its main or its web configuration anew, and"
            " goes on with that of before. Its log names the place.",
            unit="bool",
            queries=(
                Query(
                    "max by (job, instance)"
                    " (memcached_exporter_config_last_reload_successful{$host} == bool 0)",
                    f"{_INSTANCE} main",
                ),
                Query(
                    "max by (job, instance)"
                    " (memcached_exporter_web_config_last_reload_successful{$host} == bool 0)",
                    f"{_INSTANCE} web",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedConfigReloadFailed",),
        ),
        Panel(
            title="Time to make a page",
            text="Mean time that an exporter takes for a page, waiting for memcached included. A"
            " rise with the number of servers: read them one by one through /sd.",
            unit="s",
            queries=(
                Query(
                    "sum by (job, instance, path)"
                    " (rate(memcached_exporter_page_duration_seconds_sum{$host}[$span]))"
                    " / "
                    "(sum by (job, instance, path)"
                    " (rate(memcached_exporter_page_duration_seconds_count{$host}[$span])) > 0)",
                    f"{_INSTANCE} {{{{path}}}}",
                ),
            ),
            runbooks=("MemcachedExporterDown",),
        ),
        Panel(
            title="Series left out",
            text="Series that exporters leave out since there are too many, and values of servers"
            " that are no numbers. 0 is right; otherwise metrics are missing from these boards.",
            queries=(
                Query(
                    "max by ($by) (memcached_exporter_series_dropped{$on})",
                    f"{SERVER_NAME} of the server",
                ),
                Query(
                    "sum by ($by) (memcached_process_series_dropped{$on})",
                    f"{SERVER_NAME} of the process",
                ),
                Query(
                    "sum by (job, instance) (memcached_host_series_dropped{$host})",
                    f"{_INSTANCE} of the host",
                ),
                Query(
                    "max by ($by) (memcached_exporter_malformed_values{$on})",
                    f"{SERVER_NAME} no numbers",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedSeriesDropped", "MemcachedMalformedValues"),
        ),
    ),
)
