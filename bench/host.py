"""The measurement of the host half: all of it, against merely reading the same files."""

import contextlib
import os
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pymemcache  # type: ignore[import-untyped]

from bench.processes import HOST, Process, memcached
from bench.report import FIGURES_HEAD, Figure, figure, line
from exporter.catalogue.host.collectors import HOST_SECTIONS, OFF_BY_DEFAULT, PROCESS_SECTIONS
from exporter.configuration import HostSettings
from exporter.exposition import Format, host_page
from exporter.host.host import Host, Subject
from exporter.host.process import Process as HostProcess
from exporter.host.process_files import started

WORKERS = 64
GOAL_SECONDS = 0.010
_OF_THREADS = ("stat", "status", "schedstat")
_OF_HOST = ("stat", "net/softnet_stat", "meminfo", "vmstat", "sys/fs/file-nr")
_OF_PROCESS = (
    *("stat", "status", "limits", "cmdline", "cgroup"),
    *("net/netstat", "net/snmp", "net/sockstat", "net/sockstat6"),
)


class Measurement(msgspec.Struct, frozen=True):
    """Seconds, per round."""

    threads: int
    whole: list[float]
    """All collectors that are on by default, and their part of the page."""
    raw: list[float]
    """Opening and reading the files of /proc that most of the time goes to."""
    samples: int


def measure(rounds: int) -> Measurement:
    """Measure with a memcached of 64 workers. Raises CannotMeasureError."""
    with contextlib.ExitStack() as stack:
        server = memcached("-t", str(WORKERS), "-c", "1024")
        stack.callback(server.stop)
        _wake(server)
        process = _process(server)
        names = {section.name for section in (*HOST_SECTIONS, *PROCESS_SECTIONS)}
        host = Host(HostSettings(collectors=frozenset(names - OFF_BY_DEFAULT)))
        stack.callback(host.close)
        subject = Subject("bench", (("server", "bench"),), answered=True, process=process)

        def read() -> str:
            errands = host.begin(), host.begin_processes([subject])
            portions = [part for errand in errands for part in errand.result(float("inf"))]
            return host_page(portions, Format.TEXT)

        files = list(_files(process.directory))
        whole, raw = [], []
        for _ in range(rounds):
            whole.append(_seconds(read))
            raw.append(_seconds(lambda: [_content(path) for path in files]))
        page = read()
        threads = len(list((process.directory / "task").iterdir()))
        return Measurement(threads, whole, raw, len(re.findall(r"^[^#]", page, re.MULTILINE)))


def figures(found: Measurement) -> list[Figure]:
    """Return the figures, the time in milliseconds."""
    pairs = zip(found.whole, found.raw, strict=True)
    return [
        figure("host set, ms", [seconds * 1e3 for seconds in found.whole], GOAL_SECONDS * 1e3),
        figure("host set / raw reads", [whole / raw for whole, raw in pairs]),
    ]


def table(found: Measurement, results: list[Figure]) -> str:
    """Return the report."""
    raw = statistics.median(found.raw) * 1e3
    head = f"The host and a memcached of {found.threads} threads: {found.samples} samples"
    return "\n".join(
        (head, f"raw reads of /proc: {raw:.2f} ms", "", FIGURES_HEAD, *map(line, results))
    )


def _wake(server: Process) -> None:
    """Give each worker something to do."""
    with contextlib.ExitStack() as stack:
        for i in range(WORKERS):
            client = pymemcache.Client((HOST, server.port))
            stack.callback(client.close)
            client.set(f"key{i}", b"x", noreply=False)


def _process(server: Process) -> HostProcess:
    directory = Path(f"/proc/{server.pid}")
    start = started(None, directory / "stat")
    assert start is not None
    return HostProcess(server.pid, start, directory)


def _files(process: Path) -> list[str]:
    return [
        *(f"/proc/{name}" for name in _OF_HOST),
        *(f"{process}/{name}" for name in _OF_PROCESS),
        *(f"{task}/{name}" for task in (process / "task").iterdir() for name in _OF_THREADS),
    ]


def _content(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, 65536)
    finally:
        os.close(handle)


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
