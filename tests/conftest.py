"""Fixtures that start what tests talk to, and end it."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from tests.processes import Exporter, FakeMemcached, Memcached


@pytest.fixture(autouse=True)
def plain_logging() -> Iterator[None]:
    """Log as structlog does by default, whatever level a test before this one has set."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def plain_signals() -> Iterator[None]:
    """Block no signal that a daemon in the test has blocked: programs of later tests inherit it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    # What a shell runs in the background ignores Ctrl-C, and so does all that it starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


@pytest.fixture
def memcached() -> Iterator[Callable[..., Memcached]]:
    """Start real memcached servers: ``memcached("-m", "8")``."""
    started: list[Memcached] = []

    def start(*arguments: str, port: int | None = None, host: str = "127.0.0.1") -> Memcached:
        started.append(Memcached(*arguments, port=port, host=host))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def fake() -> Iterator[Callable[..., FakeMemcached]]:
    """Start fake servers: ``fake("--mode", "half")``."""
    started: list[FakeMemcached] = []

    def start(*arguments: str) -> FakeMemcached:
        started.append(FakeMemcached(*arguments))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def exporter(tmp_path: Path) -> Iterator[Callable[..., Exporter]]:
    """Start the daemon: ``exporter("--memcached.address=127.0.0.1:11211")``."""
    started: list[Exporter] = []

    def start(*arguments: str, listen: str = "127.0.0.1:0") -> Exporter:
        log = tmp_path / f"exporter-{len(started)}.log"
        started.append(Exporter(log, *arguments, listen=listen))
        return started[-1]

    yield start
    for daemon in started:
        daemon.stop()
