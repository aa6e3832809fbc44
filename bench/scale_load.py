"""Many HTTP clients at once, in one thread: what Prometheus with many targets does."""

import gzip
import selectors
import socket
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from bench.contestants import HEADERS
from bench.processes import HOST, CannotMeasureError, Process

_CHUNK = 1 << 18
_LONGEST_SECONDS = 60.0


class Answer(msgspec.Struct, frozen=True):
    """What came for one path."""

    path: str
    seconds: float
    """From when it was asked."""
    body: bytes

    @property
    def up(self) -> bool:
        """Whether the page says that its one server is up."""
        return b"\nmemcached_up 1\n" in self.body


class _Client:
    """One held connection, and the request that is under way on it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._host = f"{HOST}:{port}"
        self._path = ""
        self._asked = 0.0
        self._received = bytearray()

    def ask(self, path: str) -> None:
        """Send a request."""
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        head = [f"GET {path} HTTP/1.1", f"Host: {self._host}", *lines, "", ""]
        self._path, self._asked = path, time.perf_counter()
        self._received.clear()
        self.socket.sendall("\r\n".join(head).encode())

    def take(self) -> Answer | None:
        """Take what has come; return the answer when it is whole."""
        received = self.socket.recv(_CHUNK)
        if not received:
            raise CannotMeasureError(f"{self._path}: the connection was closed")
        self._received += received
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = bytes(self._received[:end]).lower().split(b"\r\n")
        if not head[0].startswith(b"http/1.1 200 "):
            raise CannotMeasureError(f"{self._path} was answered with {head[0].decode()}")
        length = next(int(line[15:]) for line in head if line.startswith(b"content-length:"))
        if len(self._received) < end + 4 + length:
            return None
        seconds = time.perf_counter() - self._asked
        body = bytes(self._received[end + 4 :])
        return Answer(self._path, seconds, body)


class Crowd:
    """So many clients of one exporter, each with a connection that it keeps."""

    def __init__(self, exporter: Process, clients: int) -> None:
        self._clients = [_Client(exporter.port) for _ in range(clients)]
        self._selector = selectors.DefaultSelector()
        for client in self._clients:
            self._selector.register(client.socket, selectors.EVENT_READ, client)

    def run(self, paths: Iterable[str]) -> list[Answer]:
        """Ask for all paths, each client for one after the other; return what came, uncompressed.

        An exporter that does not answer within a minute is a CannotMeasureError.
        """
        waiting = deque(paths)
        answers: list[Answer] = []
        under_way = 0
        for client in self._clients[: len(waiting)]:
            client.ask(waiting.popleft())
            under_way += 1
        while under_way:
            ready = self._selector.select(_LONGEST_SECONDS)
            if not ready:
                raise CannotMeasureError("the exporter does not answer")
            for key, _ in ready:
                client = key.data
                answer = client.take()
                if answer is None:
                    continue
                answers.append(answer)
                under_way -= 1
                if waiting:
                    client.ask(waiting.popleft())
                    under_way += 1
        return [
            msgspec.structs.replace(answer, body=gzip.decompress(answer.body)) for answer in answers
        ]

    def close(self) -> None:
        """Hang up."""
        self._selector.close()
        for client in self._clients:
            client.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def scrapes(addresses: Sequence[str]) -> list[str]:
    """Return the path that reads each server alone."""
    return [f"/scrape?target={address}" for address in addresses]
