"""All rules, file by file."""

from exporter.health.rules.connections import CONNECTIONS
from exporter.health.rules.exporter import EXPORTER
from exporter.health.rules.host import NETWORK, RESOURCES
from exporter.health.rules.latency import LATENCY
from exporter.health.rules.memory import MEMORY
from exporter.health.rules.recording import RECORDING
from exporter.health.rules.recording_host import RECORDING_HOST, RECORDING_NIC, RECORDING_WORKERS
from exporter.health.rules.servers import SERVERS
from exporter.health.rules.shape import Group
from exporter.health.rules.storage import STORAGE
from exporter.health.rules.traffic import TRAFFIC
from exporter.health.rules.workers import WORKERS

FILES: dict[str, tuple[Group, ...]] = {
    "memcached-recording": (RECORDING, RECORDING_WORKERS, RECORDING_HOST, RECORDING_NIC),
    "memcached-alerts": (SERVERS, EXPORTER, CONNECTIONS, MEMORY, TRAFFIC, LATENCY, STORAGE),
    "memcached-host-alerts": (WORKERS, RESOURCES, NETWORK),
}
"""Name of a rule file, without its ending, to its groups."""
