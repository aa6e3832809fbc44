"""Swap space of the host, and the traffic to it."""

from exporter.catalogue.row import Section, counter, gauge

_SPACE = "Swap space of the host, in bytes."
_TRAFFIC = "Pages that the host read from swap space (in) and wrote there (out)."

SWAP = Section(
    name="swap",
    command="/proc/meminfo and /proc/vmstat",
    rows=(
        gauge("SwapTotal", "memcached_host_swap_bytes", _SPACE, kind="total"),
        gauge("SwapFree", "memcached_host_swap_bytes", _SPACE, kind="free"),
        counter(
            "pswpin",
            "memcached_host_swap_io_pages_total",
            _TRAFFIC,
            direction="in",
            note="What of memcached is in swap is in `memcached_process_swap_bytes`.",
        ),
        counter("pswpout", "memcached_host_swap_io_pages_total", _TRAFFIC, direction="out"),
    ),
)
