"""Sockets that systemd has opened for the exporter, by a `.socket` unit."""

import os
import socket

from exporter.errors import ExporterError

_FIRST = 3
"""The first descriptor that is handed over (sd_listen_fds)."""
_REMEDY = "start the exporter by a .socket unit, or without --web.systemd-socket"


def inherited() -> list[socket.socket]:
    """Return the listening sockets that were handed over (``LISTEN_PID``, ``LISTEN_FDS``).

    Raises ExporterError when there are none, or one is no listening TCP socket.
    """
    count, owner = (os.environ.pop(f"LISTEN_{name}", "") for name in ("FDS", "PID"))
    if owner != str(os.getpid()) or not count.isdecimal() or not int(count):
        raise ExporterError(f"systemd has handed over no socket: {_REMEDY}")
    return [_checked(descriptor) for descriptor in range(_FIRST, _FIRST + int(count))]


def _checked(descriptor: int) -> socket.socket:
    try:
        found = socket.socket(fileno=descriptor)
    except OSError as error:
        raise ExporterError(f"descriptor {descriptor} is no socket: {_REMEDY}") from error
    internet = found.family in {socket.AF_INET, socket.AF_INET6}
    listening = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if not (internet and found.type == socket.SOCK_STREAM and listening):
        raise ExporterError(
            f"descriptor {descriptor} is no listening TCP socket: write ListenStream= with a port"
            " in the .socket unit"
        )
    found.set_inheritable(False)
    return found
