"""Cutting memcached's byte stream into replies.

Protocol: a reply to ``stats`` is lines ``STAT key value`` (of ``stats detail dump`` lines
``PREFIX name get 1 hit 2 set 3 del 4``), closed by ``END``, as a reply to ``get`` or to
ElastiCache's ``config get`` is. Any command
may be answered by one line instead: ``ERROR``, ``CLIENT_ERROR ...``, ``SERVER_ERROR ...``, a
version, or ``STORED`` for a login.
"""

import socket
import time

import msgspec

from exporter.errors import ReadError, Reason

_CHUNK = 131072
_LONGEST_LINE = 8192
_END = b"\r\nEND\r\n"
_ERRORS = (b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR")


class Reply(msgspec.Struct, frozen=True):
    """The answer to one command.

    ``body`` is all lines before ``END``, or the line of a one-line answer, decoded as Latin-1: one
    character per byte, so that nothing a server sends can fail to decode. ``error`` is the error
    line, empty when there is none.
    """

    body: str
    error: str = ""


def receive(sock: socket.socket, count: int, deadline: float, limit: int) -> list[Reply]:
    """Read ``count`` replies, in order, until ``deadline`` (``time.monotonic``).

    ``limit`` bounds the bytes of all replies. Raises ReadError when the server closes, when it is
    silent for too long, when it sends too much, or something that is no reply.
    """
    buffer = bytearray()
    replies: list[Reply] = []
    start = scanned = 0
    while len(replies) < count:
        chunk = _chunk(sock, deadline, len(buffer))
        buffer += chunk
        if len(buffer) > limit:
            raise ReadError(Reason.PROTOCOL, f"the reply is longer than {limit} bytes")
        while len(replies) < count and (found := _cut(buffer, start, scanned)):
            reply, start = found
            scanned = start
            replies.append(reply)
        scanned = max(start, len(buffer) - len(_END) + 1)
    if start != len(buffer):
        raise ReadError(Reason.PROTOCOL, "the server sent more than was asked for")
    return replies


def _chunk(sock: socket.socket, deadline: float, received: int) -> bytes:
    remaining = deadline - time.monotonic()
    if remaining > 0:
        sock.settimeout(remaining)
        try:
            chunk = sock.recv(_CHUNK)
        except TimeoutError:
            pass
        else:
            if chunk:
                return chunk
            raise ReadError(Reason.CLOSED, _so_far("the server closed the connection", received))
    silence = " (a server that speaks only the binary protocol?)" if not received else ""
    raise ReadError(
        Reason.TIMEOUT, _so_far("no whole answer before the deadline", received) + silence
    )


def _so_far(what: str, received: int) -> str:
    return f"{what} after {received} bytes"


def _cut(buffer: bytearray, start: int, scanned: int) -> tuple[Reply, int] | None:
    """Return the reply that begins at ``start`` and where the next one begins, if it is whole."""
    if buffer.startswith((b"STAT ", b"PREFIX ", b"VALUE ", b"CONFIG "), start):
        end = buffer.find(_END, scanned)
        if end < 0:
            return None
        return Reply(buffer[start:end].decode("latin-1")), end + len(_END)
    end = buffer.find(b"\r\n", start)
    if end < 0:
        if len(buffer) - start > _LONGEST_LINE:
            raise ReadError(Reason.PROTOCOL, "the answer is not memcached's protocol")
        return None
    line = buffer[start:end]
    shown = line.decode("latin-1")
    if line == b"END":
        return Reply(""), end + 2
    if line.startswith(b"VERSION") or line == b"STORED":
        return Reply(shown), end + 2
    if line.split(b" ", 1)[0] in _ERRORS:
        raise_for_connection(shown)
        return Reply("", error=shown), end + 2
    raise ReadError(Reason.PROTOCOL, f"the answer is not memcached's protocol: {shown[:80]!r}")


def raise_for_connection(error: str) -> None:
    """Raise ReadError for an error line that speaks of the connection, not of the command."""
    lower = error.lower()
    if "too many open connections" in lower:
        raise ReadError(Reason.CONNECTION_LIMIT, error)
    if "unauthenticated" in lower:
        raise ReadError(Reason.AUTH, f"{error}: the server asks for a login")
    if "authentication failure" in lower:
        raise ReadError(Reason.AUTH, f"{error}: the server refuses user or password")
