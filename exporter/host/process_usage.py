"""What a process uses: CPU time, memory, files, and its threads' context switches."""

import contextlib
import errno
import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.process import Process
from exporter.host.process_files import (
    RESIDENT,
    SIZE,
    START_TIME,
    STATE,
    SYSTEM_TIME,
    TICKS,
    USER_TIME,
    stat_fields,
    status_values,
)
from exporter.host.process_tasks import tasks_of
from exporter.host.reading import read as read_file

_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIBIBYTE = 1024
_CLOCK_STEP = 0.1
"""Seconds by which the wall clock and the time since the boot must part to be called a step."""


def process(process: Process, settings: HostSettings) -> Read:
    """Return what reads the use of a process (seconds, bytes, numbers)."""
    tasks = tasks_of(process, detailed="threads" in settings.collectors)
    boot = _Boot(settings.procfs)
    reader = object()
    kinds: set[str] = set()

    def read() -> Iterable[Sample]:
        holdings = tasks.read(reader)
        yield from _of_stat(process, boot)
        yield from _of_status(tasks.status)
        yield from _files(process.directory)
        yield "voluntary_ctxt_switches", (), sum(place.counts[3] for place in holdings)
        yield "nonvoluntary_ctxt_switches", (), sum(place.counts[4] for place in holdings)
        running = Counter(place.kind for place in holdings if place.runs)
        kinds.update(running)
        for kind in sorted(kinds):
            yield "Name", (kind,), running[kind]

    return read


def _of_stat(process: Process, boot: "_Boot") -> Iterable[Sample]:
    """Yield what /proc/PID/stat has of the whole process, threads that have ended included."""
    fields = stat_fields(read_file(process.directory / "stat"))
    start = int(fields[START_TIME])
    if start != process.started or fields[STATE] in {b"Z", b"X"}:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH), str(process.directory))
    yield "utime", (), (int(fields[USER_TIME]) + int(fields[SYSTEM_TIME])) / TICKS
    yield "starttime", (), boot.time() + start / TICKS
    yield "vsize", (), int(fields[SIZE])
    yield "rss", (), int(fields[RESIDENT]) * _PAGE


def _of_status(status: bytes) -> Iterable[Sample]:
    for name in (b"VmSwap", b"VmLck"):
        for kibibytes in status_values(status, name)[:1]:
            yield name.decode(), (), int(kibibytes) * _KIBIBYTE
    for mask in status_values(status, b"Cpus_allowed"):
        yield "Cpus_allowed", (), int(mask.replace(b",", b""), 16).bit_count()


def _files(directory: Path) -> Iterable[Sample]:
    """Yield how many files are open, and how many may be."""
    with contextlib.suppress(PermissionError):
        # Kernels before 6.2 do not count here, and let only the privileged look inside.
        yield "fd", (), (directory / "fd").stat().st_size or len(os.listdir(directory / "fd"))
    limit = read_file(directory / "limits").partition(b"\nMax open files")[2].split(None, 1)[0]
    if limit.isdigit():
        yield "Max open files", (), int(limit)


class _Boot:
    """When the host was booted (/proc/stat), read again only when its clock has been set.

    The file is long on hosts with many interrupts, and dear to make.
    """

    def __init__(self, procfs: Path) -> None:
        self._path = procfs / "stat"
        self._offset = float("nan")
        self._time = 0

    def time(self) -> int:
        """Return Unix seconds."""
        offset = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        if not abs(offset - self._offset) < _CLOCK_STEP:
            self._time = int(read_file(self._path).partition(b"\nbtime ")[2].split(None, 1)[0])
            self._offset = offset
        return self._time
