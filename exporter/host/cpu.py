"""/proc/stat and /sys/devices/system/cpu: context switches of the host, and its CPUs."""

import re
from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.reading import numbers, read_present

_SWITCHES = re.compile(rb"^ctxt ([0-9]+)", re.MULTILINE)


def cpu(settings: HostSettings) -> Read:
    """Return what reads the context switches and counts the CPUs."""
    stat = str(settings.procfs / "stat")
    lists = {
        state: str(settings.sysfs / "devices/system/cpu" / state)
        for state in ("online", "possible")
    }

    def read_cpu() -> Iterable[Sample]:
        found = read_present((stat, *lists.values()))
        if switches := _SWITCHES.search(found.get(stat, b"")):
            yield "ctxt", (), int(switches[1])
        for state, path in lists.items():
            if path in found:
                yield state, (), len(numbers(found[path]))

    return read_cpu
