"""What reads each collector of the catalogue."""

from collections.abc import Callable

from exporter.configuration import HostSettings
from exporter.host.cgroup import cgroup
from exporter.host.collector import Read
from exporter.host.cpu import cpu
from exporter.host.files import files
from exporter.host.hugepages import hugepages
from exporter.host.interrupts import interrupt_matrix, interrupts
from exporter.host.listen_queue import listen_queue
from exporter.host.nic import nic
from exporter.host.nic_drops import nic_drops
from exporter.host.nic_queues import nic_queues
from exporter.host.numa import numa
from exporter.host.process import Process
from exporter.host.process_memory import memory_maps, numa_pages
from exporter.host.process_usage import process
from exporter.host.softnet import softnet
from exporter.host.steering import steering
from exporter.host.swap import swap
from exporter.host.sysctl import sysctl
from exporter.host.tcp import tcp
from exporter.host.threads import threads

HOST_SOURCES: dict[str, Callable[[HostSettings], Read]] = {
    "cpu": cpu,
    "softnet": softnet,
    "files": files,
    "sysctl": sysctl,
    "swap": swap,
    "hugepages": hugepages,
    "numa": numa,
    "nic": nic,
    "nic_queues": nic_queues,
    "nic_drops": nic_drops,
    "interrupts": interrupts,
    "interrupt_matrix": interrupt_matrix,
    "steering": steering,
}
"""By collector: makes what reads the host."""

PROCESS_SOURCES: dict[str, Callable[[Process, HostSettings], Read]] = {
    "process": process,
    "threads": threads,
    "memory_maps": memory_maps,
    "numa_pages": numa_pages,
    "listen_queue": listen_queue,
    "tcp": tcp,
    "cgroup": cgroup,
}
"""By collector: makes what reads one process."""
