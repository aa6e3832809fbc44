"""Whether a process holds the other end of a connection, from its /proc/PID/net and fd.

The files below /proc/PID/net are those of the process' own network namespace, and everyone may
read them: a connection that stands there ends among the processes of that namespace. Which of
them has it, only a privileged reader sees (fd); others still see whose user's it is.
"""

import contextlib
import errno
import ipaddress
import os
import struct
from collections.abc import Iterator
from enum import IntEnum

from exporter.host.network_namespace import OWN
from exporter.host.socket_lookup import End, established

_ESTABLISHED = "01"
_ACCEPTS = b"00010000"
"""Flag of a unix socket that listens."""


class Proof(IntEnum):
    """How sure it is that a process holds a socket."""

    REFUTED = 0
    LIKELY = 1
    """Nothing speaks against it, but the reader may not see the process' descriptors."""
    CERTAIN = 2


def holds_tcp(process: int, uid: int, near: str, far: str) -> Proof:
    """Return whether a process has the end ``far`` of a connection from ``near`` (``ip:port``).

    ``process`` is its open directory, ``uid`` the user as whom it makes sockets.
    """
    local, remote = _parse(far), _parse(near)
    # An address of one link needs its device, which the connection's text may lack.
    if _shares_our_network(process) and not local[0].is_link_local:
        try:
            found = established(local, remote)
        except OSError:
            pass  # Kernels may be without inet_diag, and sandboxes without netlink.
        else:
            return _owned(process, uid, *found) if found else Proof.REFUTED
    for name, pattern in _patterns(near, far):
        for line in _lines(process, name):
            if pattern in line:
                owner, _, inode = line.split(None, 10)[7:10]
                return _owned(process, uid, int(owner), int(inode))
    return Proof.REFUTED


def _shares_our_network(process: int) -> bool:
    """Return whether a process is in the exporter's network namespace."""
    try:
        return os.stat("net/dev", dir_fd=process).st_ino == os.stat(OWN / "dev").st_ino
    except OSError:
        return False


def _owned(process: int, uid: int, owner: int, inode: int) -> Proof:
    return _holds(process, inode) if owner == uid else Proof.REFUTED


def holds_unix(process: int, path: str) -> Proof:
    """Return whether a process listens on a unix socket; not certain, as namespaces share paths."""
    wanted = os.fsencode(path)
    for line in _lines(process, "net/unix"):
        columns = line.rstrip(b"\n").split(None, 7)
        if columns[-1] == wanted and columns[3] == _ACCEPTS:
            return min(_holds(process, int(columns[6])), Proof.LIKELY)
    return Proof.REFUTED


def _patterns(near: str, far: str) -> Iterator[tuple[str, bytes]]:
    """Yield in which files the server's end of a connection may stand, and how."""
    ends = [_parse(far), _parse(near)]
    if all(address.version == 4 for address, _ in ends):  # noqa: PLR2004
        yield "net/tcp", _line_part(ends)
        # A server that listens on IPv6 has its IPv4 connections there.
        ends = [(ipaddress.IPv6Address(f"::ffff:{address}"), port) for address, port in ends]
    yield "net/tcp6", _line_part(ends)


def _parse(end: str) -> End:
    host, _, port = end.rpartition(":")
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address, int(port)


def _line_part(ends: list[End]) -> bytes:
    """Return both ends and the state as /proc/net/tcp has them: words in the host's byte order."""
    shown = (
        "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", address.packed))
        + f":{port:04X}"
        for address, port in ends
    )
    return f": {' '.join(shown)} {_ESTABLISHED} ".encode()


def _lines(process: int, name: str) -> Iterator[bytes]:
    """Yield the lines of a long file; none where the kernel does without IPv6."""
    with (
        contextlib.suppress(FileNotFoundError),
        open(name, "rb", opener=lambda path, flags: os.open(path, flags, dir_fd=process)) as lines,
    ):
        yield from lines


def _holds(process: int, inode: int) -> Proof:
    """Return whether a process has a descriptor of a socket.

    It is looked for from the highest number on, where new connections mostly are.
    """
    wanted = f"socket:[{inode}]"
    try:
        descriptors = os.open("fd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=process)
    except PermissionError:
        return Proof.LIKELY
    try:
        for name in sorted(os.listdir(descriptors), key=int, reverse=True):
            try:
                if os.readlink(name, dir_fd=descriptors) == wanted:
                    return Proof.CERTAIN
            except OSError as error:
                if error.errno != errno.ENOENT:
                    return Proof.LIKELY
    finally:
        os.close(descriptors)
    return Proof.REFUTED
