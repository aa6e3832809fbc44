"""Where the memory of a process lies: huge pages and NUMA nodes."""

import mmap
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from exporter.catalogue.host.process_memory import MEMORY_MAPS, NUMA_PAGES
from exporter.configuration import HostSettings
from exporter.host.collector import Collector, Gathered
from exporter.host.process import Process
from exporter.host.process_memory import memory_maps, numa_pages
from tests.host.subjects import needs_root, process_of, run, settings, values
from tests.processes import Memcached


def nodes(root: Path, online: str) -> HostSettings:
    """Return settings for a made-up host with some NUMA nodes."""
    (root / "devices/system/node").mkdir(parents=True)
    (root / "devices/system/node/online").write_text(online + "\n")
    return msgspec.structs.replace(settings(), sysfs=root)


def gather_numa(process: Process, given: HostSettings) -> Gathered:
    """Read the nodes as the exporter does."""
    return Collector(NUMA_PAGES, numa_pages(process, given), "here").gather()


def test_huge_pages_are_those_of_all_mappings() -> None:
    """The sum is that of the single mappings."""
    size = 16 << 20
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    memory.write(b"x" * size)
    try:
        maps = Path("/proc/self/smaps").read_text()
    except PermissionError:
        pytest.skip("this machine lets nobody see its memory")
    found = values(list(memory_maps(process_of(os.getpid()), settings())()))
    expected = sum(map(int, re.findall(r"^AnonHugePages: +(\d+) kB$", maps, re.MULTILINE)))
    assert found == {("AnonHugePages",): expected * 1024}
    memory.close()


def test_a_kernel_without_the_line(tmp_path: Path) -> None:
    """It gives no series."""
    (tmp_path / "smaps_rollup").write_text("1-2 ---p 0 00:00 0  [rollup]\nRss: 4 kB\n")
    assert list(memory_maps(Process(1, 1, tmp_path), settings())()) == []


@needs_root
@pytest.mark.parametrize("collector", ["memory_maps", "numa_pages"])
def test_what_is_denied_is_absent(
    memcached: Callable[..., Memcached], tmp_path: Path, collector: str
) -> None:
    """A server's memory is for privileged readers to see: without them this is no failure."""
    server = memcached()
    nodes(tmp_path, "0-1")
    tmp_path.chmod(0o755)
    result = run(f"""
        import contextlib, msgspec
        from exporter.catalogue.host.process_memory import MEMORY_MAPS
        from exporter.host import process_memory
        from exporter.host.collector import Collector
        from tests.host.subjects import process_of, settings
        os.chdir({str(tmp_path)!r})
        become_nobody()
        given = msgspec.structs.replace(settings(), sysfs=Path("."))
        read = process_memory.{collector}(process_of({server.process.pid}), given)
        gathered = Collector(MEMORY_MAPS, read).gather()
        with contextlib.suppress(PermissionError):
            Path("/proc/{server.process.pid}/smaps_rollup").read_bytes()
            sys.exit("this reader is privileged")
        print(json.dumps([gathered.samples, gathered.success]))
    """)
    assert result == [[], None]


def test_pages_are_counted_by_node(tmp_path: Path) -> None:
    """All mappings count, huge pages for as many as they replace."""
    small = mmap.PAGESIZE // 1024
    process = Process(1, 1, tmp_path)
    (tmp_path / "numa_maps").write_text(
        f"7f00 default file=/usr/lib/N1=5 mapped=9 N0=3 N1=4 kernelpagesize_kB={small}\n"
        f"7f10 default anon=7 dirty=7 N1=7 kernelpagesize_kB={small}\n"
        f"7f20 bind:0-1 file=/dev/hugepages/x huge dirty=3 N0=2 N10=1"
        f" kernelpagesize_kB={512 * small}\n"
        "7f30 default\n"
    )
    gathered = gather_numa(process, nodes(tmp_path, "0-1,10"))
    assert gathered.success
    assert values(gathered.samples) == {("N", "0"): 3 + 1024, ("N", "1"): 11, ("N", "10"): 512}


def test_a_real_process_on_its_node(tmp_path: Path) -> None:
    """The pages are those of the kernel's list."""
    try:
        text = Path("/proc/self/numa_maps").read_text()
    except OSError:
        pytest.skip("this kernel has no NUMA, or denies it")
    expected: Counter[str] = Counter()
    for node, count, size in re.findall(r" N(\d+)=(\d+) kernelpagesize_kB=(\d+)", text):
        expected[node] += int(count) * int(size) * 1024 // mmap.PAGESIZE
    gathered = gather_numa(process_of(os.getpid()), nodes(tmp_path, "0-1"))
    total = sum(number for *_, number in gathered.samples)
    assert {labels[0] for _, labels, _ in gathered.samples} == set(expected)
    assert total == pytest.approx(expected.total(), rel=0.05)


def test_one_node_says_nothing(tmp_path: Path) -> None:
    """Where all memory is on one node there is nothing to tell, and nothing is read."""
    gathered = gather_numa(Process(1, 1, tmp_path), nodes(tmp_path, "0"))
    assert (gathered.samples, gathered.success) == ([], None)


def test_a_kernel_without_numa(tmp_path: Path) -> None:
    """It has neither nodes nor the list."""
    gathered = gather_numa(
        Process(1, 1, tmp_path), msgspec.structs.replace(settings(), sysfs=tmp_path)
    )
    assert (gathered.samples, gathered.success) == ([], None)


def test_a_process_that_has_ended(tmp_path: Path) -> None:
    """It is absent, and no failure."""
    read = memory_maps(Process(1, 1, tmp_path / "42"), settings())
    gathered = Collector(MEMORY_MAPS, read, "here").gather()
    assert (gathered.samples, gathered.success) == ([], None)
