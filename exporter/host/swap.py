"""/proc/meminfo and /proc/vmstat: swap space, and pages that go there and back."""

import re
from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.reading import read_present

_SPACE = re.compile(rb"^(SwapTotal|SwapFree): *([0-9]+) kB", re.MULTILINE)
_PAGES = re.compile(rb"^(pswpin|pswpout) ([0-9]+)", re.MULTILINE)
_KIB = 1024


def swap(settings: HostSettings) -> Read:
    """Return what reads the swap space (bytes) and the traffic to it (pages)."""
    meminfo = str(settings.procfs / "meminfo")
    vmstat = str(settings.procfs / "vmstat")

    def read_swap() -> Iterable[Sample]:
        found = read_present((meminfo, vmstat))
        for key, kibibytes in _SPACE.findall(found.get(meminfo, b"")):
            yield key.decode(), (), int(kibibytes) * _KIB
        for key, pages in _PAGES.findall(found.get(vmstat, b"")):
            yield key.decode(), (), int(pages)

    return read_swap
