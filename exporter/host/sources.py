"""What reads each collector of the catalogue."""

from collections.abc import Callable

from exporter.configuration import HostSettings
from exporter.host.collector import Read
from exporter.host.process import Process
from exporter.host.softnet import softnet

HOST_SOURCES: dict[str, Callable[[HostSettings], Read]] = {"softnet": softnet}
"""By collector: makes what reads the host."""

PROCESS_SOURCES: dict[str, Callable[[Process, HostSettings], Read]] = {}
"""By collector: makes what reads one process."""
