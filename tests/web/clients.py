"""HTTP clients that say exactly what a test wants them to say."""

import contextlib
import io
import socket
import time
import urllib.request
from collections.abc import Callable
from email.message import Message
from http.client import parse_headers
from pathlib import Path
from typing import NamedTuple

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from exporter.web.server import HttpServer
from tests.processes import Exporter


class Site(NamedTuple):
    """A daemon, the address of its one server, and the log of what that was asked."""

    exporter: Exporter
    address: str
    commands: Path

    def asked(self) -> int:
        """Return how many commands the server has got so far."""
        return self.commands.read_bytes().count(b"\n")

    @property
    def place(self) -> tuple[str, int]:
        """Where the daemon listens."""
        return self.exporter.host, self.exporter.port


def place_of(server: HttpServer) -> tuple[str, int]:
    """Return where a server of this process listens."""
    host, port = server.server_address[:2]
    return str(host), int(port)


class Reply(NamedTuple):
    """One HTTP answer as it came over the wire."""

    version: str
    status: int
    headers: Message
    body: bytes


def talk(place: tuple[str, int], data: bytes, timeout: float = 15) -> bytes:
    """Send bytes, say no more, and return all that comes back until the other side closes."""
    with socket.create_connection(place, timeout=timeout) as connection:
        connection.sendall(data)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while received := connection.recv(65536):
                answer += received
        return answer


def replies(data: bytes, *methods: str) -> list[Reply]:
    """Take a stream of answers apart, given the methods that were asked with (GET if not given).

    A byte that belongs to no answer is a failure.
    """
    stream = io.BytesIO(data)
    found: list[Reply] = []
    while line := stream.readline():
        version, status = line.decode("latin-1").split(" ", 2)[:2]
        headers = parse_headers(stream)
        method = methods[len(found)] if len(found) < len(methods) else "GET"
        has_body = method != "HEAD" and not status.startswith("1")
        body = stream.read(int(headers["Content-Length"])) if has_body else b""
        found.append(Reply(version, int(status), headers, body))
    return found


def parse_openmetrics(page: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Parse a page in OpenMetrics into name and labels to value; twice the same is a failure."""
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in text_string_to_metric_families(page):  # type: ignore[no-untyped-call]
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in samples, f"{key} stands twice"
            samples[key] = sample.value
    return samples


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait until something is so; return whether it was within the time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def threads_at_rest(daemon: Exporter) -> int:
    """Return how many threads the daemon has when those of requests that were answered are gone."""
    counts = []
    for _ in range(15):
        counts.append(daemon.threads())
        time.sleep(0.02)
    return min(counts)


def fetched(url: str) -> str:
    """Return the text that a URL gives."""
    with urllib.request.urlopen(url, timeout=20) as answer:
        text: str = answer.read().decode()
        return text
