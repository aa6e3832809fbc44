"""Fixtures: a directory of files, daemons with a configuration, and DNS servers of our own."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.discovery.dns_server import DnsServer
from tests.discovery.support import Files
from tests.resilience.support import Daemon


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A directory of its own, all of whose files are read."""
    directory = tmp_path / "targets"
    directory.mkdir()
    return Files(directory)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that everybody on this machine can use."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o777)
        yield Path(directory)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Start a daemon with this text as ``exporter.yml`` in ``tmp_path``."""
    started: list[Daemon] = []

    def start_one(text: str, *flags: str, prefix: tuple[str, ...] = ()) -> Daemon:
        path = tmp_path / "exporter.yml"
        path.write_text(text)
        log = tmp_path / f"daemon-{len(started)}.log"
        started.append(Daemon(log, f"--config.file={path}", *flags, prefix=prefix))
        return started[-1]

    yield start_one
    for daemon in started:
        daemon.stop()


@pytest.fixture
def nameserver() -> Iterator[DnsServer]:
    """A DNS server on a port that the system chooses."""
    with DnsServer() as server:
        yield server
