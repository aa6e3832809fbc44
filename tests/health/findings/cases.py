"""For each check: what it looks at when all is just well, and what makes it speak."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from exporter.health.findings.shape import Severity
from exporter.health.findings.view import Pings, View
from exporter.health.snapshot import Labels, Snapshot
from exporter.health.thresholds import Thresholds
from tests.health.made_up import GET_HITS, GET_MISSES, SETS, snapshot

INFO, WARNING, CRITICAL = Severity
SECONDS = 60.0
Series = float | Mapping[Labels, float]


class Case(NamedTuple):
    """A server, what was counted in a minute, its host, and what is found."""

    finding: str
    severity: Severity
    seen: str
    """What the sentence says, up to its numbers at least."""
    now: Mapping[str, Series]
    """Families without ``memcached_``; a number stands for a family without labels."""
    well: Mapping[str, Series]
    """What to change so that all is just well: on the threshold, where there is one."""
    grown: tuple[str, ...] = ()
    """Families whose numbers are what was counted in the last minute, rather than levels."""
    host: Mapping[str, Series] = MappingProxyType({})
    pings: Pings | None = None
    remedy: str = ""
    """What the remedy has to say."""


def _labelled(**labels: str) -> Labels:
    return tuple(labels.items())


def _commands(hits: float = 0, misses: float = 0, sets: float = 0) -> dict[Labels, float]:
    return {GET_HITS: hits, GET_MISSES: misses, SETS: sets}


def _workers(*numbers: float, **labels: str) -> dict[Labels, float]:
    return {
        _labelled(kind="worker", worker=str(worker), **labels): number
        for worker, number in enumerate(numbers)
    }


def _cpu(*shares: float) -> dict[Labels, float]:
    return _workers(*(share * SECONDS for share in shares), mode="user")


def _slabs(*numbers: float) -> dict[Labels, float]:
    return {_labelled(slab=str(slab)): number for slab, number in enumerate(numbers, 1)}


def _sysctl(name: str, value: float, **labels: str) -> dict[str, Series]:
    return {"host_sysctl": {_labelled(name=name, **labels): value}}


MIB = 2.0**20
WARM: dict[str, Series] = {"uptime_seconds": 7200.0}
FULL: dict[str, Series] = {"current_bytes": 90 * MIB, "limit_bytes": 100 * MIB}
ROOM: dict[str, Series] = {"current_bytes": 85 * MIB}
COMMANDS = "commands_total"
ETH0 = _labelled(device="eth0")
CPUS: dict[str, Series] = {"host_cpus": {_labelled(state="online"): 4.0}}
INTERRUPTS: dict[str, Series] = {
    "nic_cpu_interrupts_total": {
        _labelled(device="eth0", cpu="0"): 90_000.0,
        _labelled(device="eth0", cpu="1"): 10_000.0,
    }
}
FEW_INTERRUPTS: dict[str, Series] = {
    "nic_cpu_interrupts_total": {
        _labelled(device="eth0", cpu="0"): 80_000.0,
        _labelled(device="eth0", cpu="1"): 20_000.0,
    }
}


def _channels(now: float, most: float) -> dict[str, Series]:
    kind = _labelled(device="eth0", kind="combined")
    return {"nic_channels": {kind: now}, "nic_channels_max": {kind: most}}


CASES = (
    Case(
        "connections_high",
        WARNING,
        "801 of the 1,000 connections that it can take are open (80.1 %).",
        {"current_connections": 801.0, "max_connections": 1024.0, "reserved_fds": 24.0},
        {"current_connections": 800.0},
        remedy="-c 2048 (systemd: LimitNOFILE=2048",
    ),
    Case(
        "connections_high",
        CRITICAL,
        "951 of the 1,000 connections",
        {"current_connections": 951.0, "max_connections": 1024.0, "reserved_fds": 24.0},
        {"current_connections": 800.0},
    ),
    Case(
        "descriptors_high",
        WARNING,
        "820 of the 1,000 files and sockets that it may have are open (82 %).",
        {"process_open_fds": 820.0, "process_max_fds": 1000.0},
        {"process_open_fds": 800.0},
        remedy="LimitNOFILE=2000",
    ),
    Case(
        "connections_rejected",
        CRITICAL,
        "It refused 3 connections in the last 60 s.",
        {"connections_rejected_total": 3.0, "max_connections": 100.0},
        {"connections_rejected_total": 0.0},
        grown=("connections_rejected_total",),
        remedy="-c 200",
    ),
    Case(
        "connections_rejected_before",
        INFO,
        "It has refused 3 connections since its start, 2 h ago.",
        {"connections_rejected_total": 3.0, "max_connections": 100.0, **WARM},
        {"connections_rejected_total": 0.0},
        remedy="-c 200",
    ),
    Case(
        "listener_disabled",
        CRITICAL,
        "It accepts no connections now",
        {"accepting_connections": 0.0},
        {"accepting_connections": 1.0},
    ),
    Case(
        "listener_disabled",
        CRITICAL,
        "It stopped accepting connections 2 times in 60 s.",
        {"accepting_connections": 1.0, "connections_listener_disabled_total": 2.0},
        {"connections_listener_disabled_total": 0.0},
        grown=("connections_listener_disabled_total",),
    ),
    Case(
        "backlog_cut",
        INFO,
        "1,024 connections were to wait for being accepted (-b), the kernel lets 128 wait.",
        {
            "settings_tcp_backlog": 1024.0,
            "listen_queue_limit": {_labelled(address="[::]:11211"): 128.0},
        },
        {"listen_queue_limit": {_labelled(address="[::]:11211"): 1024.0}},
        remedy="sysctl -w net.core.somaxconn=1024",
    ),
    Case(
        "out_of_memory",
        CRITICAL,
        "It refused 5 stores in 60 s for want of memory.",
        {"item_no_memory_total": 5.0, **FULL},
        {"item_no_memory_total": 0.0},
        grown=("item_no_memory_total",),
        remedy="-m 200",
    ),
    Case(
        "out_of_memory",
        CRITICAL,
        "It refused 5 stores in 60 s for want of memory.",
        {"slab_items_outofmemory_total": _slabs(2, 3), **FULL},
        {"slab_items_outofmemory_total": _slabs(0, 0)},
        grown=("slab_items_outofmemory_total",),
    ),
    Case(
        "evicting_used_items",
        WARNING,
        "It evicted 100 items in 60 s, 11 % of which nobody had read yet, or were in use.",
        {
            "items_evicted_total": 100.0,
            "items_evicted_unfetched_total": 6.0,
            "items_evicted_active_total": 5.0,
            **FULL,
        },
        {"items_evicted_active_total": 4.0},
        grown=(
            "items_evicted_total",
            "items_evicted_unfetched_total",
            "items_evicted_active_total",
        ),
        remedy="-m 200",
    ),
    Case(
        "evicting_used_items",
        WARNING,
        "It evicted 100 items in 60 s, some of which had been used 58.3 min before.",
        {
            "items_evicted_total": 100.0,
            "slab_items_evicted_total": _slabs(0, 100),
            "slab_items_evicted_time_seconds": _slabs(5, 3500),
            **FULL,
        },
        {"slab_items_evicted_time_seconds": _slabs(5, 3600)},
        grown=("items_evicted_total", "slab_items_evicted_total"),
    ),
    Case(
        "memory_high",
        WARNING,
        "Items take 90 MiB of 100 MiB (90 %).",
        FULL,
        ROOM,
        remedy="Nothing, as long as",
    ),
    Case(
        "evictions_many",
        WARNING,
        "It evicts 3 items a second: 10,800 an hour at this pace.",
        {"items_evicted_total": 180.0, "limit_bytes": 64 * MIB},
        {"items_evicted_total": 10_000 / 60},
        grown=("items_evicted_total",),
        remedy="-m 128",
    ),
    Case(
        "evictions_per_set_high",
        WARNING,
        "It evicts 11 % as many items as it stores.",
        {"items_evicted_total": 11.0, COMMANDS: _commands(sets=100), "limit_bytes": 64 * MIB},
        {"items_evicted_total": 10.0},
        grown=("items_evicted_total", COMMANDS),
    ),
    Case(
        "evictions_per_set_high",
        WARNING,
        "It evicts 50 % as many items as it stores.",
        {"items_evicted_total": 31.0, COMMANDS: _commands(sets=62), "limit_bytes": 64 * MIB},
        {"items_evicted_total": 30.0, COMMANDS: _commands(sets=60)},
        grown=("items_evicted_total", COMMANDS),
    ),
    Case(
        "evictions_off",
        WARNING,
        "It may not evict (-M), and is 90 % full.",
        {"settings_evictions_enabled": 0.0, **FULL},
        {"settings_evictions_enabled": 1.0},
    ),
    Case(
        "evictions_off",
        WARNING,
        "It may not evict (-M), and is 85 % full.",
        {"settings_evictions_enabled": 0.0, "item_no_memory_total": 5.0, **FULL, **ROOM},
        {"item_no_memory_total": 0.0},
        grown=("item_no_memory_total",),
    ),
    Case(
        "slabs_calcified",
        WARNING,
        "It evicts from 1 slab classes, while 6 of 100 memory pages lie idle (6 %).",
        {
            "slab_items_evicted_total": _slabs(9, 0),
            "slab_current_pages": _slabs(40, 59),
            "slab_global_page_pool": 1.0,
            "slab_chunks_free": _slabs(999, 55),
            "slab_chunks_per_page": _slabs(10, 10),
        },
        {"slab_chunks_free": _slabs(999, 49)},
        grown=("slab_items_evicted_total",),
        remedy="slab_automove=1",
    ),
    Case(
        "slabs_calcified",
        WARNING,
        "It evicts from 1 slab classes, while 6 of 100 memory pages lie idle (6 %); moving them is"
        " off.",
        {
            "slab_items_evicted_total": _slabs(9, 0),
            "slab_current_pages": _slabs(40, 60),
            "slab_chunks_free": _slabs(999, 60),
            "slab_chunks_per_page": _slabs(10, 10),
            "settings_slab_automove_mode": 0.0,
        },
        {"slab_items_evicted_total": _slabs(0, 0)},
        grown=("slab_items_evicted_total",),
        remedy="`slabs automove 1`",
    ),
    Case(
        "slabs_spread_thin",
        WARNING,
        "It evicted 9 items, though items take but 49 % of its memory: 20 pages are spread over 11"
        " slab classes.",
        {
            "items_evicted_total": 9.0,
            "current_bytes": 49 * MIB,
            "limit_bytes": 100 * MIB,
            "slab_current_pages": _slabs(10, *[1] * 10, 0),
        },
        {"current_bytes": 50 * MIB},
        grown=("items_evicted_total",),
        remedy="-f 1.25",
    ),
    Case(
        "crawler_off",
        INFO,
        "It evicted 9 items, and nothing looks for those that have expired (lru_crawler is off).",
        {"items_evicted_total": 9.0, "lru_crawler_enabled": 0.0},
        {"lru_crawler_enabled": 1.0},
        grown=("items_evicted_total",),
        remedy="`lru_crawler enable`",
    ),
    Case(
        "hash_expanding",
        INFO,
        "It is moving its items to a larger hash table (it takes 192 MiB).",
        {"hash_is_expanding": 1.0, "hash_bytes": 192 * MIB, "hash_power_level": 24.0},
        {"hash_is_expanding": 0.0},
        remedy="-o hashpower=24,",
    ),
    Case(
        "allocations_failing",
        WARNING,
        "It got no memory for a connection or an answer 3 times in 60 s.",
        {"malloc_fails_total": 1.0, "read_buffer_oom_total": 2.0},
        {"malloc_fails_total": 0.0, "read_buffer_oom_total": 0.0},
        grown=("malloc_fails_total", "read_buffer_oom_total"),
    ),
    Case(
        "items_too_large",
        WARNING,
        "It refused 2 items in 60 s as too large (the limit is 1 MiB).",
        {"item_too_large_total": 2.0, "settings_item_size_max_bytes": MIB},
        {"item_too_large_total": 0.0},
        grown=("item_too_large_total",),
        remedy="-I 2m",
    ),
    Case(
        "slab_waste",
        INFO,
        "21 % of the memory of its items is lost to chunks larger than they (growth factor 1.25).",
        {
            "slab_chunk_size_bytes": _slabs(100),
            "slab_chunks_used": _slabs(100),
            "slab_mem_requested_bytes": _slabs(7900),
            "settings_growth_factor": 1.25,
            **FULL,
        },
        {"slab_mem_requested_bytes": _slabs(8000)},
        remedy="-f 1.08",
    ),
    Case(
        "hit_rate_low",
        WARNING,
        "79 % of the keys asked for were found in the last 60 s, less than 80 %.",
        {COMMANDS: _commands(hits=79, misses=21), **WARM},
        {COMMANDS: _commands(hits=80, misses=20)},
        grown=(COMMANDS,),
    ),
    Case(
        "hit_rate_low",
        WARNING,
        "50 % of the keys asked for were found",
        {COMMANDS: _commands(hits=31, misses=31), **WARM},
        {COMMANDS: _commands(hits=30, misses=30)},
        grown=(COMMANDS,),
    ),
    Case(
        "hit_rate_low",
        WARNING,
        "50 % of the keys asked for were found",
        {COMMANDS: _commands(hits=50, misses=50), "uptime_seconds": 1801.0},
        {"uptime_seconds": 1800.0},
        grown=(COMMANDS,),
    ),
    Case(
        "hit_rate_below_target",
        INFO,
        "94 % of the keys asked for were found in the last 60 s; the target is 95 %.",
        {COMMANDS: _commands(hits=94, misses=6), **WARM},
        {COMMANDS: _commands(hits=95, misses=5)},
        grown=(COMMANDS,),
    ),
    Case(
        "latency_high",
        WARNING,
        "A command that needs no work took 0.2 ms in the middle and 5.1 ms in the slowest of a"
        " hundred (50 measured).",
        {},
        {},
        pings=Pings(p50=0.0002, p99=0.0051, count=50, failed=0),
    ),
    Case(
        "latency_high",
        CRITICAL,
        "A command that needs no work took 11 ms in the middle",
        {},
        {},
        pings=Pings(p50=0.011, p99=0.02, count=5, failed=0),
    ),
    Case(
        "latency_high_once",
        INFO,
        "At the last scrape, a command that needs no work took 11 ms.",
        {"ping_seconds": 0.011},
        {"ping_seconds": 0.010},
    ),
    Case(
        "pings_failing",
        WARNING,
        "6 of 100 small commands were not answered in time.",
        {},
        {},
        pings=Pings(p50=0.0001, p99=0.0002, count=94, failed=6),
    ),
    Case(
        "auth_errors",
        WARNING,
        "4 logins failed in the last 60 s.",
        {"auth_errors_total": 4.0},
        {"auth_errors_total": 0.0},
        grown=("auth_errors_total",),
    ),
    Case(
        "connections_yield",
        INFO,
        "11 times in 60 s a connection had sent so much that others got their turn first (-R 20).",
        {
            "connections_yielded_total": 11.0,
            COMMANDS: _commands(hits=1000),
            "settings_requests_per_event": 20.0,
        },
        {"connections_yielded_total": 10.0},
        grown=("connections_yielded_total", COMMANDS),
    ),
    Case(
        "flushed",
        INFO,
        "It was told to forget all items (`flush_all`) 2 times in 60 s.",
        {COMMANDS: {_labelled(command="flush", status="attempt"): 2.0}},
        {COMMANDS: {_labelled(command="flush", status="attempt"): 0.0}},
        grown=(COMMANDS,),
        remedy="-F",
    ),
    Case(
        "worker_busy",
        WARNING,
        "Its busiest worker thread uses 81 % of a CPU.",
        {"thread_cpu_seconds_total": _cpu(0.81, 0.7)},
        {"thread_cpu_seconds_total": _cpu(0.8, 0.7)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "worker_busy",
        CRITICAL,
        "Its busiest worker thread uses 91 % of a CPU.",
        {"thread_cpu_seconds_total": _cpu(0.91, 0.7)},
        {"thread_cpu_seconds_total": _cpu(0.8, 0.7)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "workers_uneven",
        WARNING,
        "Its busiest worker thread does 2.4 times the work of an average one (60 % of a CPU).",
        {"thread_cpu_seconds_total": _cpu(0.6, 0.1, 0.05)},
        {"thread_cpu_seconds_total": _cpu(0.5, 0.1, 0.05)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "workers_uneven",
        WARNING,
        "Its busiest worker thread does 2.4 times the work of an average one (60 % of a CPU).",
        {"thread_cpu_seconds_total": _cpu(0.6, 0.1, 0.05)},
        {"thread_cpu_seconds_total": _cpu(0.6, 0.2, 0.1)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "workers_waiting",
        WARNING,
        "A worker thread that could run waits for a CPU for 12 % of its time.",
        {"thread_runqueue_wait_seconds_total": _workers(7.2, 1.0)},
        {"thread_runqueue_wait_seconds_total": _workers(6.0, 1.0)},
        grown=("thread_runqueue_wait_seconds_total",),
    ),
    Case(
        "workers_waiting",
        CRITICAL,
        "A worker thread that could run waits for a CPU for 31 % of its time.",
        {"thread_runqueue_wait_seconds_total": _workers(18.6, 1.0)},
        {"thread_runqueue_wait_seconds_total": _workers(6.0, 1.0)},
        grown=("thread_runqueue_wait_seconds_total",),
    ),
    Case(
        "workers_preempted",
        WARNING,
        "A worker thread is taken off its CPU 501 times a second.",
        {"thread_context_switches_total": _workers(501 * SECONDS, 1, type="involuntary")},
        {"thread_context_switches_total": _workers(500 * SECONDS, 1, type="involuntary")},
        grown=("thread_context_switches_total",),
    ),
    Case(
        "cpu_throttled",
        WARNING,
        "The CPU quota of its control group stopped it in 11 % of the periods of the last 60 s.",
        {"cgroup_cpu_periods_total": 100.0, "cgroup_throttled_periods_total": 11.0},
        {"cgroup_throttled_periods_total": 10.0},
        grown=("cgroup_cpu_periods_total", "cgroup_throttled_periods_total"),
    ),
    Case(
        "too_many_workers",
        INFO,
        "It has 8 worker threads for 4 CPUs.",
        {"threads": 8.0, "process_cpus_allowed": 6.0},
        {"threads": 4.0},
        host=CPUS,
        remedy="-t 4",
    ),
    Case(
        "too_many_workers",
        INFO,
        "It has 4 worker threads for 2 CPUs.",
        {"threads": 4.0, "cgroup_cpu_limit_cores": 1.5},
        {"cgroup_cpu_limit_cores": 3.5},
        host=CPUS,
        remedy="-t 2",
    ),
    Case(
        "oom_killed",
        CRITICAL,
        "The kernel killed 1 processes in its control group for want of memory in 60 s.",
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
        {"host_tcp_sockets": {_labelled(state="timewait"): 810.0}},
        {"host_tcp_sockets": {_labelled(state="timewait"): 800.0}},
        host=_sysctl("net.ipv4.tcp_max_tw_buckets", 1000.0),
        remedy="tcp_max_tw_buckets=2000",
    ),
    Case(
        "tcp_tw_recycle_on",
        WARNING,
        "net.ipv4.tcp_tw_recycle is on.",
        {},
        _sysctl("net.ipv4.tcp_tw_recycle", 0.0),
        host=_sysctl("net.ipv4.tcp_tw_recycle", 1.0),
        remedy="sysctl -w net.ipv4.tcp_tw_recycle=0",
    ),
    Case(
        "zone_reclaim_on",
        WARNING,
        "vm.zone_reclaim_mode is 1 on a host with 2 NUMA nodes.",
        {},
        {"host_numa_nodes": 1.0},
        host={"host_numa_nodes": 2.0, **_sysctl("vm.zone_reclaim_mode", 1.0)},
        remedy="sysctl -w vm.zone_reclaim_mode=0",
    ),
    Case(
        "huge_pages_always",
        INFO,
        "Transparent huge pages are given to everybody (mode always).",
        {},
        {
            "host_transparent_hugepage_mode": {
                _labelled(setting="enabled", mode="always"): 0.0,
                _labelled(setting="enabled", mode="madvise"): 1.0,
            }
        },
        host={"host_transparent_hugepage_mode": {_labelled(setting="enabled", mode="always"): 1.0}},
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
                _labelled(name="net.ipv4.tcp_rmem", field="max"): 6 * MIB,
                _labelled(name="net.ipv4.tcp_wmem", field="max"): 217_088.0,
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
        host=_sysctl("net.ipv4.tcp_max_tw_buckets", 1000.0),
        remedy="tcp_max_tw_buckets=2000",
    ),
    Case(
        "extstore_errors",
        WARNING,
        "Reads from its external storage failed in 60 s: 2 damaged, 1 without memory for the item.",
        {"extstore_badcrc_total": 2.0, "extstore_gets_oom_total": 1.0},
        {"extstore_badcrc_total": 0.0, "extstore_gets_oom_total": 0.0},
        grown=("extstore_badcrc_total", "extstore_gets_oom_total"),
    ),
    Case(
        "extstore_errors",
        WARNING,
        "Reads from its external storage failed in 60 s: 3 given up.",
        {"extstore_gets_aborted_total": 3.0},
        {"extstore_gets_aborted_total": 0.0},
        grown=("extstore_gets_aborted_total",),
    ),
    Case(
        "extstore_backlog",
        WARNING,
        "1,001 reads and writes wait for its external storage.",
        {"extstore_io_queue_depth": 1001.0},
        {"extstore_io_queue_depth": 1000.0},
        remedy="-o ext_threads=4",
    ),
    Case(
        "proxy_backends_failing",
        WARNING,
        "Its proxy does not use a, b, c and 1 more backends.",
        {"proxy_backend_bad_connections": {_labelled(backend=name): 4.0 for name in "dcba"}},
        {"proxy_backend_bad_connections": {_labelled(backend="a"): 0.0}},
    ),
    Case(
        "proxy_backends_failing",
        WARNING,
        "Its proxy took backends out of use 2 times in 60 s, after repeated failures.",
        {"proxy_backend_marked_bad_total": 2.0},
        {"proxy_backend_marked_bad_total": 0.0},
        grown=("proxy_backend_marked_bad_total",),
    ),
    Case(
        "listen_overflows",
        CRITICAL,
        "7 attempts to connect were turned away in 60 s.",
        {"host_tcp_listen_overflows_total": 7.0},
        {"host_tcp_listen_overflows_total": 0.0},
        grown=("host_tcp_listen_overflows_total",),
    ),
    Case(
        "listen_overflows",
        WARNING,
        "7 attempts to connect were turned away in 60 s; its own queue has room now.",
        {
            "host_tcp_listen_overflows_total": 7.0,
            "listen_queue_length": {_labelled(address="a"): 1.0},
            "listen_queue_limit": {_labelled(address="a"): 10.0},
        },
        {"host_tcp_listen_overflows_total": 0.0},
        grown=("host_tcp_listen_overflows_total",),
    ),
    Case(
        "accept_queue_long",
        WARNING,
        "6 connections wait to be accepted, of at most 10.",
        {
            "listen_queue_length": {_labelled(address="a"): 6.0, _labelled(address="b"): 6.0},
            "listen_queue_limit": {_labelled(address="a"): 10.0, _labelled(address="b"): 100.0},
        },
        {"listen_queue_length": {_labelled(address="a"): 5.0}},
    ),
    Case(
        "softnet_drops",
        WARNING,
        "The host dropped 3 packets that waited for a CPU in 60 s.",
        {},
        {"host_softnet_dropped_total": {_labelled(cpu="0"): 0.0}},
        grown=("host_softnet_dropped_total",),
        host={
            "host_softnet_dropped_total": {_labelled(cpu="0"): 1.0, _labelled(cpu="1"): 2.0},
            **_sysctl("net.core.netdev_max_backlog", 1000.0),
        },
        remedy="sysctl -w net.core.netdev_max_backlog=2000",
    ),
    Case(
        "nic_drops",
        WARNING,
        "eth0 lost 9 packets in 60 s, with 256 of 1,024 ring entries (rx).",
        {},
        {"nic_ring_entries": {_labelled(device="eth0", direction="rx"): 1024.0}},
        grown=("nic_drops_total",),
        host={
            "nic_drops_total": {
                _labelled(device="eth0", reason="rx_missed_errors"): 9.0,
                _labelled(device="eth0", reason="rx_no_buffer_count"): 8.0,
                _labelled(device="eth0", reason="tx_timeout_count"): 50.0,
            },
            "nic_ring_entries": {_labelled(device="eth0", direction="rx"): 256.0},
            "nic_ring_entries_max": {_labelled(device="eth0", direction="rx"): 1024.0},
        },
        remedy="ethtool -G eth0 rx 1024.",
    ),
    Case(
        "nic_drops",
        WARNING,
        "eth0 lost 7 packets in 60 s, with 256 of 1,024 ring entries (tx).",
        {},
        {"nic_ring_entries": {_labelled(device="eth0", direction="tx"): 1024.0}},
        grown=("nic_queue_drops_total",),
        host={
            "nic_queue_drops_total": {
                _labelled(device="eth0", direction="tx", queue="0"): 3.0,
                _labelled(device="eth0", direction="tx", queue="1"): 4.0,
                _labelled(device="eth0", direction="rx", queue="1"): 9.0,
                _labelled(device="eth1", direction="tx", queue="1"): 9.0,
            },
            "nic_ring_entries": {
                _labelled(device="eth0", direction="rx"): 1024.0,
                _labelled(device="eth0", direction="tx"): 256.0,
            },
            "nic_ring_entries_max": {
                _labelled(device="eth0", direction="rx"): 1024.0,
                _labelled(device="eth0", direction="tx"): 1024.0,
            },
        },
        remedy="ethtool -G eth0 tx 1024.",
    ),
    Case(
        "nic_queues_few",
        WARNING,
        "One CPU takes 90 % of the interrupts of eth0, which has 1 of 8 queues.",
        {},
        FEW_INTERRUPTS,
        grown=("nic_cpu_interrupts_total",),
        host={**INTERRUPTS, **_channels(1, 8), **CPUS},
        remedy="ethtool -L eth0 combined 4,",
    ),
    Case(
        "nic_one_queue",
        INFO,
        "One CPU takes 90 % of the interrupts of eth0, which has but one queue.",
        {},
        {"nic_rps_queues": {ETH0: 1.0}},
        grown=("nic_cpu_interrupts_total",),
        host={**INTERRUPTS, **_channels(1, 1), "nic_rps_queues": {ETH0: 0.0}, **CPUS},
        remedy="echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus",
    ),
    Case(
        "softnet_squeezed",
        INFO,
        "A CPU left packets waiting 11 times a second.",
        {},
        {"host_softnet_squeezed_total": {_labelled(cpu="0"): 600.0, _labelled(cpu="1"): 600.0}},
        grown=("host_softnet_squeezed_total",),
        host={
            "host_softnet_squeezed_total": {_labelled(cpu="0"): 660.0, _labelled(cpu="1"): 9.0},
            **_sysctl("net.core.netdev_budget", 300.0),
        },
        remedy="netdev_budget=600 net.core.netdev_budget_usecs=N",
    ),
    Case(
        "udp_on",
        WARNING,
        "It answers by UDP, port 11211 on all interfaces.",
        {"settings_info": {_labelled(udpport="11211"): 1.0}},
        {"settings_info": {_labelled(udpport="11211", interface="127.0.0.1"): 1.0}},
        remedy="-U 0",
    ),
    Case(
        "open_to_all",
        INFO,
        "It listens on all interfaces, and nobody has had to log in.",
        {
            "settings_info": {_labelled(tcpport="11211", interface="0.0.0.0"): 1.0},
            "auth_commands_total": 0.0,
        },
        {"auth_commands_total": 1.0},
        remedy="-l and the address",
    ),
    Case(
        "open_to_all",
        INFO,
        "It listens on all interfaces, and nobody has had to log in.",
        {"settings_info": {_labelled(tcpport="11211"): 1.0}, "auth_commands_total": 0.0},
        {"settings_info": {_labelled(tcpport="11211", interface="10.0.0.1"): 1.0}},
    ),
    Case(
        "open_to_all",
        INFO,
        "It listens on all interfaces, and nobody has had to log in.",
        {"settings_info": {_labelled(tcpport="11211"): 1.0}, "auth_commands_total": 0.0},
        {"settings_ssl_enabled": 1.0},
    ),
    Case(
        "tail_repair_on",
        WARNING,
        "It takes back items that are in use for more than 300 s (-o tail_repair_time).",
        {"settings_tail_repair_time_seconds": 300.0},
        {"settings_tail_repair_time_seconds": 0.0},
    ),
    Case(
        "maxconns_slow",
        INFO,
        "At its connection limit it will let clients wait without a word.",
        {
            "settings_maxconns_fast_enabled": 0.0,
            "current_connections": 81.0,
            "max_connections": 100.0,
        },
        {"current_connections": 80.0},
    ),
    Case(
        "detail_on",
        INFO,
        "It counts commands by key prefix",
        {"settings_detail_enabled": 1.0},
        {"settings_detail_enabled": 0.0},
    ),
    Case(
        "shutdown_on",
        INFO,
        "Clients may stop it by the command `shutdown` (-A).",
        {"settings_shutdown_command_enabled": 1.0},
        {"settings_shutdown_command_enabled": 0.0},
    ),
    Case(
        "cas_unused",
        INFO,
        "Its 1,000,000 items are small (94.4 B on average), and nobody has used cas: 8.48 % of"
        " their memory is for that.",
        {
            "settings_cas_enabled": 1.0,
            "current_items": 1e6,
            COMMANDS: {_labelled(command="cas", status="hit"): 0.0},
            **FULL,
        },
        {COMMANDS: {_labelled(command="cas", status="hit"): 1.0}},
    ),
)


def _snapshots(
    families: Mapping[str, Series], grown: tuple[str, ...]
) -> tuple[Snapshot, Snapshot | None]:
    """Return a snapshot and the one of a minute before, in which what has grown was 0."""
    now = snapshot(taken=1000.0 + SECONDS, start_time_seconds=5.0, **families)
    before = {
        name: dict.fromkeys(series, 0.0) if isinstance(series, Mapping) else 0.0
        for name, series in families.items()
        if name in grown
    }
    return now, snapshot(taken=1000.0, start_time_seconds=5.0, **before) if grown else None


def view_of(case: Case, changes: Mapping[str, Series] | None = None) -> View:
    """Return what the checks see in a case, with some of the families changed."""
    told, of_host = {**case.now}, {**case.host}
    for name, series in (changes or {}).items():
        on_host = name in case.host or (not case.now and case.host)
        (of_host if on_host else told)[name] = series
    now, before = _snapshots(told, case.grown)
    host, host_before = _snapshots(of_host, case.grown) if of_host else (None, None)
    return View(
        thresholds=Thresholds(),
        now=now,
        before=before,
        host=host,
        host_before=host_before,
        pings=case.pings,
    )
