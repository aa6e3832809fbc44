"""The cgroups of a memcached process: what they allow it, and how often it wanted more.

A limit may be set on the process's own cgroup or on any above it, as that of a pod is, so the
smallest one counts. What is told of throttling, usage and kills is that of the cgroup with this
limit: the one that holds memcached back.
"""

import errno
import re
from collections.abc import Callable, Iterable, Iterator

from exporter.configuration import HostSettings
from exporter.host.cgroup_tree import Ancestry, ancestry
from exporter.host.collector import Read, Sample
from exporter.host.process import Process
from exporter.host.reading import read, read_if_there

_UNLIMITED = 1 << 62
"""Bytes; version 1 writes the greatest number that it can hold for no limit."""
_NANOSECONDS = 1e9
_MICROSECONDS = 1e6
_FIELD = re.compile(rb"^([a-z_]+) ([0-9]+)$", re.MULTILINE)


def cgroup(process: Process, settings: HostSettings) -> Read:
    """Return what reads limits of CPU (cores) and memory (bytes), and what they led to."""
    return _Cgroup(process, str(settings.sysfs / "fs/cgroup"))


class _Cgroup:
    """Knows where the cgroups are until the process is moved to others."""

    def __init__(self, process: Process, top: str) -> None:
        self._process = process
        self._top = top
        self._membership = ""
        self._cpu: Ancestry | None = None
        self._memory: Ancestry | None = None

    def __call__(self) -> Iterable[Sample]:
        membership = read(f"{self._process.directory}/cgroup").decode(errors="surrogateescape")
        if membership != self._membership:
            pid = self._process.pid
            self._cpu = ancestry(membership, "cpu", self._top, pid)
            self._memory = ancestry(membership, "memory", self._top, pid)
            self._membership = membership
        if not (self._cpu or self._memory):
            raise FileNotFoundError(errno.ENOENT, "cgroup cannot be seen from here", self._top)
        if self._cpu:
            yield from _cpu(self._cpu)
        if self._memory:
            yield from _memory(self._memory)


def _cpu(cgroups: Ancestry) -> Iterator[Sample]:
    unified = cgroups.unified
    cores, directory = _smallest(cgroups, _cores if unified else _cores_of_version_1)
    if cores is None:
        return
    yield "cpu.max", (), cores
    told = _fields(f"{directory}/cpu.stat")
    for key in ("nr_periods", "nr_throttled"):
        if key in told:
            yield key, (), told[key]
    if "throttled_usec" in told:
        yield "throttled_usec", (), told["throttled_usec"] / _MICROSECONDS
    elif "throttled_time" in told:
        yield "throttled_usec", (), told["throttled_time"] / _NANOSECONDS


def _memory(cgroups: Ancestry) -> Iterator[Sample]:
    unified = cgroups.unified
    name = "memory.max" if unified else "memory.limit_in_bytes"
    limit, directory = _smallest(cgroups, lambda cgroup: _bytes(f"{cgroup}/{name}"))
    if limit is None:
        return
    yield "memory.max", (), limit
    usage = _bytes(f"{directory}/memory.{'current' if unified else 'usage_in_bytes'}")
    if usage is not None:
        yield "memory.current", (), usage
    told = _fields(f"{directory}/memory.{'events' if unified else 'oom_control'}")
    if "oom_kill" in told:
        yield "oom_kill", (), told["oom_kill"]


def _smallest(
    cgroups: Ancestry, limit_of: Callable[[str], float | None]
) -> tuple[float | None, str]:
    """Return the smallest limit and the cgroup that has it, the nearest one of equals."""
    smallest: float | None = None
    holder = ""
    for directory in cgroups.directories:
        limit = limit_of(directory)
        if limit is not None and (smallest is None or limit < smallest):
            smallest, holder = limit, directory
    return smallest, holder


def _cores(directory: str) -> float | None:
    """Return the CPU time that version 2 allows per second: ``max 100000`` is no limit."""
    quota, _, period = (read_if_there(f"{directory}/cpu.max") or b"max").partition(b" ")
    return None if quota.strip() == b"max" else int(quota) / int(period)


def _cores_of_version_1(directory: str) -> float | None:
    """Return the CPU time that version 1 allows per second; a quota of -1 is no limit."""
    quota = int(read_if_there(f"{directory}/cpu.cfs_quota_us") or -1)
    if quota < 0:
        return None
    return quota / int(read(f"{directory}/cpu.cfs_period_us"))


def _bytes(path: str) -> int | None:
    """Return the number of a file; None for no limit, and for a file that is not there."""
    content = (read_if_there(path) or b"max").strip()
    number = _UNLIMITED if content == b"max" else int(content)
    return number if number < _UNLIMITED else None


def _fields(path: str) -> dict[str, int]:
    """Return the lines ``name number`` of a file; none when it is not there."""
    found = _FIELD.findall(read_if_there(path) or b"")
    return {name.decode(): int(number) for name, number in found}
