"""Processes of this host, from /proc, and which of them is a certain server.

The process number that a server reports is good only in the server's own pid namespace, and a
server of another host has one too. So a process is believed to be the server when it is called
memcached, has that number there, is as old as the server says, and holds the other end of the
connection through which the server said so. A connection whose addresses are translated on its
way proves nothing, and neither does one that two processes may hold: better no metrics than those
of another process.
"""

import contextlib
import functools
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import structlog

from exporter.configuration import HostSettings
from exporter.host.process_files import TICKS, started, status_values
from exporter.host.process_sockets import Proof, holds_tcp, holds_unix
from exporter.host.reading import read

_AGE_TOLERANCE = 3.0
"""memcached's clock ticks once a second."""
_NAME = b"memcached"
_SETTLED_SECONDS = 5.0
"""From when on a process that may be the server has its name, after its start as the server says:
the tolerance, and time for the shell to become memcached."""
_LIST_SECONDS = 60.0
"""For how long a list of processes is used."""
_PID_FILE_BYTES = 32
_ARGUMENTS_SECONDS = 0.5
"""For how long a scrape waits for the arguments of a process: half of what it usually has."""

_log = structlog.get_logger()


class Evidence(msgspec.Struct, frozen=True):
    """What a server's answer and the connection to it tell of its process."""

    pid: int
    """As the server says, in its own pid namespace."""
    near: str = ""
    """The exporter's end of the connection, ``ip:port``; empty for a unix socket."""
    far: str = ""
    """The server's end, ``ip:port`` as it was dialled, or the path of a socket."""
    peer_pid: int = 0
    """Process at the other end of a unix socket (SO_PEERCRED), as the exporter sees it."""


class Process(msgspec.Struct, frozen=True):
    """A process of this host that is known to be a certain server."""

    pid: int
    """As the reader of ``directory`` sees it."""
    started: int
    """Start time in clock ticks since the boot, which tells it from a later one of that number."""
    directory: Path
    """/proc/PID below the configured root."""


def find(
    evidence: Evidence | None, age: float, pid_file: str, settings: HostSettings
) -> Process | None:
    """Return the process of a server; None when it does not run here or cannot be proved to.

    ``age`` is for how many seconds the server says that it has run. With a ``pid_file`` the
    process is the one whose number stands there, if it has the number that the server says, or
    the name memcached when the server says nothing: a file that was left behind may by now
    name another process.
    """
    if pid_file:
        return _from_file(Path(pid_file), evidence.pid if evidence else 0, settings.procfs)
    if evidence is None or evidence.pid <= 0:
        return None
    found: list[tuple[Proof, Process]] = []
    for pid in _roster(settings.procfs).pids(age):
        try:
            found += _proved(settings.procfs / str(pid), evidence, age)
        except (OSError, ValueError, IndexError):
            # It has ended meanwhile, or is hidden from this user.
            continue
    surest = max((proof for proof, _ in found), default=Proof.REFUTED)
    best = [process for proof, process in found if proof is surest]
    if len(best) > 1:
        _log.debug(
            "several processes may be the server: none is read",
            address=evidence.far,
            pids=[process.pid for process in best],
        )
    return best[0] if len(best) == 1 else None


def is_running(process: Process) -> bool:
    """Return whether a process still runs, and no later one has taken its number."""
    try:
        return started(None, process.directory / "stat") == process.started
    except (OSError, ValueError, IndexError):
        return False


def arguments(process: Process) -> list[str] | None:
    """Return the arguments of a process (/proc/PID/cmdline); None when they cannot be read.

    They are in its memory, for which a reader may have to wait without end: None then, too.
    """
    answer: list[bytes] = []

    def look() -> None:
        with contextlib.suppress(OSError):
            answer.append(read(process.directory / "cmdline"))

    reader = threading.Thread(target=look, name="arguments", daemon=True)
    reader.start()
    reader.join(_ARGUMENTS_SECONDS)
    return _cut(answer[0]) if any(answer) and is_running(process) else None


