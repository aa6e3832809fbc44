"""What the cgroups of a memcached process allow it."""

from exporter.catalogue.row import Section, counter, gauge

_WHICH = "Of the cgroup, the process's own or one above it, that has the smallest limit."

CGROUP = Section(
    name="cgroup",
    command="/sys/fs/cgroup",
    rows=(
        counter(
            "nr_periods",
            "memcached_cgroup_cpu_periods_total",
            "Periods of the CPU limit in which memcached's cgroup wanted to run.",
            note=_WHICH,
        ),
        counter(
            "nr_throttled",
            "memcached_cgroup_throttled_periods_total",
            "Periods of the CPU limit in which memcached's cgroup had used up its quota.",
            note=_WHICH,
        ),
        counter(
            "throttled_usec",
            "memcached_cgroup_throttled_seconds_total",
            "Time that memcached's cgroup was kept from running by its CPU limit, in seconds.",
            note=f"{_WHICH} Summed over CPUs.",
        ),
        gauge(
            "cpu.max",
            "memcached_cgroup_cpu_limit_cores",
            "CPU time per second that memcached's cgroups allow, in cores.",
            note="The smallest limit from the process's own cgroup up to the top; absent without"
            " one.",
        ),
        gauge(
            "memory.max",
            "memcached_cgroup_memory_limit_bytes",
            "Memory that memcached's cgroups allow, in bytes.",
            note="The smallest limit from the process's own cgroup up to the top; absent without"
            " one.",
        ),
        gauge(
            "memory.current",
            "memcached_cgroup_memory_usage_bytes",
            "Memory that counts against the limit of memcached's cgroup, in bytes.",
            note=f"{_WHICH} Includes the page cache of files.",
        ),
        counter(
            "oom_kill",
            "memcached_cgroup_oom_kills_total",
            "Processes of memcached's cgroup that were killed for want of memory.",
            note=_WHICH,
        ),
    ),
)
