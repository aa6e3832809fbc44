"""Listening TCP sockets and their accept queues, of any network namespace.

Of the exporter's own namespace the kernel tells all by netlink (inet_diag); of others
/proc/PID/net/tcp tells it, except for the limits.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from exporter.host.network_namespace import OWN, network_namespace
from exporter.host.reading import read_if_there

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST_DUMP = 0x301
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_LISTEN = 10
"""State number; it is 0A in /proc/net/tcp."""

_HEADER = struct.Struct("=IHHII")
"""nlmsghdr: length, type, flags, sequence, port."""
_REQUEST = struct.Struct("=BBBxI48x")
"""inet_diag_req_v2: family, protocol, extensions, states, and a socket id that means any."""
_SOCKET = struct.Struct("=4x2s2x16s32xIII")
"""inet_diag_msg: source port and address; after the expiry time, queue, limit and user."""
_ADDRESS_BYTES = {socket.AF_INET: 4, socket.AF_INET6: 16}
_PAGE = 65536


class Listener(msgspec.Struct, frozen=True):
    """A listening TCP socket."""

    ip: bytes
    """The local address, 4 or 16 bytes."""
    port: int
    length: int
    """Connections that wait to be accepted."""
    limit: int | None
    """Connections that may wait; one more is let in. None when it cannot be known."""
    user: int
    """Number of the user that made it, as the exporter's user namespace sees it."""

    @property
    def address(self) -> str:
        """``ip:port`` or ``[ip]:port``."""
        if len(self.ip) == _ADDRESS_BYTES[socket.AF_INET]:
            return f"{socket.inet_ntop(socket.AF_INET, self.ip)}:{self.port}"
        return f"[{socket.inet_ntop(socket.AF_INET6, self.ip)}]:{self.port}"


def listeners(net: Path) -> list[Listener]:
    """Return the listening sockets of the network namespace that ``net`` (/proc/PID/net) is of."""
    namespace = network_namespace(net)
    if namespace and namespace == network_namespace(OWN):
        try:
            return [*_by_netlink(socket.AF_INET), *_by_netlink(socket.AF_INET6)]
        except OSError:
            pass  # Kernels may be without inet_diag, and sandboxes without netlink.
    return [
        listener
        for protocol in ("tcp", "tcp6")
        if _in_use(net, protocol)
        for listener in _by_file(net / protocol)
    ]


def _by_netlink(family: socket.AddressFamily) -> Iterator[Listener]:
    """Yield the exporter's namespace's listening sockets; only those are walked in the kernel."""
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 1 << _LISTEN)
    header = _HEADER.pack(
        _HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST_DUMP, 0, 0
    )
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, _NETLINK_SOCK_DIAG) as netlink:
        netlink.send(header + request)
        while True:
            data = netlink.recv(_PAGE)
            at = 0
            while at < len(data):
                size, message, *_ = _HEADER.unpack_from(data, at)
                if message == _NLMSG_DONE:
                    return
                if message == _NLMSG_ERROR:
                    code = -struct.unpack_from("=i", data, at + _HEADER.size)[0]
                    raise OSError(code, os.strerror(code))
                port, ip, length, limit, user = _SOCKET.unpack_from(data, at + _HEADER.size)
                yield Listener(
                    ip[: _ADDRESS_BYTES[family]], int.from_bytes(port), length, limit, user
                )
                at += (size + 3) & ~3


def _in_use(net: Path, protocol: str) -> bool:
    """Return whether a namespace has sockets of a protocol at all, listening ones included.

    If not, the kernel would search those of all namespaces for them, which takes milliseconds.
    """
    content = read_if_there(f"{net}/sockstat{protocol[3:]}") or b""
    return f"{protocol.upper()}: inuse 0" not in content.decode(errors="replace")


def _by_file(path: Path) -> Iterator[Listener]:
    """Yield the listening sockets of /proc/PID/net/tcp or tcp6.

    They stand before all others, so that connections, however many, are not read.
    """
    if not path.exists():  # The kernel may be without IPv6.
        return
    with path.open("rb", buffering=4096) as rows:
        next(rows, None)  # The head of the table.
        for row in rows:
            columns = row.split()
            try:
                local, state, queues, user = (columns[at] for at in (1, 3, 4, 7))
                if int(state, 16) != _LISTEN:
                    return
                ip, _, port = local.partition(b":")
                length = int(queues.partition(b":")[2], 16)
                yield Listener(_bytes(ip), int(port, 16), length, None, int(user))
            except (IndexError, ValueError):
                continue


def _bytes(address: bytes) -> bytes:
    """Return the bytes of an address, which is written as words of the machine's byte order."""
    return b"".join(
        int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8)
    )
