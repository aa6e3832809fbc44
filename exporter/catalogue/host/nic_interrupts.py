"""Interrupts of network cards, and how software spreads their work over CPUs."""

from exporter.catalogue.host.dropped import host_series_dropped
from exporter.catalogue.row import Section, counter, gauge

_VECTOR = ("device", "direction", "queue", "vector")
_FILES = "/sys/kernel/irq/*/per_cpu_count, /proc/interrupts"
_WRAP = "The kernel counts with 32 bits; a wrap looks like a restart, which `rate` copes with."

INTERRUPTS = Section(
    name="interrupts",
    command=_FILES,
    rows=(
        counter(
            "interrupts",
            "memcached_nic_interrupts_total",
            "Interrupts of a network device, by what they serve.",
            dynamic=_VECTOR,
            note="`direction` is `rx`, `tx`, `combined` for both, or `other` for all that serve no"
            " queue. Some drivers number interrupts rather than queues: then `queue` is absent and"
            f" `vector` has the number. {_WRAP}",
        ),
        counter(
            "cpu_interrupts",
            "memcached_nic_cpu_interrupts_total",
            "Interrupts of a network device that a CPU took; CPUs that never did are left out.",
            dynamic=("device", "cpu"),
            note=_WRAP,
        ),
        gauge(
            "interrupt_cpus",
            "memcached_nic_interrupt_cpus",
            "CPUs to which the interrupts of a network device's queues go.",
            dynamic=("device",),
            note="From /proc/irq/*/effective_affinity_list, or smp_affinity_list where that is not"
            " there.",
        ),
        host_series_dropped("interrupts"),
    ),
)

INTERRUPT_MATRIX = Section(
    name="interrupt_matrix",
    command=_FILES,
    rows=(
        counter(
            "cell",
            "memcached_nic_queue_cpu_interrupts_total",
            "Interrupts of a network device, by what they serve and by CPU; pairs that never met"
            " are left out.",
            dynamic=(*_VECTOR, "cpu"),
            note="Up to 8192 series: for looking into a trouble, not for always.",
        ),
        host_series_dropped("interrupt_matrix"),
    ),
)

STEERING = Section(
    name="steering",
    command="/sys/class/net/*/queues",
    rows=(
        gauge(
            "rps_queues",
            "memcached_nic_rps_queues",
            "Receive queues of a network device whose packets go to other CPUs by software (RPS).",
            dynamic=("device",),
            note="Read once a minute.",
        ),
        gauge(
            "xps_queues",
            "memcached_nic_xps_queues",
            "Transmit queues of a network device that certain CPUs choose (XPS).",
            dynamic=("device",),
            note="Read once a minute; absent for a device with one transmit queue.",
        ),
    ),
)
