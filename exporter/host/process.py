"""Processes of this host, from /proc.

A process number that a server reports is good only in the server's own pid namespace, so it is
believed when the process with that number is a memcached that is as old as the server says.
"""

import os
from pathlib import Path

import msgspec

from exporter.configuration import HostSettings

_START_TIME_FIELD = 19
"""Index of ``starttime`` in /proc/PID/stat, counted after the name."""
_AGE_TOLERANCE = 3.0
"""memcached's clock ticks once a second."""


class Evidence(msgspec.Struct, frozen=True):
    """What a server's answer and the connection to it tell of its process.

    Equal as long as neither the process nor the connection is another one.
    """

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
    process is the one whose number stands there, evidence or not.
    """
    return None


def is_running(process: Process) -> bool:
    """Return whether a process still runs, and no later one has taken its number."""
    return False


def command_line(pid: int, age: float, procfs: Path = Path("/proc")) -> list[str] | None:
    """Return the arguments of a memcached process (/proc/PID/cmdline).

    ``age`` is for how many seconds the server says that it has run. Returns None when there is no
    such process here, when it is another one, or when it cannot be read.
    """
    try:
        if "memcached" not in (procfs / str(pid) / "comm").read_text():
            return None
        if abs(_age(pid, procfs) - age) > _AGE_TOLERANCE:
            return None
        raw = (procfs / str(pid) / "cmdline").read_bytes()
    except (OSError, ValueError, IndexError):
        return None
    return raw.decode(errors="surrogateescape").rstrip("\0").split("\0") if raw else None


def _age(pid: int, procfs: Path) -> float:
    """Return for how many seconds a process has run (/proc/PID/stat and /proc/uptime).

    Both count from the boot, so that a step of the wall clock changes nothing.
    """
    fields = (procfs / str(pid) / "stat").read_text().rpartition(")")[2].split()
    started = int(fields[_START_TIME_FIELD]) / os.sysconf("SC_CLK_TCK")
    return float((procfs / "uptime").read_text().split()[0]) - started
