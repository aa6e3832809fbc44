"""Real cgroups of a test's own."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_TOP = Path("/sys/fs/cgroup")


class Cgroup:
    """A cgroup that can be limited, of whichever version this host has for a controller."""

    def __init__(self, directory: Path, *, unified: bool) -> None:
        self.directory = directory
        self.unified = unified

    def limit_cpu(self, quota: int) -> None:
        """Allow so many microseconds in every 100000."""
        if self.unified:
            (self.directory / "cpu.max").write_text(f"{quota} 100000")
        else:
            (self.directory / "cpu.cfs_quota_us").write_text(str(quota))

    def limit_memory(self, limit: int) -> None:
        """Allow so many bytes, none of them in swap space where that can be forbidden."""
        name = "memory.max" if self.unified else "memory.limit_in_bytes"
        (self.directory / name).write_text(str(limit))
        swap = "memory.swap.max" if self.unified else "memory.memsw.limit_in_bytes"
        if (self.directory / swap).exists():
            (self.directory / swap).write_text("0" if self.unified else str(limit))

    def add(self, pid: int) -> None:
        """Move a process here."""
        (self.directory / "cgroup.procs").write_text(str(pid))

    def fields(self, name: str) -> dict[str, int]:
        """Return a file of names and numbers."""
        lines = (self.directory / name).read_text().splitlines()
        return {key: int(value) for key, value in (line.split() for line in lines)}

    @contextlib.contextmanager
    def below(self, name: str, controller: str) -> Iterator["Cgroup"]:
        """Make a cgroup below this one."""
        if self.unified:
            (self.directory / "cgroup.subtree_control").write_text(f"+{controller}")
        with _made(self.directory / name, unified=self.unified) as made:
            yield made


@contextlib.contextmanager
def own_cgroup(controller: str) -> Iterator[Cgroup]:
    """Make a cgroup with a controller; skip the test where that is not allowed, and say why."""
    unified = not (_TOP / controller).is_dir()
    top = _TOP if unified else _TOP / controller
    if unified and controller not in (_read(top / "cgroup.subtree_control")).split():
        pytest.skip(f"this host has no cgroups with the controller {controller}")
    try:
        made = _made(top / f"exporter-test-{os.getpid()}", unified=unified)
        cgroup = made.__enter__()
    except OSError as error:
        pytest.skip(f"cgroups cannot be made here: {error}")
    with contextlib.ExitStack() as stack:
        stack.push(made)
        yield cgroup


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@contextlib.contextmanager
def _made(directory: Path, *, unified: bool) -> Iterator[Cgroup]:
    directory.mkdir()
    if not (directory / "cgroup.procs").exists():
        directory.rmdir()
        raise OSError(f"{directory.parent} is no cgroup")
    try:
        yield Cgroup(directory, unified=unified)
    finally:
        _remove(directory, _TOP if unified else _TOP / directory.relative_to(_TOP).parts[0])


def _remove(directory: Path, top: Path) -> None:
    """Remove a cgroup, which is busy until the last of its ended processes is gone."""
    deadline = time.monotonic() + 10
    while True:
        for pid in (directory / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (top / "cgroup.procs").write_text(pid)
        try:
            directory.rmdir()
        except OSError:
            assert time.monotonic() < deadline, f"{directory} cannot be removed"
            time.sleep(0.01)
        else:
            return
