"""What the exporter says of itself, beside prometheus-client's process and Python metrics."""

from exporter.catalogue.row import Kind, Row, Section, counter, gauge

EXPORTER = Section(
    name="exporter",
    command="",
    rows=(
        gauge(
            "build_info",
            "memcached_exporter_build_info",
            "The exporter's version and the Python that runs it; the value is always 1.",
            dynamic=("version", "python_version"),
        ),
        gauge(
            "config_reload_successful",
            "memcached_exporter_config_last_reload_successful",
            "Whether the last attempt to load the configuration succeeded (1) or not (0).",
        ),
        gauge(
            "config_reload_time",
            "memcached_exporter_config_last_reload_success_timestamp_seconds",
            "When the configuration was last loaded with success, in Unix seconds.",
        ),
        gauge(
            "web_reload_successful",
            "memcached_exporter_web_config_last_reload_successful",
            "Whether the web configuration file was good when it was last read (1) or not (0), in"
            " which case the settings of before are in force; 1 without such a file.",
        ),
        gauge(
            "discovery_servers",
            "memcached_exporter_discovery_servers",
            "Servers that a source lists; the list in the configuration is the source `static`.",
            dynamic=("source",),
        ),
        gauge(
            "discovery_time",
            "memcached_exporter_discovery_last_success_timestamp_seconds",
            "When a source of servers was last read with success, in Unix seconds; 0 for never.",
            dynamic=("source",),
        ),
        counter(
            "discovery_failures",
            "memcached_exporter_discovery_failures_total",
            "Looks at a source of servers that failed, all or in part: what it listed before"
            " stays.",
            dynamic=("source",),
        ),
        counter(
            "scrape_errors",
            "memcached_exporter_scrape_errors_total",
            "Scrapes of a memcached server that failed, by reason.",
            dynamic=("reason",),
        ),
        Row(
            key="pages",
            name="memcached_exporter_page_duration_seconds",
            kind=Kind.SUMMARY,
            help="Time that pages took to make, waiting for memcached included, in seconds.",
            dynamic=("path",),
        ),
        Row(
            key="probes",
            name="memcached_probe_duration_seconds",
            kind=Kind.HISTOGRAM,
            help="Round trips of the prober to a server, in seconds: `noop` is a command that needs"
            " no work, `get` reads the canary key.",
            dynamic=("operation", "server"),
            note="Only with `probe` in the module. On /metrics, also when the server itself is read"
            " through /scrape.",
        ),
        counter(
            "probe_failures",
            "memcached_probe_failures_total",
            "Probes that a server did not answer in time or at all.",
            dynamic=("operation", "server"),
            note="Only with `probe` in the module.",
        ),
    ),
)
