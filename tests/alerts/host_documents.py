"""All entries of promtool's ``tests:`` for the alerts about workers and the host."""

from typing import Any

from tests.alerts import host_network, host_nic, host_resources, host_scheduling, host_workers

ENTRIES: list[dict[str, Any]] = [
    entry
    for module in (host_workers, host_scheduling, host_resources, host_network, host_nic)
    for entry in module.documents()
]
