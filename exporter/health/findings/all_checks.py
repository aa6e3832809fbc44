"""All checks, in the order in which findings of equal weight are shown."""

from exporter.health.findings.connections import CONNECTIONS
from exporter.health.findings.host import HOST
from exporter.health.findings.memory import MEMORY
from exporter.health.findings.network import NETWORK
from exporter.health.findings.settings import SETTINGS
from exporter.health.findings.slabs import SLABS
from exporter.health.findings.storage import STORAGE
from exporter.health.findings.traffic import TRAFFIC
from exporter.health.findings.workers import WORKERS

TOPICS = {
    "Connections": CONNECTIONS,
    "Memory": MEMORY,
    "Slab classes": SLABS,
    "Traffic": TRAFFIC,
    "Worker threads": WORKERS,
    "External storage and proxy": STORAGE,
    "The network": NETWORK,
    "The host": HOST,
    "How memcached was started": SETTINGS,
}
"""The tables by what they are about."""

CHECKS = tuple(check for checks in TOPICS.values() for check in checks)