def _cut(raw: bytes) -> list[str]:
    return raw.decode(errors="surrogateescape").rstrip("\0").split("\0")


def _proved(directory: Path, evidence: Evidence, age: float) -> Iterator[tuple[Proof, Process]]:
    """Yield the process of a directory if it is the server, and how sure that is."""
    # All is read through one open directory, so that it is of one process.
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        status = read("status", handle)
        pid = int(directory.name)
        if not _is_called_so(status) or _numbers(status, pid)[-1] != evidence.pid:
            return
        start = started(handle, "stat")
        if start is None or not _is_as_old(start, age, directory.parent):
            return
        if evidence.near:
            # The last of the four is the one as whom files and sockets are made.
            uid = int(status_values(status, b"Uid")[3])
            proof = holds_tcp(handle, uid, evidence.near, evidence.far)
        elif evidence.peer_pid and _numbers_are_own(directory.parent):
            proof = Proof.CERTAIN if evidence.peer_pid == pid else Proof.REFUTED
        else:
            proof = holds_unix(handle, evidence.far)
        if proof is not Proof.REFUTED:
            yield proof, Process(pid=pid, started=start, directory=directory)
    finally:
        os.close(handle)


def _is_called_so(status: bytes) -> bool:
    return _NAME in status.partition(b"\n")[0]


def _numbers(status: bytes, pid: int) -> list[int]:
    """Return a process' numbers, from /proc's pid namespace down to the process' own."""
    return list(map(int, status_values(status, b"NSpid"))) or [pid]


def _numbers_are_own(procfs: Path) -> bool:
    """Return whether the kernel tells the exporter the same process numbers as /proc does."""
    try:
        return len(_numbers(read(procfs / "self" / "status"), 0)) == 1
    except OSError:
        return False


def _is_as_old(start: int, age: float, procfs: Path) -> bool:
    """Return whether a process that started then has run for ``age`` seconds (/proc/uptime).

    Both count from the boot, so that a step of the wall clock changes nothing.
    """
    uptime = float(read(procfs / "uptime").split(None, 1)[0])
    return abs(uptime - start / TICKS - age) <= _AGE_TOLERANCE


def _from_file(path: Path, said: int, procfs: Path) -> Process | None:
    """Return the process that a file names; ``said`` is its number as the server says, 0 if not."""
    try:
        # Without waiting: a named pipe that nobody writes to would keep a scrape for ever.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            pid = int(os.read(file, _PID_FILE_BYTES))
        finally:
            os.close(file)
        directory = procfs / str(pid)
        start = started(None, directory / "stat")
        status = read(directory / "status")
        fits = _numbers(status, pid)[-1] == said if said else _is_called_so(status)
    except (OSError, ValueError, IndexError):
        return None
    if start is None or not fits:
        return None
    return Process(pid=pid, started=start, directory=directory)


class _Roster:
    """The numbers of the processes that are called memcached.

    To look through all of /proc is dear, and servers come by the hundred when most run elsewhere.
    A list is good for all servers that had started before it was made.
    """

    def __init__(self, procfs: Path) -> None:
        self._procfs = procfs
        self._list: tuple[float, list[int]] = (float("-inf"), [])

    def pids(self, age: float) -> list[int]:
        """Return the numbers of processes, with that of each server that runs for ``age``."""
        now = time.monotonic()
        made, pids = self._list
        if made < now - min(age - _SETTLED_SECONDS, _LIST_SECONDS):
            pids = list(self._look())
            self._list = (now, pids)
        return pids

    def _look(self) -> Iterator[int]:
        try:
            handle = os.open(self._procfs, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return
        try:
            for name in filter(str.isdecimal, os.listdir(handle)):
                try:
                    if _NAME in read(f"{name}/comm", handle):
                        yield int(name)
                except OSError:
                    continue
        finally:
            os.close(handle)


@functools.lru_cache(maxsize=8)
def _roster(procfs: Path) -> _Roster:
    return _Roster(procfs)
