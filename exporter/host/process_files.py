"""Files of /proc/PID, read whole and cut where needed: they are read by the hundred."""

import os
from pathlib import Path

_ENOUGH = 16384
"""More than these files have, but for processes that are in hundreds of groups."""

STATE, USER_TIME, SYSTEM_TIME, START_TIME, SIZE, RESIDENT = 0, 11, 12, 19, 20, 21
"""Fields of /proc/PID/stat, as ``stat_fields`` counts them."""

TICKS = os.sysconf("SC_CLK_TCK")
"""Clock ticks in a second."""


def contents(name: str | Path, directory: int | None = None) -> bytes:
    """Return a file of /proc; ``name`` is relative to an open ``directory`` if there is one.

    Only for files that the kernel writes in one piece: not for long lists, like maps and net/tcp.
    """
    handle = os.open(name, os.O_RDONLY, dir_fd=directory)
    try:
        data = os.read(handle, _ENOUGH)
        if len(data) < _ENOUGH:
            return data
        parts = [data]
        while data := os.read(handle, _ENOUGH):
            parts.append(data)
        return b"".join(parts)
    finally:
        os.close(handle)


def stat_fields(stat: bytes) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the state up to the resident pages.

    The name that stands before them may hold blanks and parentheses.
    """
    return stat[stat.rindex(b")") + 2 :].split(None, RESIDENT + 1)


def started(directory: int | None, name: str | Path) -> int | None:
    """Return when a process started, in ticks since the boot, from its ``stat``.

    None for one that has ended and is still in the list because nobody has asked how.
    """
    fields = stat_fields(contents(name, directory))
    return None if fields[STATE] in {b"Z", b"X"} else int(fields[START_TIME])


def status_values(status: bytes, name: bytes) -> list[bytes]:
    """Return what stands in a line of /proc/PID/status, cut at blanks; empty without the line."""
    rest = status.partition(b"\n" + name + b":")[2]
    return rest[: rest.find(b"\n")].split()
