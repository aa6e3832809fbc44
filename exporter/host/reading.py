"""Small files of /proc and /sys: read whole and cheaply."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

ABSENT = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENODEV,
    errno.ENXIO,
    errno.ESRCH,
    errno.EOPNOTSUPP,
    errno.EAFNOSUPPORT,
    errno.EPROTONOSUPPORT,
}
"""What the kernel says of files, devices and services that are not there."""
_AT_ONCE = 16384
"""Bytes; the kernel hands out most files a page at a time, whatever is asked for."""


def read(path: str | Path, directory: int | None = None) -> bytes:
    """Return the content of a file; ``path`` is below an open ``directory`` if there is one.

    Twice as fast as pathlib, which counts where a scrape reads hundreds of files.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        content = part = os.read(file, _AT_ONCE)
        while part:
            part = os.read(file, _AT_ONCE)
            content += part
    except OSError as error:
        error.filename = path  # The kernel names it only when it cannot be opened.
        raise
    finally:
        os.close(file)
    return content


def read_if_there(path: str) -> bytes | None:
    """Return the content of a file, None when the host does not have it."""
    try:
        return read(path)
    except OSError as error:
        if error.errno not in ABSENT:
            raise
        return None


def read_present(paths: Iterable[str]) -> dict[str, bytes]:
    """Return the content of those files that are there; FileNotFoundError when none is."""
    wanted = list(paths)
    found = {path: content for path in wanted if (content := read_if_there(path)) is not None}
    if wanted and not found:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), wanted[0])
    return found


def numbers(text: bytes) -> list[int]:
    """Return the members of a list as the kernel writes it: ``0-3,8`` is 0, 1, 2, 3 and 8."""
    members: list[int] = []
    for part in text.strip().split(b","):
        first, _, last = part.partition(b"-")
        if first:
            members += range(int(first), int(last or first) + 1)
    return members
