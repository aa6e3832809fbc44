"""Processes of this host, from /proc.

A process number that a server reports is good only in the server's own pid namespace, so it is
believed when the process with that number is a memcached that is as old as the server says.
"""

import os
from pathlib import Path

_START_TIME_FIELD = 19
"""Index of ``starttime`` in /proc/PID/stat, counted after the name."""
_AGE_TOLERANCE = 3.0
"""memcached's clock ticks once a second."""


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
