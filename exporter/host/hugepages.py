"""/sys/kernel/mm/transparent_hugepage: when the kernel uses huge pages of its own accord."""

from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.reading import read_present


def hugepages(settings: HostSettings) -> Read:
    """Return what reads which mode is active: ``always [madvise] never``."""
    directory = settings.sysfs / "kernel/mm/transparent_hugepage"
    paths = {key: str(directory / key) for key in ("enabled", "defrag")}

    def read_hugepages() -> Iterable[Sample]:
        found = read_present(paths.values())
        for key, path in paths.items():
            for mode in found.get(path, b"").decode(errors="replace").split():
                yield key, (mode.strip("[]"),), int(mode.startswith("["))

    return read_hugepages
