"""/proc/sys/fs/file-nr: open files of the whole host."""

from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.reading import read


def files(settings: HostSettings) -> Read:
    """Return what reads how many files are open, and may be."""
    path = str(settings.procfs / "sys/fs/file-nr")

    def read_files() -> Iterable[Sample]:
        # The second number, of handles that are kept for reuse, is 0 since Linux 2.6.
        allocated, unused, most = map(int, read(path).split())
        yield "allocated", (), allocated - unused
        yield "max", (), most

    return read_files
