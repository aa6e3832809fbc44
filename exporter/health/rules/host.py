"""What the host, its network and the control groups keep from memcached."""

from exporter.health.rules.shape import Alert, Group, Severity

_BOARD = "memcached-host"
_OVERFLOWS = "increase(memcached_host_tcp_listen_overflows_total{$selector}"
_QUEUE = "server:memcached_listen_queue_length_per_limit:max_ratio_max5m{$selector}"

RESOURCES = Group(
    "memcached-resources",
    (
        Alert(
            name="MemcachedCpuThrottled",
            severity=Severity.WARNING,
            expr="server:memcached_cgroup_throttled_periods_per_cpu_periods:ratio_rate5m{$selector}"
            " > ${throttled}",
            wait="10m",
            summary="The CPU quota of memcached's control group stops it.",
            description="memcached on ${who} was stopped by the CPU quota of its control group in"
            " {{ $value | humanizePercentage }} of the periods, more than ${throttled|percent}."
            " Each stop is up to a tenth of a second of latency.",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedCgroupMemoryTight",
            severity=Severity.WARNING,
            expr="server:memcached_limit_bytes_per_cgroup_memory_limit_bytes:ratio_last5m{$selector}"
            " > ${memory}",
            wait="10m",
            summary="Items alone may fill the memory of memcached's control group.",
            description="memcached on ${who} may use {{ $value | humanizePercentage }} of its"
            " control group's memory for items, more than ${memory|percent}. Hash table, threads"
            " and connections come on top, and the kernel kills it at the limit.",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedOomKilled",
            severity=Severity.CRITICAL,
            expr="increase(memcached_cgroup_oom_kills_total{$selector}[10m]) > 0",
            wait="2m",
            summary="The kernel killed a process in memcached's control group for want of memory.",
            description="The kernel killed processes in the control group of memcached on ${who},"
            " as the group's memory limit was reached; in the last ten minutes:"
            ' {{ $value | printf "%.0f" }}.',
            board=_BOARD,
        ),
        Alert(
            name="MemcachedSwapping",
            severity=Severity.WARNING,
            expr="server:memcached_process_swap_bytes_per_memory_bytes:ratio{$selector}"
            " > ${swapped}",
            wait="10m",
            summary="A part of memcached's memory is in swap space.",
            description="Of the memory of memcached on ${who}, {{ $value | humanizePercentage }} is"
            " in swap space, more than ${swapped|percent}: a get that needs it waits for the disk.",
            board=_BOARD,
        ),
    ),
)

NETWORK = Group(
    "memcached-network",
    (
        Alert(
            name="MemcachedSoftnetDrops",
            severity=Severity.WARNING,
            expr="instance:memcached_host_softnet_dropped:rate5m{$selector} > 0",
            wait="10m",
            summary="A memcached host drops packets because a CPU's backlog is full.",
            description="The host of {{ $labels.instance }} drops {{ $value | humanize }} packets"
            " a second that wait for a CPU (net.core.netdev_max_backlog).",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedSoftnetSqueezed",
            severity=Severity.INFO,
            expr="instance:memcached_host_softnet_squeezed:max_rate5m{$selector}"
            " > ${network.squeezed}",
            wait="15m",
            summary="A CPU of a memcached host often leaves packets waiting.",
            description="A CPU of the host of {{ $labels.instance }} used up its budget for"
            ' packets {{ $value | printf "%.0f" }} times a second, more than'
            " ${network.squeezed|plain}.",
            board=_BOARD,
        ),
        # The kernel counts for a whole network namespace: it pages when memcached's own queue was
        # seen filling, or cannot be seen.
        Alert(
            name="MemcachedListenOverflows",
            severity=Severity.CRITICAL,
            expr=f"{_OVERFLOWS}[5m]) > 0 unless {_QUEUE} <= ${{network.accept_queue}}",
            wait="2m",
            summary="Connections to memcached fail because its accept queue is full.",
            description="The kernel turned away"
            ' {{ $value | printf "%.0f" }} attempts to connect in five minutes where memcached on'
            " ${who} listens, because an accept queue was full.",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedListenOverflows",
            severity=Severity.WARNING,
            expr=f"{_OVERFLOWS}[10m]) > 0 and {_QUEUE} <= ${{network.accept_queue}}",
            wait="5m",
            summary="Connections fail in memcached's network namespace as an accept queue is full.",
            description="The kernel turned away"
            ' {{ $value | printf "%.0f" }} attempts to connect in ten minutes in the network'
            " namespace of memcached on ${who}. Its own accept queue was not seen above"
            " ${network.accept_queue|percent}: it was a short burst, or another program's queue.",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedAcceptQueueLong",
            severity=Severity.WARNING,
            expr="listener:memcached_listen_queue_length_per_limit:ratio_avg5m{$selector}"
            " > ${network.accept_queue}",
            wait="3m",
            summary="Many connections wait for memcached to accept them.",
            description="The accept queue of memcached on ${who} at {{ $labels.address }} is"
            " {{ $value | humanizePercentage }} full, more than ${network.accept_queue|percent}.",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedNicDrops",
            severity=Severity.WARNING,
            expr="(device:memcached_nic_drops:max_rate5m{$selector} > 0"
            " or device:memcached_nic_queue_drops:rate5m{$selector} > 0)"
            " and (memcached_nic_ring_entries{$selector}"
            " < memcached_nic_ring_entries_max{$selector})",
            wait="10m",
            summary="A network card drops packets though its ring could be longer.",
            description="The network card {{ $labels.device }} of {{ $labels.instance }} drops"
            " {{ $value | humanize }} packets a second ({{ $labels.direction }}), and its ring is"
            " shorter than it could be.",
            board=_BOARD,
        ),
        Alert(
            name="MemcachedNicQueuesFew",
            severity=Severity.WARNING,
            expr="device:memcached_nic_cpu_interrupts_max_per_all:ratio_rate5m{$selector}"
            " > ${network.interrupt_share}"
            " and device:memcached_nic_cpu_interrupts:rate5m{$selector}"
            " > ${network.interrupt_floor}"
            ' and ignoring (kind) ((memcached_nic_channels{$selector, kind=~"combined|rx"} > 0)'
            " < memcached_nic_channels_max{$selector}"
            " < ignoring (device, kind, state) group_left ()"
            ' memcached_host_cpus{$selector, state="online"})',
            wait="15m",
            summary="One CPU serves most of a network card's interrupts, and queues are unused.",
            description="One CPU takes {{ $value | humanizePercentage }} of the interrupts of"
            " {{ $labels.device }} of {{ $labels.instance }}, more than"
            " ${network.interrupt_share|percent}, while the card has fewer queues than it could"
            " and than there are CPUs.",
            board=_BOARD,
        ),
    ),
)
