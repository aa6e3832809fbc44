"""Which network namespace the files of a directory ``net`` belong to, found without privileges."""

import os
from pathlib import Path

_FIRST_DYNAMIC = 0xF0000000
"""Inode numbers of procfs' own files start here."""

OWN = Path("/proc/thread-self/net")
"""Always the exporter's own, whatever root is configured."""


def network_namespace(net: Path) -> int:
    """Return a number that tells the network namespace of ``net`` (/proc/PID/net) from all others.

    /proc/PID/ns/net needs the rights of a debugger. The kernel however makes the files of
    /proc/PID/net once per namespace, and numbers them from one pool, so that equal inode numbers
    mean one namespace, through any mount of procfs. 0 for what is no procfs, or not there.
    """
    try:
        status = os.stat(net / "dev")
    except OSError:
        return 0
    return status.st_ino if status.st_ino >= _FIRST_DYNAMIC and not status.st_size else 0
