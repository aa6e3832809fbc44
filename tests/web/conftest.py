"""What the tests of the web side share: a daemon per file, and HTTP clients that misbehave."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporter.addresses import ListenAddress
from exporter.web.server import Application, HttpServer, listen
from tests.processes import Exporter, FakeMemcached
from tests.web.clients import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A daemon that logs all, with a server that notes each command; one for a whole file."""
    directory = tmp_path_factory.mktemp("site")
    commands = directory / "commands.log"
    commands.touch()
    server = FakeMemcached("--log", str(commands))
    daemon = Exporter(
        directory / "exporter.log", f"--memcached.address={server.address}", "--log.level=debug"
    )
    try:
        yield Site(daemon, server.address, commands)
    finally:
        daemon.stop()
        server.stop()


@pytest.fixture
def serve() -> Iterator[Callable[[Application], HttpServer]]:
    """Serve an application from this process on a loopback port that the system chooses."""
    started: list[HttpServer] = []

    def start(application: Application) -> HttpServer:
        server = HttpServer(listen(ListenAddress("127.0.0.1", 0)), application)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def connect() -> Iterator[Callable[[tuple[str, int]], socket.socket]]:
    """Open connections that are closed at the end of the test."""
    opened: list[socket.socket] = []

    def open_one(address: tuple[str, int]) -> socket.socket:
        opened.append(socket.create_connection(address, timeout=15))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def config_file(tmp_path: Path) -> Callable[[str], str]:
    """Write a configuration file and return the flag that names it."""

    def write(text: str) -> str:
        path = tmp_path / "exporter.yml"
        path.write_text(text)
        return f"--config.file={path}"

    return write
