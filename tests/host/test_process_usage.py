"""What a process uses, against what the kernel, the server and the tests know of it."""

import ctypes
import mmap
import os
import re
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporter.catalogue.host.process import PROCESS
from exporter.host.collector import Collector
from exporter.host.process import Process
from exporter.host.process_usage import process as usage
from tests.host.subjects import Threads, needs_root, process_of, run, settings, values
from tests.processes import Exporter, Memcached, sample

TICKS = os.sysconf("SC_CLK_TCK")
Values = dict[tuple[str, ...], float]


@pytest.fixture
def threads() -> Iterator[Threads]:
    """Start a process whose threads come and go upon order."""
    started = Threads()
    yield started
    started.stop()


def read(pid: int, *collectors: str) -> Values:
    """Return what is read of a process."""
    return values(list(usage(process_of(pid), settings(*collectors))()))


def status(pid: int) -> dict[str, str]:
    """Return the lines of a process' status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines)


def test_the_process_of_a_server(memcached: Callable[..., Memcached]) -> None:
    """CPU time, start, memory, files and threads of a real memcached are right."""
    server = memcached("-c", "100", "-t", "3")
    client = server.client()
    for number in range(20000):
        client.set(f"key{number % 100}", "x" * 100)
    pid = server.process.pid
    stats = server.stats()
    found = read(pid)
    assert found["utime",] == pytest.approx(
        float(stats["rusage_user"]) + float(stats["rusage_system"]), abs=0.05
    )
    assert found["utime",] > 0
    started = int(stats["time"]) - int(stats["uptime"])
    assert found["starttime",] == pytest.approx(started, abs=3)
    assert found["vsize",] == int(status(pid)["VmSize"].split()[0]) * 1024
    assert found["rss",] == pytest.approx(int(status(pid)["VmRSS"].split()[0]) * 1024, rel=0.1)
    assert (found["VmSwap",], found["VmLck",]) == (0, 0)
    assert found["Max open files",] == 100
    assert found["Name", "worker"] == 3
    assert found["Name", "main"] == 1
    everything = sum(value for key, value in found.items() if key[0] == "Name")
    assert everything == int(status(pid)["Threads"])
    client.close()


def test_the_start_is_as_the_official_exporter_has_it() -> None:
    """It is the boot time of /proc/stat plus the ticks, so both exporters say the same."""
    boot = re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(), re.MULTILINE)
    assert boot
    process = process_of(os.getpid())
    assert read(os.getpid())["starttime",] == int(boot[1]) + process.started / TICKS


def test_a_clock_that_is_set_moves_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The boot time is read again then, and not otherwise."""
    for name in ("self", str(os.getpid())):
        (tmp_path / name).symlink_to(f"/proc/{os.getpid()}")
    (tmp_path / "stat").write_text("cpu 1 2\nbtime 1000\nprocesses 5\n")
    process = process_of(os.getpid())
    reader = usage(process, settings(procfs=tmp_path))
    assert values(list(reader()))["starttime",] == 1000 + process.started / TICKS
    (tmp_path / "stat").write_text("cpu 1 2\nbtime 5000\nprocesses 5\n")
    assert values(list(reader()))["starttime",] == 1000 + process.started / TICKS
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 4000)
    assert values(list(reader()))["starttime",] == 5000 + process.started / TICKS


def test_open_files_are_counted() -> None:
    """As many as there are, and one more when one is opened."""
    before = read(os.getpid())["fd",]
    with Path("/dev/null").open():
        assert read(os.getpid())["fd",] == before + 1
    assert before == len(list(Path("/proc/self/fd").iterdir())) - 1


def test_limits_are_the_soft_ones(threads: Threads) -> None:
    """The limit that the process feels is the soft one."""
    resource.prlimit(threads.process.pid, resource.RLIMIT_NOFILE, (777, 888))
    assert read(threads.process.pid)["Max open files",] == 777


def test_the_cpus_allowed_are_counted(threads: Threads) -> None:
    """The affinity counts, not what the host has."""
    reader = usage(process_of(threads.process.pid), settings())
    assert values(list(reader()))["Cpus_allowed",] == len(os.sched_getaffinity(0))
    os.sched_setaffinity(threads.process.pid, {min(os.sched_getaffinity(0))})
    assert values(list(reader()))["Cpus_allowed",] == 1


