"""Those who read the same statistics: each does so many scrapes and tells the time of each."""

import gzip
import http.client
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Protocol, Self

import msgspec

from bench.processes import HOST, ROOT, CannotMeasureError, Process

ACCEPT = (
    "application/openmetrics-text;version=1.0.0,"
    "application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
HEADERS = {
    "User-Agent": "Prometheus/2.42.0",
    "Accept": ACCEPT,
    "Accept-Encoding": "gzip",
    "X-Prometheus-Scrape-Timeout-Seconds": "10",
}
"""As Prometheus 2.42 sends them."""

_COMMANDS = b"stats\r\nstats settings\r\nstats items\r\nstats slabs\r\n"
_CHUNK = 131072
_TIMEOUT = 30.0
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked\r\n", re.IGNORECASE)


class Contestant(Protocol):
    """One of those that are compared."""

    pid: int

    def run(self, scrapes: int) -> list[float]:
        """Scrape so many times; return the seconds that each took."""


class RawFetch:
    """The floor: the bytes of the four statistics over one held connection, and no more."""

    def __init__(self, server: Process) -> None:
        self.pid = os.getpid()
        self._socket = _connect(server.port)

    def run(self, scrapes: int) -> list[float]:
        """Fetch so many times."""
        return _timed(self._fetch, scrapes)

    def _fetch(self) -> None:
        self._socket.sendall(_COMMANDS)
        answer = bytearray()
        while not (answer.endswith(b"\r\nEND\r\n") and answer.count(b"\r\nEND\r\n") == 4):
            answer += _receive(self._socket)


class Scraper:
    """An exporter, asked over one held connection as Prometheus does."""

    def __init__(self, exporter: Process) -> None:
        self.pid = exporter.pid
        self._port = exporter.port
        self._socket = _connect(exporter.port)
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        head = ["GET /metrics HTTP/1.1", f"Host: {HOST}:{exporter.port}", *lines]
        self._request = "\r\n".join([*head, "", ""]).encode()

    def run(self, scrapes: int) -> list[float]:
        """Scrape so many times."""
        return _timed(self._scrape, scrapes)

    def _scrape(self) -> None:
        self._socket.sendall(self._request)
        answer = bytearray()
        while not _is_whole(answer):
            answer += _receive(self._socket)

    def page(self) -> tuple[str, int]:
        """Return a page, and its size as it was sent."""
        connection = http.client.HTTPConnection(HOST, self._port, timeout=_TIMEOUT)
        connection.request("GET", "/metrics", headers=HEADERS)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        compressed = response.headers.get("Content-Encoding") == "gzip"
        return (gzip.decompress(body) if compressed else body).decode(), len(body)


class Library:
    """pymemcache and prometheus_client in a process of their own (``bench.library``)."""

    def __init__(self, server: Process) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.library", str(server.port)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._process.pid
        self.page = msgspec.json.decode(self._answer(), type=str)

    def run(self, scrapes: int) -> list[float]:
        """Make so many pages."""
        assert self._process.stdin
        self._process.stdin.write(b"%d\n" % scrapes)
        self._process.stdin.flush()
        return msgspec.json.decode(self._answer(), type=list[float])

    def _answer(self) -> bytes:
        assert self._process.stdout
        answer = self._process.stdout.readline()
        if not answer:
            raise CannotMeasureError("bench.library ended; what it said stands above")
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection((HOST, port), timeout=_TIMEOUT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _receive(connection: socket.socket) -> bytes:
    try:
        chunk = connection.recv(_CHUNK)
    except OSError as error:
        raise CannotMeasureError(f"no whole answer: {error}") from error
    if not chunk:
        raise CannotMeasureError("no whole answer: the connection was closed")
    return chunk


def _is_whole(answer: bytearray) -> bool:
    head = answer.find(b"\r\n\r\n")
    if head < 0:
        return False
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise CannotMeasureError(f"a scrape was answered with {bytes(answer[:80])!r}")
    if length := _LENGTH.search(answer, 0, head + 2):
        return len(answer) >= head + 4 + int(length[1])
    if _CHUNKED.search(answer, 0, head + 2):
        return answer.endswith(b"\r\n0\r\n\r\n")
    raise CannotMeasureError("a page came without its length")


def _timed(scrape: Callable[[], None], scrapes: int) -> list[float]:
    seconds = []
    for _ in range(scrapes):
        began = time.perf_counter()
        scrape()
        seconds.append(time.perf_counter() - began)
    return seconds
