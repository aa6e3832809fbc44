"""Processes of this host, from /proc.

A process number that a server reports is good only in the server's own pid namespace, so it is
believed when the process with that number is a memcached that started when the server says.
"""

import os
from pathlib import Path

_START_TIME_FIELD = 19
"""Index of ``starttime`` in /proc/PID/stat, counted after the name."""
_START_TOLERANCE = 3.0
"""memcached's clock starts up to two seconds early and ticks once a second."""


def command_line(pid: int, started: float, procfs: Path = Path("/proc")) -> list[str] | None:
    """Return the arguments of a memcached process (/proc/PID/cmdline).

    ``started`` is the Unix time in seconds at which the server says it started. Returns None when
    there is no such process here, when it is another one, or when it cannot be read.
    """
    try:
        if "memcached" not in (procfs / str(pid) / "comm").read_text():
            return None
        if abs(_start_time(pid, procfs) - started) > _START_TOLERANCE:
            return None
        raw = (procfs / str(pid) / "cmdline").read_bytes()
    except (OSError, ValueError, IndexError):
        return None
    return raw.decode(errors="surrogateescape").rstrip("\0").split("\0") if raw else None


def _start_time(pid: int, procfs: Path) -> float:
    """Return when a process started, in Unix seconds (/proc/PID/stat and btime of /proc/stat)."""
    fields = (procfs / str(pid) / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[_START_TIME_FIELD])
    for line in (procfs / "stat").read_text().splitlines():
        if line.startswith("btime "):
            return int(line.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
    raise ValueError("no btime in /proc/stat")