def test_locked_memory() -> None:
    """Bytes, where the kernel writes KiB."""
    reader = usage(process_of(os.getpid()), settings())
    before = values(list(reader()))["VmLck",]
    memory = mmap.mmap(-1, 16 * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.CDLL(None).mlock(ctypes.c_void_p(place), ctypes.c_size_t(16 * mmap.PAGESIZE)):
        pytest.skip("this machine lets no memory be locked")
    assert values(list(reader()))["VmLck",] == before + 16 * mmap.PAGESIZE


@pytest.mark.parametrize("collectors", [(), ("threads",)])
def test_context_switches_are_those_of_all_threads(
    threads: Threads, collectors: tuple[str, ...]
) -> None:
    """F01: the sum is over the threads, and it does not fall when one ends."""
    workers = [threads.start("mc-worker") for _ in range(2)]
    threads.tell("switch 50")
    reader = usage(process_of(threads.process.pid), settings(*collectors))
    before = values(list(reader()))
    kernel = [threads.switches(thread) for thread in (threads.process.pid, *workers)]
    assert before["voluntary_ctxt_switches",] == sum(one for one, _ in kernel)
    assert before["nonvoluntary_ctxt_switches",] == sum(other for _, other in kernel)
    assert before["Name", "worker"] == 2
    threads.end(workers[0])
    after = values(list(reader()))
    assert after["voluntary_ctxt_switches",] >= before["voluntary_ctxt_switches",]
    assert after["nonvoluntary_ctxt_switches",] >= before["nonvoluntary_ctxt_switches",]
    assert after["Name", "worker"] == 1
    threads.end(workers[1])
    assert values(list(reader()))["Name", "worker"] == 0


def made_up(root: Path, *, state: str = "S", start: int = 100, status: str = "") -> Process:
    """Make process 42 of some kernel, which has started at 100 ticks."""
    task = root / "42" / "task" / "42"
    task.mkdir(parents=True)
    fields = [state, *["0"] * 10, "150", "50", *["0"] * 6, str(start), "8192", "2", "0"]
    (root / "42" / "stat").write_text(f"42 (memcached) {' '.join(fields)}\n")
    (task / "stat").write_text(f"42 (memcached) {' '.join(fields)}\n")
    (task / "status").write_text(
        f"Name:\tmemcached\n{status}voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n"
    )
    (root / "42" / "limits").write_text(
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max open files            unlimited            unlimited            files     \n"
    )
    # A directory whose size is 0, as kernels before 6.2 have for the open files.
    (root / "42" / "fd").symlink_to("/proc/self/net/dev_snmp6")
    (root / "stat").write_text("cpu 1 2\nbtime 1000\n")
    return Process(42, 100, root / "42")


def test_an_old_kernel(tmp_path: Path) -> None:
    """Open files are listed where they are not counted, and what is not there is left out."""
    process = made_up(tmp_path)
    found = values(list(usage(process, settings(procfs=tmp_path))()))
    assert (process.directory / "fd").stat().st_size == 0
    assert found == {
        ("utime",): 200 / TICKS,
        ("starttime",): 1000 + 100 / TICKS,
        ("vsize",): 8192,
        ("rss",): 2 * mmap.PAGESIZE,
        ("fd",): len(list(Path("/proc/self/net/dev_snmp6").iterdir())),
        ("voluntary_ctxt_switches",): 3,
        ("nonvoluntary_ctxt_switches",): 4,
        ("Name", "main"): 1,
    }


def test_large_machines(tmp_path: Path) -> None:
    """The mask of many CPUs has commas, and swap is in bytes."""
    process = made_up(
        tmp_path,
        status="VmLck:\t       4 kB\nVmSwap:\t 1048576 kB\n"
        "Cpus_allowed:\tffffffff,00000000,0000000f\nCpus_allowed_list:\t0-3,64-95\n",
    )
    found = values(list(usage(process, settings(procfs=tmp_path))()))
    assert found["Cpus_allowed",] == 36
    assert found["VmSwap",] == 1 << 30
    assert found["VmLck",] == 4096


@pytest.mark.parametrize(("state", "start"), [("Z", 100), ("X", 100), ("S", 101)])
def test_a_process_that_has_ended_gives_no_series(tmp_path: Path, state: str, start: int) -> None:
    """It may have done so since it was found; another one's numbers are not taken for its own."""
    process = made_up(tmp_path, state=state, start=start)
    gathered = Collector(PROCESS, usage(process, settings(procfs=tmp_path)), "here").gather()
    assert (gathered.samples, gathered.success) == ([], None)


@needs_root
def test_a_reader_without_privileges_reads_all(memcached: Callable[..., Memcached]) -> None:
    """All but the list of open files on kernels before 6.2 is open to everyone."""
    server = memcached()
    expected = read(server.process.pid)
    pairs = run(f"""
        from exporter.host.process_usage import process as usage
        from tests.host.subjects import process_of, settings
        become_nobody()
        samples = usage(process_of({server.process.pid}), settings())()
        print(json.dumps([[key, *labels] for key, labels, _ in samples]))
    """)
    counted = Path(f"/proc/{server.process.pid}/fd").stat().st_size > 0
    assert {tuple(key) for key in pairs} == {key for key in expected if counted or key != ("fd",)}


def test_the_official_exporters_names(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """A page has them for a server of this host, with its label."""
    server = memcached("-t", "2")
    page = exporter(f"--memcached.address={server.address}").samples()
    found = {
        name: page[sample(f"memcached_process_{name}", server=server.address)]
        for name in (
            "cpu_seconds_total",
            "max_fds",
            "open_fds",
            "resident_memory_bytes",
            "start_time_seconds",
            "virtual_memory_bytes",
        )
    }
    assert found["max_fds"] == 1024
    assert 0 < found["resident_memory_bytes"] < found["virtual_memory_bytes"]
    assert found["start_time_seconds"] == pytest.approx(time.time(), abs=60)
    assert page[sample("memcached_process_threads", server=server.address, kind="worker")] == 2
    assert (
        page[
            sample(
                "memcached_thread_cpu_seconds_total",
                server=server.address,
                kind="worker",
                worker="1",
                mode="user",
            )
        ]
        >= 0
    )
    for collector in ("process", "threads"):
        name = "memcached_process_collector_success"
        assert page[sample(name, server=server.address, collector=collector)] == 1
