"""Each thread of memcached: what it used, how long it waited, and how often it gave way."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporter.host.process_tasks import tasks_of
from exporter.host.process_usage import process as usage
from exporter.host.threads import threads as read_threads
from tests.host.subjects import Threads, needs_root, process_of, run, settings, values
from tests.processes import Memcached

TICKS = os.sysconf("SC_CLK_TCK")
KEYS = {"utime", "stime", "run_delay", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"}
needs_waits = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this kernel counts no waiting for CPUs"
)


@pytest.fixture
def threads() -> Iterator[Threads]:
    """Start a process whose threads come and go upon order."""
    started = Threads()
    yield started
    started.stop()


def read(pid: int) -> dict[tuple[str, ...], float]:
    """Return what is read of the threads of a process."""
    return values(list(read_threads(process_of(pid), settings())()))


@needs_waits
def test_many_workers(memcached: Callable[..., Memcached]) -> None:
    """Of a server with 64 workers each has its series, and so has each other thread."""
    server = memcached("-t", "64")
    found = read(server.process.pid)
    names = [
        path.read_text().strip() for path in Path(f"/proc/{server.process.pid}").glob("task/*/comm")
    ]
    kinds = {name.removeprefix("mc-") for name in names} - {"memcached", "worker"}
    places = {("main", "0"), *(("worker", str(index)) for index in range(64))}
    places |= {(kind, "0") for kind in kinds}
    assert len(places) == len(names)
    assert found.pop(("series_dropped",)) == 0
    assert set(found) == {(key, *place) for key in KEYS for place in places}


@needs_waits
def test_the_numbers_are_those_of_the_threads(memcached: Callable[..., Memcached]) -> None:
    """The worker that works is the one whose counters rise; workers count in order of start."""
    server = memcached("-t", "2")
    tasks = Path(f"/proc/{server.process.pid}/task")
    workers = sorted(
        int(path.parent.name)
        for path in tasks.glob("*/comm")
        if path.read_text().strip() == "mc-worker"
    )

    def ticks(thread: int) -> int:
        fields = (tasks / str(thread) / "stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    reader = read_threads(process_of(server.process.pid), settings())
    before = values(list(reader()))
    with socket.create_connection((server.host, server.port)) as connection:
        requests = 0
        while requests < 1000 or not any(map(ticks, workers)):
            connection.sendall(b"mn\r\n")
            assert connection.recv(64) == b"MN\r\n"
            requests += 1
        after = values(list(reader()))
        kernel: dict[str, tuple[float, float, float]] = {}
        for index, worker in enumerate(workers):
            fields = (tasks / str(worker) / "stat").read_text().rpartition(")")[2].split()
            wait = int((tasks / str(worker) / "schedstat").read_text().split()[1])
            kernel[str(index)] = int(fields[11]) / TICKS, int(fields[12]) / TICKS, wait / 1e9
    rises = {
        index: after["voluntary_ctxt_switches", "worker", index]
        - before["voluntary_ctxt_switches", "worker", index]
        for index in ("0", "1")
    }
    busy, idle = sorted(rises, key=rises.__getitem__, reverse=True)
    assert rises[busy] > 500
    assert rises[idle] < 10
    for number, (user, system, waited) in kernel.items():
        assert after["utime", "worker", number] == pytest.approx(user, abs=0.03)
        assert after["stime", "worker", number] == pytest.approx(system, abs=0.03)
        assert after["run_delay", "worker", number] == pytest.approx(waited, abs=0.01)
    assert after["utime", "worker", busy] + after["stime", "worker", busy] > 0


def test_series_are_bounded(threads: Threads) -> None:
    """128 threads have series, those that are no workers first; the rest is counted."""
    for _ in range(130):
        threads.start("mc-worker")
    threads.start("mc-lrumaint")
    found = read(threads.process.pid)
    per_thread = len(KEYS) if any(key[0] == "run_delay" for key in found) else len(KEYS) - 1
    assert found.pop(("series_dropped",)) == (132 - 128) * per_thread
    assert len(found) == 128 * per_thread
    places = {key[1:] for key in found}
    assert {("main", "0"), ("lrumaint", "0"), ("worker", "0"), ("worker", "125")} <= places
    assert ("worker", "126") not in places


def test_both_collectors_walk_once(threads: Threads) -> None:
    """F01: the sum of the process is that of its threads on one page, while threads come and go."""
    threads.tell("churn")
    process = process_of(threads.process.pid)
    of_process = usage(process, settings("process", "threads"))
    of_threads = read_threads(process, settings("process", "threads"))
    for _ in range(20):
        whole, each = values(list(of_process())), values(list(of_threads()))
        for name in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"):
            assert whole[name,] == sum(value for key, value in each.items() if key[0] == name)
    assert tasks_of(process, detailed=True).status


@needs_root
def test_a_reader_without_privileges_reads_all(memcached: Callable[..., Memcached]) -> None:
    """The files of threads are open to everyone."""
    server = memcached("-t", "2")
    pairs = run(f"""
        from exporter.host.threads import threads
        from tests.host.subjects import process_of, settings
        become_nobody()
        samples = threads(process_of({server.process.pid}), settings())()
        print(json.dumps([[key, *labels] for key, labels, _ in samples]))
    """)
    assert {tuple(key) for key in pairs} == set(read(server.process.pid))
