"""What the tests of the web side share: a daemon per file, and HTTP clients that misbehave."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporter.addresses import ListenAddress
from exporter.web.access import Access
from exporter.web.server import Application, HttpServer, listen
from tests.processes import Exporter, FakeMemcached
from tests.web.clients import Site
from tests.web.secure import Authority, everything, hashed


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
def serve() -> Iterator[Callable[..., HttpServer]]:
    """Serve an application from this process on a loopback port that the system chooses."""
    started: list[HttpServer] = []

    def start(application: Application, access: Access | None = None) -> HttpServer:
        server = HttpServer(listen(ListenAddress("127.0.0.1", 0)), application, access)
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


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    """A file with one user, alice, whose password is `right`."""
    path = tmp_path / "web.yml"
    path.write_text(f"basic_auth_users: {{alice: '{hashed('right')}'}}\n")
    return path


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that has signed `server.pem`."""
    found = Authority(tmp_path)
    found.issue("server")
    return found


@pytest.fixture
def write(tmp_path: Path, authority: Authority) -> Callable[..., Path]:
    """Write a web configuration file: `write("min_version: TLS13")`."""

    def write_here(more: str = "", rest: str = "") -> Path:
        path = tmp_path / "web.yml"
        path.write_text(
            f"tls_server_config: {{cert_file: server.pem, key_file: server.key, {more}}}\n{rest}"
        )
        return path

    return write_here


@pytest.fixture
def guarded(
    serve: Callable[..., HttpServer], write: Callable[..., Path]
) -> Callable[..., HttpServer]:
    """Serve with settings: `guarded("min_version: TLS13", application=everything)`."""

    def start(more: str = "", rest: str = "", application: Application = everything) -> HttpServer:
        return serve(application, Access(write(more, rest)))

    return start


@pytest.fixture
def tls_daemon(exporter: Callable[..., Exporter], write: Callable[..., Path]) -> Exporter:
    """A daemon without servers that speaks TLS and logs all."""
    path = write()
    main = path.with_name("exporter.yml")
    main.write_text("servers: []\n")
    flags = f"--config.file={main}", f"--web.config.file={path}", "--log.level=debug"
    return exporter(*flags)
