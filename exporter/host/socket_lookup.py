"""One TCP connection of the exporter's network namespace, looked up by both its ends (inet_diag).

The kernel finds it in its hash table. /proc/net/tcp would list all connections there are, those
that are over included: milliseconds for some thousands.
"""

import errno
import ipaddress
import os
import socket
import struct

End = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]
"""Address and port."""

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_NLMSG_ERROR = 2
_ESTABLISHED = 1
_NO_COOKIE = b"\xff" * 8
_HEADER = struct.Struct("=IHHII")
"""nlmsghdr: length, type, flags, sequence, port."""
_REQUEST = struct.Struct("=BBBxI2s2s16s16sI8s")
"""inet_diag_req_v2: family, protocol, extensions, states; ports, addresses, device, cookie."""
_FOUND = struct.Struct("=xBxx48xIIIII")
"""inet_diag_msg: state; after the socket's id the expiry time, queues, user and inode."""
_SECONDS = 1.0


def established(local: End, remote: End) -> tuple[int, int] | None:
    """Return user and inode of a connection's local end; None when there is no such connection.

    Raises OSError where the kernel, or a sandbox, does not let this be asked.
    """
    family = socket.AF_INET if local[0].version == 4 else socket.AF_INET6  # noqa: PLR2004
    request = _REQUEST.pack(
        family,
        socket.IPPROTO_TCP,
        0,
        1 << _ESTABLISHED,
        local[1].to_bytes(2),
        remote[1].to_bytes(2),
        local[0].packed,
        remote[0].packed,
        0,
        _NO_COOKIE,
    )
    size = _HEADER.size + len(request)
    header = _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, _NETLINK_SOCK_DIAG) as netlink:
        netlink.settimeout(_SECONDS)
        netlink.send(header + request)
        answer = netlink.recv(4096)
    _, message, *_ = _HEADER.unpack_from(answer)
    if message == _NLMSG_ERROR:
        code = -struct.unpack_from("=i", answer, _HEADER.size)[0]
        if code == errno.ENOENT:
            return None
        raise OSError(code, os.strerror(code))
    state, _, _, _, user, inode = _FOUND.unpack_from(answer, _HEADER.size)
    # Without a connection the kernel finds who listens.
    return (user, inode) if state == _ESTABLISHED else None
