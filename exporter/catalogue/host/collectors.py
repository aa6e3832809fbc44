"""The collectors of the host half: those of the whole host, and those of a server's process."""

from typing import Literal

from exporter.catalogue.host.softnet import SOFTNET
from exporter.catalogue.row import Section, gauge

HOST_SECTIONS: tuple[Section, ...] = (SOFTNET,)
"""What is read once for the whole host; the samples carry no ``server`` label."""

PROCESS_SECTIONS: tuple[Section, ...] = ()
"""What is read for each memcached process on this host, under its server's labels."""

CollectorName = Literal["softnet"]
"""Collectors as the configuration names them."""

OFF_BY_DEFAULT: frozenset[CollectorName] = frozenset()
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
