"""Limits of real cgroups, and cgroups in namespaces."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.cgroup import cgroup
from exporter.host.process import Process
from tests.host.cgroups import Cgroup, own_cgroup
from tests.host.conditions import wait_for_value
from tests.processes import Memcached

MIB = 1 << 20
ROOT = Path(__file__).parents[2]


def read(server: Memcached) -> dict[str, float]:
    """Return what is read of a server's cgroups."""
    process = Process(server.process.pid, 1, Path(f"/proc/{server.process.pid}"))
    settings = HostSettings(Path("/proc"), Path("/sys"))
    return {key: value for key, _, value in cgroup(process, settings)()}


@contextlib.contextmanager
def command(here: Cgroup, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command in a cgroup, until the end of the block at the latest."""
    enter = 'echo $$ > "$0" && exec "$@"'
    started = subprocess.Popen(
        ["sh", "-c", enter, here.directory / "cgroup.procs", *words],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        assert started.stdout
        started.stdout.close()


@pytest.fixture
def server(memcached: Callable[..., Memcached]) -> Memcached:
    """Start a memcached."""
    return memcached("-t", "1")


def test_a_cpu_quota(server: Memcached) -> None:
    """A tenth of a core, set on the parent, is used up again and again."""
    with own_cgroup("cpu") as outer, outer.below("inner", "cpu") as inner:
        outer.limit_cpu(10_000)
        inner.add(server.process.pid)
        with command(inner, "sh", "-c", "while :; do :; done"):
            wait_for_value(lambda: outer.fields("cpu.stat")["nr_throttled"] >= 3, expected=True)
            before = outer.fields("cpu.stat")
            found = read(server)
            after = outer.fields("cpu.stat")
        assert found["cpu.max"] == 0.1
        for key in ("nr_periods", "nr_throttled"):
            assert before[key] <= found[key] <= after[key]
        name, unit = ("throttled_usec", 1e6) if outer.unified else ("throttled_time", 1e9)
        assert 0 < before[name] / unit <= found["throttled_usec"] <= after[name] / unit


def test_a_memory_limit(server: Memcached) -> None:
    """What does not fit into memcached's cgroup is killed, and counted."""
    with own_cgroup("memory") as here:
        here.limit_memory(32 * MIB)
        here.add(server.process.pid)
        found = read(server)
        assert (found["memory.max"], found["oom_kill"]) == (32 * MIB, 0)
        assert 0 <= found["memory.current"] < 32 * MIB
        with command(here, sys.executable, "-c", f"b'x' * {64 * MIB}") as greedy:
            assert greedy.wait(60) == -signal.SIGKILL
        wait_for_value(lambda: read(server)["oom_kill"], 1)
        assert server.stats()["pid"] == str(server.process.pid)


READER = """
import json, sys
from pathlib import Path
from exporter.configuration import HostSettings
from exporter.host.cgroup import cgroup
from exporter.host.process import Process
pid, sysfs = int(sys.argv[1]), Path(sys.argv[2])
read = cgroup(Process(pid, 1, Path(f"/proc/{pid}")), HostSettings(Path("/proc"), sysfs))
try:
    print(json.dumps({key: value for key, _, value in read()}))
except FileNotFoundError:
    print(json.dumps(None))
"""
"""An exporter in a cgroup of its own."""


def limit_seen(here: Cgroup, server: Memcached, *prefix: str, sysfs: str = "/sys") -> float | None:
    """Return the CPU limit of a server that a reader in a cgroup sees, started by ``prefix``."""
    words = (*prefix, sys.executable, "-c", READER, str(server.process.pid), sysfs)
    with command(here, *words) as reader:
        output, _ = reader.communicate(timeout=60)
    found = json.loads(output)
    return None if found is None else found.get("cpu.max")


@pytest.fixture
def pods(server: Memcached) -> Iterator[tuple[Cgroup, Cgroup, Cgroup]]:
    """Make a cgroup with two below it: the exporter's, and memcached's with half a core."""
    if not shutil.which("unshare"):
        pytest.skip("needs the unshare command")
    with (
        own_cgroup("cpu") as pod,
        pod.below("exporter", "cpu") as exporter,
        pod.below("memcached", "cpu") as memcached,
    ):
        exporter.limit_cpu(90_000)
        memcached.limit_cpu(50_000)
        memcached.add(server.process.pid)
        yield pod, exporter, memcached


def test_from_a_cgroup_namespace(pods: tuple[Cgroup, Cgroup, Cgroup], server: Memcached) -> None:
    """An exporter in a container with the host's /sys sees paths that begin with /.. .

    The names above its own cgroup are hidden from it; the cgroup that fits is found.
    """
    _, exporter, _ = pods
    assert limit_seen(exporter, server) == 0.5
    assert limit_seen(exporter, server, "unshare", "--cgroup") == 0.5


def test_within_one_cgroup_namespace(
    pods: tuple[Cgroup, Cgroup, Cgroup], server: Memcached
) -> None:
    """In memcached's own cgroup the path is /, and all names of it are hidden."""
    _, _, memcached = pods
    assert limit_seen(memcached, server, "unshare", "--cgroup") == 0.5


def test_a_part_of_the_hierarchy_is_mounted(
    pods: tuple[Cgroup, Cgroup, Cgroup], server: Memcached, tmp_path: Path
) -> None:
    """Engines mount a container's part of it at the top; what is beside it cannot be seen."""
    pod, exporter, _ = pods
    top = tmp_path / "fs/cgroup" if pod.unified else tmp_path / "fs/cgroup/cpu"
    top.mkdir(parents=True)

    def seen(part: Cgroup) -> float | None:
        script = f"mount --make-rprivate / && mount --bind {part.directory} {top} && exec "
        prefix = ("unshare", "--mount", "sh", "-c", script + '"$@"', "sh")
        return limit_seen(exporter, server, *prefix, sysfs=str(tmp_path))

    assert seen(pod) == 0.5
    assert seen(exporter) is None
