"""Where a process' memory lies: huge pages and NUMA nodes.

The kernel goes through all of the memory for these files: some 10 ms per GiB, each time.
"""

import contextlib
import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.process import Process
from exporter.host.reading import read as read_file

_KIBIBYTE = 1024
_PAGE_KIBIBYTES = os.sysconf("SC_PAGE_SIZE") // _KIBIBYTE


def memory_maps(process: Process, _settings: HostSettings) -> Read:
    """Return what reads the memory of a process in huge pages (bytes)."""

    def read() -> Iterable[Sample]:
        with _as_absent():
            rollup = read_file(process.directory / "smaps_rollup")
        kibibytes = rollup.partition(b"\nAnonHugePages:")[2].split(None, 1)
        if kibibytes:
            yield "AnonHugePages", (), int(kibibytes[0]) * _KIBIBYTE

    return read


def numa_pages(process: Process, settings: HostSettings) -> Read:
    """Return what reads the pages of a process on each NUMA node, where there are several."""
    nodes = settings.sysfs / "devices/system/node/online"

    def read() -> Iterable[Sample]:
        if read_file(nodes).strip().isdigit():
            raise OSError(errno.ENODEV, "the host has one NUMA node", str(nodes))
        with _as_absent():
            maps = read_file(process.directory / "numa_maps")
        pages: Counter[str] = Counter()
        for line in maps.splitlines():
            for node, count in _on_nodes(line.split()):
                pages[node] += count
        for node in sorted(pages, key=int):
            yield "N", (node,), pages[node]

    return read


def _on_nodes(words: list[bytes]) -> Iterator[tuple[str, int]]:
    """Yield the pages of a mapping on each node; huge ones count for as many as they replace."""
    size = _PAGE_KIBIBYTES
    counts: list[tuple[str, int]] = []
    for name, _, value in (word.partition(b"=") for word in words[2:]):
        if name == b"kernelpagesize_kB":
            size = int(value)
        elif name[:1] == b"N" and name[1:].isdigit():
            counts.append((name[1:].decode(), int(value)))
    yield from ((node, count * size // _PAGE_KIBIBYTES) for node, count in counts)


@contextlib.contextmanager
def _as_absent() -> Iterator[None]:
    """Count a file that is denied as one that is not there: few exporters may read these."""
    try:
        yield
    except PermissionError as error:
        raise OSError(errno.ENOENT, error.strerror, error.filename) from error
