"""Reads collectors of the host in a process of its own, in another network namespace say.

Each line of the input is the name of a collector; each line of the output is what it brought.
"""

import json
import re
import sys
from pathlib import Path

from exporter.catalogue.host.collectors import HOST_SECTIONS
from exporter.configuration import HostSettings
from exporter.host.collector import Collector
from exporter.host.sources import HOST_SOURCES


def main() -> None:
    """Answer until the input ends."""
    procfs, sysfs, include, exclude = sys.argv[1:]
    settings = HostSettings(
        procfs=Path(procfs),
        sysfs=Path(sysfs),
        include=re.compile(include) if include else None,
        exclude=re.compile(exclude) if exclude else None,
    )
    collectors = {
        section.name: Collector(section, HOST_SOURCES[section.name](settings))
        for section in HOST_SECTIONS
    }
    for line in sys.stdin:
        gathered = collectors[line.strip()].gather()
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        answer = json.dumps([gathered.success, gathered.samples, descriptors])
        print(answer, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
