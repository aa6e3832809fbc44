"""Connections that owe a request: who has waited too long is hung up on."""

import contextlib
import socket
import threading
import time


class Waiting:
    """Connections that owe a request, each with the time (``time.monotonic``) when it is due."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._lock = threading.Lock()
        self._due: dict[socket.socket, float] = {}

    def add(self, connection: socket.socket) -> None:
        """Let a connection wait from now on; make room when there are too many."""
        with self._lock:
            self._due.pop(connection, None)
            while len(self._due) >= self._most:
                self._hang_up_oldest()
            self._due[connection] = time.monotonic() + self._seconds

    def close_oldest(self) -> bool:
        """Hang up on the one that has waited longest; return whether there was one."""
        with self._lock:
            return bool(self._due) and self._hang_up_oldest()

    def _hang_up_oldest(self) -> bool:
        oldest = next(iter(self._due))
        del self._due[oldest]
        _hang_up(oldest)
        return True

    def remove(self, connection: socket.socket) -> None:
        """Leave a connection alone: its request is whole, or it is closed."""
        with self._lock:
            self._due.pop(connection, None)

    def close_overdue(self) -> None:
        """Hang up on those whose time is over."""
        now = time.monotonic()
        with self._lock:
            for connection in [c for c, due in self._due.items() if due <= now]:
                del self._due[connection]
                _hang_up(connection)


def _hang_up(connection: socket.socket) -> None:
    """Wake the thread that reads from a connection: it sees the end of the stream and closes."""
    with contextlib.suppress(OSError):
        # An SSLSocket's own method would go on without TLS, on bytes that nobody has vouched for.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
