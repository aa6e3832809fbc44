"""/proc/net/softnet_stat: what each CPU did with arriving packets."""

from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample

_COLUMNS = ("processed", "dropped", "squeezed")
"""The first three of the hexadecimal columns, of which kernels have 9 to 15."""
_CPU_COLUMN = 12
"""Where newer kernels say which CPU it is; older ones leave out CPUs that are offline."""


def softnet(settings: HostSettings) -> Read:
    """Return what reads the counters of each CPU (packets, and times)."""
    path = settings.net / "softnet_stat"

    def read() -> Iterable[Sample]:
        for row, line in enumerate(path.read_text().splitlines()):
            columns = [int(column, 16) for column in line.split()]
            cpu = columns[_CPU_COLUMN] if len(columns) > _CPU_COLUMN else row
            for key, value in zip(_COLUMNS, columns, strict=False):
                yield key, (str(cpu),), value

    return read
