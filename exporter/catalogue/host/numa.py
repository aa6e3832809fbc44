"""Memory nodes of the host."""

from exporter.catalogue.row import Section, counter, gauge

NUMA = Section(
    name="numa",
    command="/sys/devices/system/node",
    rows=(
        gauge("online", "memcached_host_numa_nodes", "Memory nodes of the host that are online."),
        counter(
            "numa_miss",
            "memcached_host_numa_miss_pages_total",
            "Pages that came from this memory node although another one was preferred.",
            dynamic=("node",),
        ),
    ),
)
