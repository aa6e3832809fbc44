"""Files of /proc/PID, cut only where needed: they are read by the hundred."""

import os
from pathlib import Path

from exporter.host.reading import read

STATE, USER_TIME, SYSTEM_TIME, START_TIME, SIZE, RESIDENT = 0, 11, 12, 19, 20, 21
"""Fields of /proc/PID/stat, as ``stat_fields`` counts them."""

TICKS = os.sysconf("SC_CLK_TCK")
"""Clock ticks in a second."""


def stat_fields(stat: bytes) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the state up to the resident pages.

    The name that stands before them may hold blanks and parentheses.
    """
    return stat[stat.rindex(b")") + 2 :].split(None, RESIDENT + 1)


def started(directory: int | None, name: str | Path) -> int | None:
    """Return when a process started, in ticks since the boot, from its ``stat``.

    None for one that has ended and is still in the list because nobody has asked how.
    """
    fields = stat_fields(read(name, directory))
    return None if fields[STATE] in {b"Z", b"X"} else int(fields[START_TIME])


def status_values(status: bytes, name: bytes) -> list[bytes]:
    """Return what stands in a line of /proc/PID/status, cut at blanks; empty without the line."""
    rest = status.partition(b"\n" + name + b":")[2]
    return rest[: rest.find(b"\n")].split()
