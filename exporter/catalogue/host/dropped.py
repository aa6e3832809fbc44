"""How many series a collector left out, for those collectors whose labels have a limit."""

from exporter.catalogue.row import Row, gauge

_HELP = "Series left out because there were more than the collector's limit."


def host_series_dropped(collector: str) -> Row:
    """Return the row, with the key ``series_dropped``, of a collector of the whole host."""
    return gauge("series_dropped", "memcached_host_series_dropped", _HELP, collector=collector)


def process_series_dropped(collector: str, note: str = "") -> Row:
    """Return the row, with the key ``series_dropped``, of a collector of one process."""
    return gauge(
        "series_dropped",
        "memcached_process_series_dropped",
        _HELP,
        note=note,
        collector=collector,
    )
