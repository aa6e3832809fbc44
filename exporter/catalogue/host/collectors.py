"""The collectors of the host half: those of the whole host, and those of a server's process."""

from typing import Literal

from exporter.catalogue.host.cgroup import CGROUP
from exporter.catalogue.host.cpu import CPU
from exporter.catalogue.host.files import FILES
from exporter.catalogue.host.hugepages import HUGEPAGES
from exporter.catalogue.host.listen_queue import LISTEN_QUEUE
from exporter.catalogue.host.nic import NIC
from exporter.catalogue.host.nic_interrupts import INTERRUPT_MATRIX, INTERRUPTS, STEERING
from exporter.catalogue.host.nic_queues import NIC_DROPS, NIC_QUEUES
from exporter.catalogue.host.numa import NUMA
from exporter.catalogue.host.process import PROCESS
from exporter.catalogue.host.process_memory import MEMORY_MAPS, NUMA_PAGES
from exporter.catalogue.host.softnet import SOFTNET
from exporter.catalogue.host.swap import SWAP
from exporter.catalogue.host.sysctl import SYSCTL
from exporter.catalogue.host.tcp import TCP
from exporter.catalogue.host.threads import THREADS
from exporter.catalogue.row import Section, gauge

HOST_SECTIONS: tuple[Section, ...] = (
    CPU,
    SOFTNET,
    FILES,
    SYSCTL,
    SWAP,
    HUGEPAGES,
    NUMA,
    NIC,
    NIC_QUEUES,
    NIC_DROPS,
    INTERRUPTS,
    INTERRUPT_MATRIX,
    STEERING,
)
"""What is read once for the whole host; the samples carry no ``server`` label."""

PROCESS_SECTIONS: tuple[Section, ...] = (
    PROCESS,
    THREADS,
    MEMORY_MAPS,
    NUMA_PAGES,
    LISTEN_QUEUE,
    TCP,
    CGROUP,
)
"""What is read for each memcached process on this host, under its server's labels."""

CollectorName = Literal[
    "cpu",
    "softnet",
    "files",
    "sysctl",
    "swap",
    "hugepages",
    "numa",
    "nic",
    "nic_queues",
    "nic_drops",
    "interrupts",
    "interrupt_matrix",
    "steering",
    "listen_queue",
    "tcp",
    "cgroup",
    "process",
    "threads",
    "memory_maps",
    "numa_pages",
]
"""Collectors as the configuration names them."""

OFF_BY_DEFAULT: frozenset[CollectorName] = frozenset(
    {"interrupt_matrix", "memory_maps", "numa_pages"}
)
"""Collectors that are costly, or need privileges, and so are asked for in the configuration."""

HOST_OWN = Section(
    name="host_collectors",
    command="",
    rows=(
        gauge(
            "success",
            "memcached_host_collector_success",
            "Whether a collector of host metrics read its source (1) or failed (0); absent where"
            " this host does not have the source.",
            dynamic=("collector",),
        ),
        gauge(
            "duration",
            "memcached_host_collector_duration_seconds",
            "Time that a collector of host metrics took, in seconds.",
            dynamic=("collector",),
        ),
    ),
)
"""How the reading of the host went."""

PROCESS_OWN = Section(
    name="process_collectors",
    command="",
    rows=(
        gauge(
            "success",
            "memcached_process_collector_success",
            "Whether a collector of process metrics read its source (1) or failed (0); absent"
            " where this host does not have the source.",
            dynamic=("collector",),
        ),
        gauge(
            "duration",
            "memcached_process_collector_duration_seconds",
            "Time that a collector of process metrics took, in seconds.",
            dynamic=("collector",),
        ),
    ),
)
"""How the reading of a server's process went."""
