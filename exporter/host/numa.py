"""/sys/devices/system/node: memory nodes, and pages that came from another node than wanted."""

import re
from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.reading import numbers, read, read_if_there

_MISSES = re.compile(rb"^numa_miss ([0-9]+)", re.MULTILINE)


def numa(settings: HostSettings) -> Read:
    """Return what counts the nodes, and reads each one's misses (pages)."""
    directory = str(settings.sysfs / "devices/system/node")

    def read_numa() -> Iterable[Sample]:
        nodes = numbers(read(f"{directory}/online"))
        yield "online", (), len(nodes)
        for node in nodes:
            content = read_if_there(f"{directory}/node{node}/numastat")
            if misses := _MISSES.search(content or b""):
                yield "numa_miss", (str(node),), int(misses[1])

    return read_numa
