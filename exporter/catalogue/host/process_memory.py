"""Where the memory of a memcached server lies; the kernel goes through all of it to tell."""

from exporter.catalogue.row import Section, gauge

MEMORY_MAPS = Section(
    name="memory_maps",
    command="/proc/PID/smaps_rollup",
    rows=(
        gauge(
            "AnonHugePages",
            "memcached_process_anon_huge_pages_bytes",
            "Memory of the process in transparent huge pages, in bytes.",
            note="Needs CAP_SYS_PTRACE, and some 10 ms per GiB of memory at each scrape. With `-L`"
            " it is near to the cache's size where huge pages work.",
        ),
    ),
)
"""Pages of memory, by size."""

NUMA_PAGES = Section(
    name="numa_pages",
    command="/proc/PID/numa_maps",
    rows=(
        gauge(
            "N",
            "memcached_process_numa_pages",
            "Memory of the process on a NUMA node, in pages of the CPU's smallest size.",
            dynamic=("node",),
            note="Needs CAP_SYS_PTRACE, and some 10 ms per GiB of memory at each scrape. Absent on"
            " hosts with one node.",
        ),
    ),
)
"""Pages of memory, by node."""
