"""A large fleet on loopback: many endpoints, servers that hang or are slow, and exporters."""

import contextlib
import os
import random
import resource
import selectors
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from bench.processes import HOST, CannotMeasureError, Process, free_port

_LOWEST_PORT, _HIGHEST_PORT = 10_000, 32_000
"""Below those that the system gives to outgoing connections."""
_DESCRIPTORS_PER_ENDPOINT = 6
"""In memcached: the endpoint, and a connection of each exporter that reads it."""
_SPARE_DESCRIPTORS = 1000
_CHUNK = 65536


def allow_descriptors(endpoints: int) -> int:
    """Allow this process and its children what such a fleet needs, and return how many that are."""
    needed = endpoints * _DESCRIPTORS_PER_ENDPOINT + _SPARE_DESCRIPTORS
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < needed:
        raise CannotMeasureError(
            f"{endpoints} endpoints need {needed} file descriptors and {most} are allowed"
            " (ulimit -Hn): choose fewer with --scale-servers"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))
    return needed


def _free_ports(number: int) -> list[int]:
    """Return ports that nobody listens on now."""
    candidates = range(_LOWEST_PORT, _HIGHEST_PORT)
    start = random.randrange(len(candidates))
    found: list[int] = []
    for i in range(len(candidates)):
        port = candidates[(start + i) % len(candidates)]
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            found.append(port)
        if len(found) == number:
            return found
    raise CannotMeasureError(f"{HOST} has only {len(found)} free ports of {number}")


class Endpoints(Process):
    """One memcached that listens on so many ports, each of which is a server to an exporter."""

    def __init__(self, number: int, descriptors: int) -> None:
        binary = shutil.which("memcached")
        if not binary:
            raise CannotMeasureError("memcached is not installed: make bench installs it")
        ports = _free_ports(number)
        self.addresses = [f"{HOST}:{port}" for port in ports]
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        command = [binary, "-l", ",".join(self.addresses), "-p", str(ports[0]), "-m", "256"]
        super().__init__([*command, "-c", str(descriptors), *user], ports[-1])


@contextlib.contextmanager
def exporter_of(addresses: Sequence[str]) -> Iterator[Process]:
    """Start this project's daemon for so many servers."""
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "exporter.yml"
        servers = "".join(f"- address: '{address}'\n" for address in addresses)
        config.write_text(
            f"servers:\n{servers}log: {{level: error}}\n"
            # All of them are one process of this host, which no fleet is: let none be found.
            "host: {enabled: false, procfs: nowhere}\n"
            "modules: {default: {assume_no_napi_ids: true}}\n"
        )
        port = free_port()
        command = [sys.executable, "-m", "exporter", f"--config.file={config}"]
        with Process([*command, f"--web.listen-address={HOST}:{port}"], port) as process:
            yield process


class _Listening:
    """Servers of this process, all served by one thread."""

    def __init__(self, number: int) -> None:
        self._listening = [socket.create_server((HOST, 0), backlog=128) for _ in range(number)]
        self.addresses = [f"{HOST}:{each.getsockname()[1]}" for each in self._listening]
        self._held: set[socket.socket] = set()
        self._ended = threading.Event()
        self._selector = selectors.DefaultSelector()
        for each in self._listening:
            self._selector.register(each, selectors.EVENT_READ, self._accept)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            for key, _ in self._selector.select(0.1):
                key.data(key.fileobj)

    def _accept(self, listening: socket.socket) -> None:
        client, _ = listening.accept()
        self._hold(client)
        self.accepted(client)

    def _hold(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held.add(connection)
        self._selector.register(connection, selectors.EVENT_READ, self._receive)

    def _receive(self, connection: socket.socket) -> None:
        try:
            said = connection.recv(_CHUNK)
        except OSError:
            said = b""
        if said:
            self.told(connection, said)
        else:
            self._selector.unregister(connection)
            self._held.remove(connection)
            connection.close()

    def accepted(self, client: socket.socket) -> None:
        """Take note of a new client."""

    def told(self, connection: socket.socket, said: bytes) -> None:
        """Take what came over a connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._selector.close()
        for each in (*self._listening, *self._held):
            each.close()


class Hung(_Listening):
    """Servers that accept and say nothing."""


class Slow(_Listening):
    """A server that holds up what it is asked, and then passes it on to a memcached."""

    def __init__(self, server: Process, seconds: float) -> None:
        self.connections = 0
        self._place = (HOST, server.port)
        self._seconds = seconds
        self._peers: dict[socket.socket, socket.socket] = {}
        self._upstream: set[socket.socket] = set()
        super().__init__(1)

    def accepted(self, client: socket.socket) -> None:
        """Connect it with the memcached."""
        self.connections += 1
        upstream = socket.create_connection(self._place, timeout=10)
        self._upstream.add(upstream)
        self._peers |= {client: upstream, upstream: client}
        self._hold(upstream)

    def told(self, connection: socket.socket, said: bytes) -> None:
        """Pass it on, an answer at once."""
        if connection not in self._upstream:
            time.sleep(self._seconds)
        with contextlib.suppress(OSError):
            self._peers[connection].sendall(said)
