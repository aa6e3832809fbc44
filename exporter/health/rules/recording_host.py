"""What alerts about workers and the host are computed from.

Levels: ``worker`` is a worker thread, ``listener`` an address that memcached listens on, ``server``
a memcached server, ``device`` a network card, ``instance`` the host of an exporter.
"""

from exporter.health.rules.shape import Group, Recording

RECORDING_WORKERS = Group(
    "memcached-recording-workers",
    (
        # Releases that do not name their threads have workers among those of kind `unknown`.
        Recording(
            "worker:memcached_thread_cpu_seconds:rate5m",
            "sum without (mode) (rate("
            'memcached_thread_cpu_seconds_total{$selector, kind=~"worker|unknown"}[5m]))',
        ),
        Recording(
            "server:memcached_thread_cpu_seconds:max_rate5m",
            "max without (kind, worker) (worker:memcached_thread_cpu_seconds:rate5m{$selector})",
        ),
        # The largest of some and their average are of one kind of thread here: threads that do
        # other work would make each server look uneven.
        Recording(
            "server:memcached_thread_cpu_seconds_max_per_avg:ratio_rate5m",
            "max without (kind, worker)"
            ' (worker:memcached_thread_cpu_seconds:rate5m{$selector, kind="worker"})'
            " / (avg without (kind, worker)"
            ' (worker:memcached_thread_cpu_seconds:rate5m{$selector, kind="worker"}) > 0)',
        ),
        Recording(
            "server:memcached_thread_runqueue_wait_seconds:max_rate5m",
            "max without (kind, worker) (rate(memcached_thread_runqueue_wait_seconds_total"
            '{$selector, kind=~"worker|unknown"}[5m]))',
        ),
        Recording(
            "server:memcached_thread_involuntary_context_switches:max_rate5m",
            "max without (kind, type, worker) (rate(memcached_thread_context_switches_total"
            '{$selector, kind=~"worker|unknown", type="involuntary"}[5m]))',
        ),
        # What a process may use is the least of its affinity, of its cgroup's quota and of what is
        # online. Only servers on the exporter's own host have an affinity, so that it also keeps
        # other servers from being held against the CPUs of this one. The configuration may give
        # labels to servers alone, hence `on`.
        Recording(
            "server:memcached_process_cpus_available:min",
            "min without (bound) ("
            'label_replace(memcached_process_cpus_allowed{$selector}, "bound", "affinity", "", "")'
            " or label_replace(ceil(memcached_cgroup_cpu_limit_cores{$selector}),"
            ' "bound", "quota", "", "")'
            " or label_replace(0 * memcached_process_cpus_allowed{$selector}"
            " + on (job, instance) group_left ()"
            ' memcached_host_cpus{$selector, state="online"}, "bound", "online", "", ""))',
        ),
    ),
)

RECORDING_HOST = Group(
    "memcached-recording-host",
    (
        Recording(
            "instance:memcached_host_context_switches_per_cpu:ratio_rate5m",
            "rate(memcached_host_context_switches_total{$selector}[5m])"
            ' / ignoring (state) (memcached_host_cpus{$selector, state="online"} > 0)',
        ),
        Recording(
            "instance:memcached_host_softnet_dropped:rate5m",
            "sum without (cpu) (rate(memcached_host_softnet_dropped_total{$selector}[5m]))",
        ),
        Recording(
            "instance:memcached_host_softnet_squeezed:max_rate5m",
            "max without (cpu) (rate(memcached_host_softnet_squeezed_total{$selector}[5m]))",
        ),
        Recording(
            "server:memcached_cgroup_throttled_periods_per_cpu_periods:ratio_rate5m",
            "rate(memcached_cgroup_throttled_periods_total{$selector}[5m])"
            " / (rate(memcached_cgroup_cpu_periods_total{$selector}[5m]) > 0)",
        ),
        # The limit of the items comes from the server itself, which may refuse a scrape.
        Recording(
            "server:memcached_limit_bytes_per_cgroup_memory_limit_bytes:ratio_last5m",
            "last_over_time(memcached_limit_bytes{$selector}[5m])"
            " / (last_over_time(memcached_cgroup_memory_limit_bytes{$selector}[5m]) > 0)",
        ),
        Recording(
            "server:memcached_process_swap_bytes_per_memory_bytes:ratio",
            "memcached_process_swap_bytes{$selector}"
            " / (memcached_process_swap_bytes{$selector}"
            " + memcached_process_resident_memory_bytes{$selector} > 0)",
        ),
        # The limit is 0 while the server has its maximum of connections.
        Recording(
            "listener:memcached_listen_queue_length_per_limit:ratio_avg5m",
            "avg_over_time(memcached_listen_queue_length{$selector}[5m])"
            " / (max_over_time(memcached_listen_queue_limit{$selector}[5m]) > 0)",
        ),
        Recording(
            "server:memcached_listen_queue_length_per_limit:max_ratio_max5m",
            "max without (address) (max_over_time(memcached_listen_queue_length{$selector}[5m])"
            " / (max_over_time(memcached_listen_queue_limit{$selector}[5m]) > 0))",
        ),
    ),
)

RECORDING_NIC = Group(
    "memcached-recording-nic",
    (
        # Reasons overlap, so that only the largest says something. Of those, a longer ring helps
        # against what was lost on the way in.
        Recording(
            "device:memcached_nic_drops:max_rate5m",
            "label_replace(max without (reason) (rate(memcached_nic_drops_total"
            r'{$selector, reason=~"(port\\.)?rx_.+|InDroppedDma"}[5m])),'
            ' "direction", "rx", "", "")',
        ),
        Recording(
            "device:memcached_nic_queue_drops:rate5m",
            "sum without (queue) (rate(memcached_nic_queue_drops_total{$selector}[5m]))",
        ),
        Recording(
            "device:memcached_nic_cpu_interrupts:rate5m",
            "sum without (cpu) (rate(memcached_nic_cpu_interrupts_total{$selector}[5m]))",
        ),
        Recording(
            "device:memcached_nic_cpu_interrupts_max_per_all:ratio_rate5m",
            "max without (cpu) (rate(memcached_nic_cpu_interrupts_total{$selector}[5m]))"
            " / (device:memcached_nic_cpu_interrupts:rate5m{$selector} > 0)",
        ),
    ),
)
