"""All rules, file by file."""

from exporter.health.rules.server import SERVER
from exporter.health.rules.shape import Group

FILES: dict[str, tuple[Group, ...]] = {
    "memcached-alerts": (SERVER,),
}
"""Name of a rule file, without its ending, to its groups."""
