"""Cases of the host."""

from tests.health.findings.cases.shape import (
    CRITICAL,
    FULL,
    INFO,
    MIB,
    WARNING,
    Case,
    labelled,
    sysctl,
)

CASES = (
    Case(
        "oom_killed",
        CRITICAL,
        "The kernel killed 1 process in its control group for want of memory in 60 s.",
        {"cgroup_oom_kills_total": 1.0},
        {"cgroup_oom_kills_total": 0.0},
        grown=("cgroup_oom_kills_total",),
    ),
    Case(
        "cgroup_memory_tight",
        WARNING,
        "It may fill 86 MiB with items (-m), its control group has 100 MiB for all (86 %).",
        {"limit_bytes": 86 * MIB, "cgroup_memory_limit_bytes": 100 * MIB},
        {"limit_bytes": 85 * MIB},
        remedy="-m 80, or give the group 112 MiB",
    ),
    Case(
        "swapping",
        WARNING,
        "2 MiB of its memory are in swap space (2 %).",
        {"process_swap_bytes": 2 * MIB, "process_resident_memory_bytes": 98 * MIB},
        {"process_swap_bytes": 1 * MIB, "process_resident_memory_bytes": 99 * MIB},
        remedy="LimitMEMLOCK=infinity",
    ),
    Case(
        "open_files_high",
        WARNING,
        "81 of 100 files that the host may have are open (81 %).",
        {},
        {"host_open_files": 80.0},
        host={"host_open_files": 81.0, "host_open_files_max": 100.0},
        remedy="{print $1}' | sort | uniq -c | sort -n`), and raise it: sysctl -w fs.file-max=200",
    ),
    Case(
        "time_wait_many",
        WARNING,
        "810 connections that have ended are kept in TIME_WAIT, of at most 1,000.",
        {"host_tcp_sockets": {labelled(state="timewait"): 810.0}},
        {"host_tcp_sockets": {labelled(state="timewait"): 800.0}},
        host=sysctl("net.ipv4.tcp_max_tw_buckets", 1000.0),
        remedy="tcp_max_tw_buckets=2000",
    ),
    Case(
        "tcp_tw_recycle_on",
        WARNING,
        "net.ipv4.tcp_tw_recycle is on.",
        {},
        sysctl("net.ipv4.tcp_tw_recycle", 0.0),
        host=sysctl("net.ipv4.tcp_tw_recycle", 1.0),
        remedy="sysctl -w net.ipv4.tcp_tw_recycle=0",
    ),
    Case(
        "zone_reclaim_on",
        WARNING,
        "vm.zone_reclaim_mode is 1 on a host with 2 NUMA nodes.",
        {},
        {"host_numa_nodes": 1.0},
        host={"host_numa_nodes": 2.0, **sysctl("vm.zone_reclaim_mode", 1.0)},
        remedy="sysctl -w vm.zone_reclaim_mode=0",
    ),
    Case(
        "huge_pages_always",
        INFO,
        "Transparent huge pages are given to everybody (mode always).",
        {},
        {
            "host_transparent_hugepage_mode": {
                labelled(setting="enabled", mode="always"): 0.0,
                labelled(setting="enabled", mode="madvise"): 1.0,
            }
        },
        host={"host_transparent_hugepage_mode": {labelled(setting="enabled", mode="always"): 1.0}},
        remedy="echo madvise >",
    ),
    Case(
        "tcp_buffers_small",
        INFO,
        "A connection's buffer may grow to 212 KiB, an item to 1 MiB.",
        {"settings_item_size_max_bytes": MIB, **FULL},
        {"settings_item_size_max_bytes": 212_992.0},
        host={
            "host_sysctl": {
                labelled(name="net.ipv4.tcp_rmem", field="max"): 6 * MIB,
                labelled(name="net.ipv4.tcp_wmem", field="max"): 217_088.0,
            }
        },
        remedy='net.ipv4.tcp_wmem="4096 16384 1048576"',
    ),
    Case(
        "time_wait_many",
        WARNING,
        "The kernel had no room for 5 connections in TIME_WAIT in 60 s, of at most 1,000.",
        {"host_tcp_timewait_overflows_total": 5.0},
        {"host_tcp_timewait_overflows_total": 0.0},
        grown=("host_tcp_timewait_overflows_total",),
        host=sysctl("net.ipv4.tcp_max_tw_buckets", 1000.0),
        remedy="tcp_max_tw_buckets=2000",
    ),
)
