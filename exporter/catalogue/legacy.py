"""Names of the official exporter that are wrong, for `metrics.legacy_names`.

A gauge with a counter's ending, a counter without it, percent and microseconds, a version as a
gauge: dashboards that use them keep working until they are changed. OpenMetrics cannot say some of
them beside the right names, so pages with them are in the text format.
"""

from exporter.catalogue.row import Kind, Row, Scale

LEGACY: dict[str, tuple[Row, ...]] = {
    "stats": (
        Row(
            key="version",
            name="memcached_version",
            kind=Kind.GAUGE,
            help="Legacy: use memcached_version_info.",
            scale=Scale.TEXT,
            label="version",
        ),
        Row(
            key="cmd_flush",
            name="memcached_commands_total",
            kind=Kind.COUNTER,
            help="",
            labels=(("command", "flush"), ("status", "hit")),
        ),
        Row(
            key="proxy_backend_failed",
            name="memcached_proxy_backend_failed",
            kind=Kind.GAUGE,
            help="Legacy: use memcached_proxy_backend_failed_total.",
        ),
        Row(
            key="proxy_backend_total",
            name="memcached_proxy_backend_total",
            kind=Kind.GAUGE,
            help="Legacy: use memcached_proxy_backends.",
        ),
    ),
    "settings": (
        Row(
            key="lru_crawler_sleep",
            name="memcached_lru_crawler_sleep",
            kind=Kind.GAUGE,
            help="Legacy, in microseconds: use memcached_lru_crawler_sleep_seconds.",
        ),
        Row(
            key="hot_lru_pct",
            name="memcached_lru_crawler_hot_percent",
            kind=Kind.GAUGE,
            help="Legacy, in percent: use memcached_lru_hot_ratio.",
        ),
        Row(
            key="warm_lru_pct",
            name="memcached_lru_crawler_warm_percent",
            kind=Kind.GAUGE,
            help="Legacy, in percent: use memcached_lru_warm_ratio.",
        ),
    ),
    "items": tuple(
        Row(
            key=key,
            name=f"memcached_slab_items_{key}",
            kind=Kind.UNKNOWN,
            help=f"Legacy: use memcached_slab_items_{key}_total.",
            per_class=True,
        )
        for key in ("moves_to_cold", "moves_to_warm", "moves_within_lru")
    ),
}
"""Section name to the rows that are added. Rows of right families take the family's own help."""

DERIVED = (
    ("memcached_commands_total", ("hit", "miss", "badval")),
    ("memcached_slab_commands_total", ("hit", "badval")),
)
"""Families in which the official exporter computes {command="set",status="hit"} from the attempts
less these outcomes of cas."""
