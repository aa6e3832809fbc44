"""/proc/net/softnet_stat: what each CPU did with arriving packets."""

from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.reading import numbers, read, read_if_there

_COLUMNS = ("processed", "dropped", "squeezed")
"""The first three of the hexadecimal columns, of which kernels have 9 to 15."""
_CPU_COLUMN = 12
"""Where kernels since 5.10 say which CPU it is."""


def softnet(settings: HostSettings) -> Read:
    """Return what reads the counters of each CPU (packets, and times)."""
    path = str(settings.net / "softnet_stat")
    online = str(settings.sysfs / "devices/system/cpu/online")

    def read_softnet() -> Iterable[Sample]:
        rows = [[int(column, 16) for column in line.split()] for line in read(path).splitlines()]
        for cpu, row in zip(_cpus(rows, online), rows, strict=True):
            for key, value in zip(_COLUMNS, row, strict=False):
                yield key, (str(cpu),), value

    return read_softnet


def _cpus(rows: list[list[int]], online: str) -> list[int]:
    """Return which CPU each row is of.

    Kernels leave out CPUs that are offline. Before 5.10 they do not say which CPU a row is of:
    the rows are those of the CPUs that are online, in order.
    """
    if all(len(row) > _CPU_COLUMN for row in rows):
        return [row[_CPU_COLUMN] for row in rows]
    cpus = numbers(read_if_there(online) or b"")
    return cpus if len(cpus) == len(rows) else list(range(len(rows)))
