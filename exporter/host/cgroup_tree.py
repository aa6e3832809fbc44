"""Where the cgroups of a process are, in hierarchies of version 1, version 2 and both.

/proc/PID/cgroup and the mounts are written as the reader's cgroup namespace sees them: what is
above its root begins with ``/..``. Both are of the same reader, so that they can be compared.
"""

import glob
import itertools
import os
import re
from collections.abc import Iterator

import msgspec

from exporter.host.reading import read, read_if_there

_MOUNT_ESCAPE = re.compile(r"\\([0-7]{3})")
_MAX_CANDIDATES = 1024


class Ancestry(msgspec.Struct, frozen=True):
    """A process's cgroup and those above it, as far as they can be seen."""

    unified: bool
    """True for version 2."""
    directories: list[str]
    """From the process's own cgroup up to the top."""


class _Mount(msgspec.Struct, frozen=True):
    """A place where the cgroups of a hierarchy can be seen, from ``root`` downwards."""

    directory: str
    root: str = "/"


def ancestry(membership: str, controller: str, top: str, pid: int) -> Ancestry | None:
    """Return the cgroups that a controller (``cpu``, ``memory``) holds a process in.

    ``membership`` is /proc/PID/cgroup and ``top`` where /sys/fs/cgroup is. Returns None for a
    controller that the kernel does not have, and for cgroups that are not visible from here.
    """
    unified = ""
    for line in membership.splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            mounts = _mounts_of_version_1(top, controller, controllers)
            return _locate(mounts, path, pid, unified=False)
        if line.startswith("0::"):
            unified = path
    return _locate(_mounts_of_version_2(top), unified, pid, unified=True) if unified else None


def _locate(mounts: list[_Mount], path: str, pid: int, *, unified: bool) -> Ancestry | None:
    for mount in mounts:
        directory = _directory(mount, path, pid)
        if directory and os.path.isdir(directory):
            directories = [directory]
            while directories[-1] != mount.directory:
                directories.append(os.path.dirname(directories[-1]))
            return Ancestry(unified, directories)
    return None


def _mounts_of_version_1(top: str, controller: str, together: str) -> list[_Mount]:
    """Return where a controller is mounted; several controllers may share a hierarchy."""
    found = [
        mount
        for mount, kind, options in _mounted(top)
        if kind == "cgroup" and controller in options.split(",")
    ]
    return found or _existing(f"{top}/{controller}", f"{top}/{together}")


def _mounts_of_version_2(top: str) -> list[_Mount]:
    """Return where version 2 is mounted, which is below version 1 on hosts that have both."""
    found = [mount for mount, kind, _ in _mounted(top) if kind == "cgroup2"]
    return found or _existing(f"{top}/unified", top)


def _existing(*directories: str) -> list[_Mount]:
    return [_Mount(directory) for directory in directories if os.path.isdir(directory)][:1]


def _mounted(top: str) -> Iterator[tuple[_Mount, str, str]]:
    """Yield the exporter's own mounts at and below a directory, with their type and options."""
    real = os.path.realpath(top)
    for line in (
        (read_if_there("/proc/self/mountinfo") or b"").decode(errors="replace").splitlines()
    ):
        before, _, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if len(fields) > 4 and len(rest) > 2:  # noqa: PLR2004
            root, directory = (_unescape(field) for field in fields[3:5])
            if directory == real or directory.startswith(f"{real}/"):
                yield _Mount(directory, root), rest[0], rest[2]


def _unescape(field: str) -> str:
    """Return a path of mountinfo, where blanks and the like stand as octal numbers."""
    return _MOUNT_ESCAPE.sub(lambda found: chr(int(found[1], 8)), field)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _directory(mount: _Mount, path: str, pid: int) -> str | None:
    """Return where a cgroup is below a mount; None when it is not there."""
    root, parts = _parts(mount.root), _parts(path)
    if parts[: len(root)] == root and ".." not in parts[len(root) :]:
        return "/".join((mount.directory, *parts[len(root) :]))
    ups = parts.count("..")
    if set(root) == {".."} and ups < len(root):
        return _search(mount.directory, len(root) - ups, parts[ups:], pid)
    return None


def _search(directory: str, unknown: int, rest: list[str], pid: int) -> str | None:
    """Return a cgroup of whose path the first ``unknown`` names are not known.

    They are those of the cgroups that the exporter's own is in, of which a cgroup namespace tells
    no more than their number. The only cgroup that fits is it, or the one that has the process.
    """
    pattern = "/".join((glob.escape(directory), *"*" * unknown, *map(glob.escape, rest)))
    fitting = itertools.islice(glob.iglob(pattern), _MAX_CANDIDATES)
    found = [candidate for candidate in fitting if os.path.isdir(candidate)]
    if rest and len(found) == 1:
        return found[0]
    return next((candidate for candidate in found if _holds(candidate, pid)), None)


def _holds(directory: str, pid: int) -> bool:
    """Return whether a process is in a cgroup, by its number."""
    try:
        return str(pid).encode() in read(f"{directory}/cgroup.procs").split()
    except OSError:
        return False
