"""Processes of this host: only the one that a server means is believed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.host.process import command_line
from tests.processes import Memcached

TICKS = os.sysconf("SC_CLK_TCK")
AGE = 200


def proc(
    root: Path,
    *,
    comm: str = "memcached",
    cmdline: bytes = b"/usr/bin/memcached\0-m\0" + b"64\0",
    name: str = "memcached",
    uptime: str = "300.00 1234.56\n",
) -> Path:
    """Make a /proc with process 42, which started 100 seconds after the boot, 200 ago."""
    process = root / "42"
    process.mkdir()
    (process / "comm").write_text(f"{comm}\n")
    (process / "cmdline").write_bytes(cmdline)
    fields = ["S", *["0"] * 18, str(100 * TICKS), "0", "0"]
    (process / "stat").write_text(f"42 ({name}) {' '.join(fields)}\n")
    (root / "uptime").write_text(uptime)
    return root


def test_the_arguments_are_read(tmp_path: Path) -> None:
    """The process with the number and the start gives its arguments."""
    root = proc(tmp_path)
    assert command_line(42, AGE, root) == ["/usr/bin/memcached", "-m", "64"]


@pytest.mark.parametrize("name", ["mem) S 1 (x", "a b", ")"])
def test_odd_process_names_do_not_shift_the_start(tmp_path: Path, name: str) -> None:
    """Blanks and parentheses in the name of /proc/PID/stat are part of it."""
    assert command_line(42, AGE, proc(tmp_path, name=name)) is not None


@pytest.mark.parametrize(
    ("off", "believed"), [(-3.0, True), (-3.1, False), (0, True), (3.0, True), (3.1, False)]
)
def test_the_age_may_be_off_by_three_seconds(tmp_path: Path, off: float, believed: bool) -> None:
    """A process of another age is another server's namesake."""
    found = command_line(42, AGE + off, proc(tmp_path))
    assert (found is not None) is believed


@pytest.mark.parametrize("comm", ["memcached", "memcached-1.6.9", "memcached-debug"])
def test_a_build_with_another_file_name_is_a_memcached(tmp_path: Path, comm: str) -> None:
    """Packages may add a suffix to the name of the program."""
    assert command_line(42, AGE, proc(tmp_path, comm=comm)) is not None


@pytest.mark.parametrize("comm", ["nginx", "mem", ""])
def test_another_program_is_not_believed(tmp_path: Path, comm: str) -> None:
    """A process number from another namespace may be anybody's here."""
    assert command_line(42, AGE, proc(tmp_path, comm=comm)) is None


def test_bytes_that_are_no_text_are_kept(tmp_path: Path) -> None:
    """Arguments may hold any bytes, and empty ones."""
    root = proc(tmp_path, cmdline=b"memcached\0-s\0/tmp/\xff\0\0-N\0")
    assert command_line(42, AGE, root) == ["memcached", "-s", "/tmp/\udcff", "", "-N"]


@pytest.mark.parametrize(
    "missing",
    ["42/comm", "42/stat", "42/cmdline", "uptime"],
    ids=lambda path: path.replace("/", "-"),
)
def test_what_cannot_be_read_is_unknown(tmp_path: Path, missing: str) -> None:
    """A process that is gone, or hidden from the exporter's user, has no known arguments."""
    root = proc(tmp_path)
    (root / missing).unlink()
    assert command_line(42, AGE, root) is None


@pytest.mark.parametrize("pid", [0, 1, 41, 10**18])
def test_no_such_process(tmp_path: Path, pid: int) -> None:
    """Nothing is found under other numbers, however large."""
    assert command_line(pid, AGE, proc(tmp_path)) is None


def test_a_kernel_thread_or_zombie_has_no_arguments(tmp_path: Path) -> None:
    """An empty command line says nothing about how the server was started."""
    assert command_line(42, AGE, proc(tmp_path, cmdline=b"")) is None


@pytest.mark.parametrize("uptime", ["", "\n", "soon 5\n"])
def test_a_host_without_uptime_is_no_error(tmp_path: Path, uptime: str) -> None:
    """When the age cannot be known, the process is not believed."""
    assert command_line(42, AGE, proc(tmp_path, uptime=uptime)) is None


def test_a_torn_stat_is_no_error(tmp_path: Path) -> None:
    """A /proc/PID/stat without its fields is not believed."""
    root = proc(tmp_path)
    (root / "42" / "stat").write_text("42 (memcached) S 1\n")
    assert command_line(42, AGE, root) is None


def test_a_real_server_is_found(memcached: Callable[..., Memcached]) -> None:
    """A running memcached is found by what it says of itself, and not by another age."""
    server = memcached("-m", "48", "-N", "2")
    stats = server.stats()
    age = int(stats["uptime"]) - 2
    assert int(stats["pid"]) == server.process.pid
    found = command_line(server.process.pid, age)
    assert found is not None
    assert found[0].endswith("memcached")
    assert found[-4:] == ["-m", "48", "-N", "2"]
    assert command_line(server.process.pid, age + 3600) is None
    assert command_line(os.getpid(), age) is None
