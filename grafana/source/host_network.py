"""Rows of the board of the host: accept queue, network cards, packets."""

from grafana.source.expressions import SERVER_NAME, rate
from grafana.source.shape import NEVER, Column, Kind, Panel, Query, Section, above

_DEVICE = "job, instance, device"
_QUEUE = "{{instance}} {{device}} {{direction}} {{queue}}"
_CPU = "{{instance}} CPU {{cpu}}"


def _rate(name: str, by: str) -> str:
    return f"sum by ({by}) (rate({name}{{$host}}[$span]))"


def _softnet(what: str) -> str:
    return _rate(f"memcached_host_softnet_{what}_total", "job, instance, cpu")


def _channels(name: str) -> str:
    return f"max by ({_DEVICE}, kind) ({name}{{$host}})"


def _ring(name: str) -> str:
    return f"max by ({_DEVICE}, direction) ({name}{{$host}})"


_ON_CPUS = _rate("memcached_nic_cpu_interrupts_total", f"{_DEVICE}, cpu")

ACCEPT = Section(
    "Accept queue and TCP",
    (
        Panel(
            title="Accept queue",
            text="Connections that wait for memcached to accept them, to how many can, by listening"
            " address. Full: clients wait a second or more. Raise -b and net.core.somaxconn, or"
            " find why connections come in bursts.",
            unit="percentunit",
            queries=(
                Query(
                    "max by ($by, address) (memcached_listen_queue_length{$on}"
                    " / (memcached_listen_queue_limit{$on} > 0))",
                    f"{SERVER_NAME} {{{{address}}}}",
                ),
            ),
            steps=above("network.accept_queue"),
            runbooks=("MemcachedAcceptQueueLong",),
        ),
        Panel(
            title="Connections turned away by the kernel",
            text="Attempts to connect a second that failed as an accept queue was full, or that"
            " were dropped for any reason, in the server's network namespace: other programs'"
            " queues count as well.",
            unit="cps",
            queries=(
                Query(
                    rate("memcached_host_tcp_listen_overflows_total"),
                    f"{SERVER_NAME} queue full",
                ),
                Query(
                    rate("memcached_host_tcp_listen_drops_total"),
                    f"{SERVER_NAME} any reason",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedListenOverflows",),
        ),
        Panel(
            title="TCP segments sent again",
            text="Segments a second that the server's network namespace sent again, and segments"
            " dropped because too many waited for a socket in use. Retransmits are lost packets on"
            " the way: look at drops of cards and switches.",
            unit="cps",
            queries=(
                Query(rate("memcached_host_tcp_retransmits_total"), f"{SERVER_NAME} sent again"),
                Query(rate("memcached_host_tcp_backlog_drops_total"), f"{SERVER_NAME} dropped"),
            ),
        ),
        Panel(
            title="TCP sockets",
            text="TCP sockets of the server's network namespace by state. Many in timewait: this"
            " side closes connections first, which memcached does at its limits only.",
            queries=(
                Query(
                    "max by ($by, state) (memcached_host_tcp_sockets{$on})",
                    f"{SERVER_NAME} {{{{state}}}}",
                ),
            ),
            width=12,
        ),
        Panel(
            title="Files open on the host",
            text="Open files and sockets of the whole host to what it allows (fs.file-max). What"
            " binds memcached is its own limit: Descriptors used on the board Server.",
            unit="percentunit",
            queries=(
                Query(
                    "max by (job, instance) (memcached_host_open_files{$host}"
                    " / (memcached_host_open_files_max{$host} > 0))",
                    "{{instance}}",
                ),
            ),
            width=12,
        ),
    ),
)

CARDS = Section(
    "Network cards",
    (
        Panel(
            title="Packets by queue",
            text="Packets a second through each queue of a network card. Uneven: few connections,"
            " or a hash that does not spread them.",
            unit="cps",
            queries=(
                Query(
                    _rate("memcached_nic_queue_packets_total", f"{_DEVICE}, direction, queue"),
                    _QUEUE,
                ),
            ),
            runbooks=("MemcachedNicQueuesFew",),
        ),
        Panel(
            title="Interrupts by queue",
            text="Interrupts a second of each queue of a network card. Far fewer than packets is"
            " good: the card collects them.",
            unit="ops",
            queries=(
                Query(
                    _rate("memcached_nic_interrupts_total", f"{_DEVICE}, direction, queue"),
                    _QUEUE,
                ),
            ),
            runbooks=("MemcachedNicQueuesFew",),
        ),
        Panel(
            title="Interrupts on the busiest CPU",
            text="Share of a card's interrupts that one CPU takes. High with many interrupts: use"
            " more queues, or spread them (irqbalance, smp_affinity). Of a few it means nothing.",
            unit="percentunit",
            highest=1,
            queries=(
                Query(
                    f"max by ({_DEVICE}) ({_ON_CPUS}) / (sum by ({_DEVICE}) ({_ON_CPUS}) > 0)",
                    "{{instance}} {{device}}",
                ),
            ),
            steps=above("network.interrupt_share"),
            runbooks=("MemcachedNicQueuesFew",),
        ),
        Panel(
            title="Packets dropped by cards",
            text="Packets a second that a card dropped, or that a cloud's limit held up, by the"
            " driver's own reason; reasons may overlap. A longer ring (ethtool -G) helps against"
            " drops for want of buffers.",
            unit="cps",
            queries=(
                Query(
                    _rate("memcached_nic_drops_total", f"{_DEVICE}, reason"),
                    "{{instance}} {{device}} {{reason}}",
                ),
                Query(
                    _rate("memcached_nic_queue_drops_total", f"{_DEVICE}, direction, queue"),
                    _QUEUE,
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedNicDrops",),
        ),
        Panel(
            kind=Kind.TABLE,
            title="Queues of cards",
            text="Queues that a card uses (ethtool -l) and could use. More queues help when one CPU"
            " takes most interrupts, up to the number of CPUs.",
            columns=(
                Column("Instance", label="instance", least=130),
                Column("Card", label="device"),
                Column("Kind", label="kind", least=85),
                Column("In use", _channels("memcached_nic_channels")),
                Column("At most", _channels("memcached_nic_channels_max")),
                Column("Job", label="job"),
            ),
            runbooks=("MemcachedNicQueuesFew",),
        ),
        Panel(
            kind=Kind.TABLE,
            title="Rings of cards",
            text="Packets that wait in a card's queue at most (ethtool -g), and the most it could"
            " be set to. A longer ring is worth it only where packets are dropped.",
            columns=(
                Column("Instance", label="instance", least=130),
                Column("Card", label="device"),
                Column("Direction", label="direction"),
                Column("Now", _ring("memcached_nic_ring_entries")),
                Column("At most", _ring("memcached_nic_ring_entries_max")),
                Column("Job", label="job"),
            ),
            runbooks=("MemcachedNicDrops",),
        ),
    ),
)

PACKETS = Section(
    "Packets of each CPU",
    (
        Panel(
            title="Packets by CPU",
            text="Packets a second that each CPU took from receive queues. One CPU far above the"
            " others is the first to be too busy.",
            unit="cps",
            queries=(Query(_softnet("processed"), _CPU),),
            runbooks=("MemcachedNicQueuesFew",),
        ),
        Panel(
            title="Packets dropped by CPU",
            text="Packets a second dropped as the backlog of a CPU was full. Each comes again after"
            " a fifth of a second or more: raise net.core.netdev_max_backlog, or spread the load.",
            unit="cps",
            queries=(Query(_softnet("dropped"), _CPU),),
            steps=NEVER,
            runbooks=("MemcachedSoftnetDrops",),
        ),
        Panel(
            title="CPUs that left packets waiting",
            text="Times a second that a CPU used up its budget for packets and left some waiting."
            " Bursts are harmless; a steady rate above the line: raise net.core.netdev_budget and"
            " netdev_budget_usecs.",
            unit="ops",
            queries=(Query(_softnet("squeezed"), _CPU),),
            steps=above("network.squeezed"),
            runbooks=("MemcachedSoftnetSqueezed",),
        ),
    ),
)
