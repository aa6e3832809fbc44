"""What the exporter itself finds out about a server by reading it."""

from exporter.catalogue.row import Section, gauge

SCRAPE = Section(
    name="scrape",
    command="",
    rows=(
        gauge(
            "up",
            "memcached_up",
            "Whether the server answered `stats` within the deadline (1) or not (0).",
        ),
        gauge(
            "duration",
            "memcached_scrape_duration_seconds",
            "Time that reading this server took, connecting included, in seconds.",
        ),
        gauge(
            "ping",
            "memcached_ping_seconds",
            "Round trip of one command that needs no work (`version`) on the held connection, sent"
            " alone after the statistics, in seconds.",
        ),
        gauge(
            "section_success",
            "memcached_scrape_section_success",
            "Whether a section of the statistics was read (1) or failed (0); absent when the"
            " section was not asked for, is unknown to the server or would endanger it.",
        ),
        gauge(
            "start_time",
            "memcached_start_time_seconds",
            "When the server started, in Unix seconds, by its own clock: constant until it is"
            " restarted, also when its statistics are reset.",
            note="Computed as `time - uptime + 2`, since a server's uptime begins at 2.",
        ),
        gauge(
            "certificate",
            "memcached_tls_certificate_not_after_timestamp_seconds",
            "When the certificate that the server presented expires, in Unix seconds.",
            note="Only over TLS, and not with `insecure_skip_verify`, where it is not looked at.",
        ),
        gauge(
            "unknown",
            "memcached_exporter_unknown_stats",
            "Statistics in the last replies that this exporter does not know, as a newer memcached"
            " may send.",
        ),
        gauge(
            "dropped",
            "memcached_exporter_series_dropped",
            "Series left out of this scrape because a server chose too many names, of backends or"
            " functions of a proxy say.",
        ),
        gauge(
            "malformed",
            "memcached_exporter_malformed_values",
            "Values in the last replies that could not be numbers of their kind; their samples are"
            " left out.",
        ),
    ),
)
