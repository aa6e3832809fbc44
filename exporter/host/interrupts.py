"""Interrupts of network devices: how many, on which CPUs, and where they may go.

/sys/kernel/irq/N/per_cpu_count is read of the devices' own interrupts only, which is far cheaper
than /proc/interrupts on a large machine. Old kernels do not have it, and on machines with very many
CPUs it is cut; then /proc/interrupts is read.
"""

import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.devices import Attempts, Device, Devices
from exporter.host.reading import numbers as cpu_list
from exporter.host.reading import read as read_file
from exporter.host.vectors import Vector, Vectors

_MOST_VECTORS = 256
"""Of a device."""
_MOST_CPUS = 1024
_MOST_CELLS = 8192
"""Of the whole matrix of interrupts and CPUs."""

_PerCpu = tuple[tuple[str, ...], list[int]]
"""Numbers of CPUs, and a count for each."""


class _Counts:
    """Counts of interrupts by CPU, for one reading."""

    def __init__(self, settings: HostSettings, possible: list[int]) -> None:
        self._sysfs = str(settings.sysfs / "kernel/irq")
        self._table_path = settings.procfs / "interrupts"
        self._possible = tuple(map(str, possible))
        self._table: dict[str, _PerCpu] | None = None

    def of(self, irq: str) -> _PerCpu | None:
        """Return how often each CPU took an interrupt; None when the interrupt is no more."""
        try:
            data = read_file(f"{self._sysfs}/{irq}/per_cpu_count")
        except OSError:
            data = b""
        fields = data.split(b",")
        cpus = self._possible or tuple(map(str, range(len(fields))))
        # The kernel fills one page at most and drops the rest, the line end too.
        if data.endswith(b"\n") and len(fields) == len(cpus):
            return cpus, list(map(int, fields))
        return self._from_table(irq)

    def _from_table(self, irq: str) -> _PerCpu | None:
        if self._table is None:
            try:
                self._table = interrupt_table(self._table_path.read_bytes())
            except FileNotFoundError:
                self._table = {}
        return self._table.get(irq)


def interrupt_table(data: bytes) -> dict[str, _PerCpu]:
    """Return the counts of /proc/interrupts by interrupt, those of devices only.

    Columns are the CPUs that are online, as the head names them. ``ERR:`` and ``MIS:`` have one
    number, and behind the numbers stands text with numbers in it.
    """
    head, *rows = data.decode(errors="replace").splitlines() or [""]
    cpus = tuple(column.removeprefix("CPU") for column in head.split())
    table = {}
    for row in rows:
        label, _, rest = row.partition(":")
        irq = label.strip()
        if irq.isdecimal():
            fields = rest.split(maxsplit=len(cpus))[: len(cpus)]
            numbers = list(map(int, itertools.takewhile(str.isdecimal, fields)))
            table[irq] = cpus[: len(numbers)], numbers
    return table


class _Interrupts:
    """What both collectors read: the interrupts of each device with their counts."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._devices = Devices(settings)
        self._vectors = Vectors(settings)
        self._possible = _possible_cpus(settings)

    def read(self) -> Iterator[tuple[Device, list[tuple[Vector, _PerCpu]]]]:
        devices = self._devices()
        self._vectors.forget(devices)
        counts = _Counts(self._settings, self._possible)
        for device in devices:
            counted = []
            for vector in self._vectors(device):
                per_cpu = counts.of(vector.irq)
                if per_cpu is not None:
                    counted.append((vector, per_cpu))
            if counted:
                yield device, counted


def interrupts(settings: HostSettings) -> Read:
    """Return what reads the interrupts of each device, by queue and by CPU."""
    source = _Interrupts(settings)

    def read() -> Iterator[Sample]:
        samples: list[Sample] = []
        dropped = 0
        for device, counted in source.read():
            totals = Counter[tuple[str, str, str]]()
            for vector, (_, numbers) in counted:
                totals[vector.labels] += sum(numbers)
            cpus = _by_cpu(per_cpu for _, per_cpu in counted)
            for labels, count in list(totals.items())[:_MOST_VECTORS]:
                samples.append(("interrupts", (device.name, *labels), count))
            for cpu, count in list(cpus.items())[:_MOST_CPUS]:
                samples.append(("cpu_interrupts", (device.name, cpu), count))
            dropped += max(0, len(totals) - _MOST_VECTORS) + max(0, len(cpus) - _MOST_CPUS)
            allowed = _allowed_cpus(settings, [vector for vector, _ in counted])
            if allowed:
                samples.append(("interrupt_cpus", (device.name,), len(allowed)))
        Attempts().check(samples)
        yield from samples
        yield "series_dropped", (), dropped

    return read


def interrupt_matrix(settings: HostSettings) -> Read:
    """Return what reads the interrupts of each queue on each CPU, where there were any."""
    source = _Interrupts(settings)

    def read() -> Iterator[Sample]:
        cells = Counter[tuple[str, ...]]()
        for device, counted in source.read():
            for vector, (cpus, numbers) in counted:
                for cpu, number in zip(cpus, numbers, strict=True):
                    if number:
                        cells[device.name, *vector.labels, cpu] += number
        Attempts().check(cells)
        kept = list(cells.items())[:_MOST_CELLS]
        yield from (("cell", labels, count) for labels, count in kept)
        yield "series_dropped", (), len(cells) - len(kept)

    return read


def _by_cpu(counted: Iterable[_PerCpu]) -> Counter[str]:
    """Return the sums of the CPUs that took any."""
    # Whole rows at once: a large machine has tens of thousands of numbers.
    rows: dict[tuple[str, ...], list[int]] = {}
    for cpus, numbers in counted:
        sums = rows.get(cpus)
        rows[cpus] = list(map(operator.add, sums, numbers)) if sums else numbers
    found = Counter[str]()
    for cpus, sums in rows.items():
        for cpu, number in zip(cpus, sums, strict=True):
            if number:
                found[cpu] += number
    return found


def _allowed_cpus(settings: HostSettings, vectors: Iterable[Vector]) -> set[int]:
    """Return the CPUs to which the interrupts of queues go."""
    allowed: set[int] = set()
    for vector in vectors:
        if vector.direction == "other":
            continue
        for name in ("effective_affinity_list", "smp_affinity_list"):
            try:
                cpus = cpu_list(read_file(str(settings.procfs / f"irq/{vector.irq}/{name}")))
            except (OSError, ValueError):
                continue
            if cpus:
                allowed.update(cpus)
                break
    return allowed


def _possible_cpus(settings: HostSettings) -> list[int]:
    """Return the CPUs that the machine could have, which stay the same until the next boot."""
    try:
        return cpu_list(read_file(str(settings.sysfs / "devices/system/cpu/possible")))
    except (OSError, ValueError):
        return []
