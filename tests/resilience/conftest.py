"""Fixtures: daemons with a configuration file, and the directory for it."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.resilience.certificates import Authority
from tests.resilience.support import Daemon, Watched


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that everybody on this machine can read."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Start daemons: ``daemon("--config.file=x.yml", prefix=("unshare", "--mount"))``."""
    started: list[Daemon] = []

    def start(*arguments: str, prefix: tuple[str, ...] = ()) -> Daemon:
        log = tmp_path / f"daemon-{len(started)}.log"
        started.append(Daemon(log, *arguments, prefix=prefix))
        return started[-1]

    yield start
    for running in started:
        running.stop()


@pytest.fixture
def configured(daemon: Callable[..., Daemon], shared: Path) -> Callable[..., Daemon]:
    """Start a daemon with this text as its configuration file, ``exporter.yml`` in ``shared``."""

    def start(text: str, *flags: str, prefix: tuple[str, ...] = ()) -> Daemon:
        path = shared / "exporter.yml"
        path.write_text(text)
        return daemon(f"--config.file={path}", *flags, prefix=prefix)

    return start


@pytest.fixture
def watch(configured: Callable[..., Daemon]) -> Callable[..., Watched]:
    """Start a daemon with one server, read by a module of this text (YAML, in braces)."""

    def start(address: str, module: str, *flags: str, prefix: tuple[str, ...] = ()) -> Watched:
        text = (
            f'servers: [{{address: "{address}", module: odd}}]\n'
            f"modules:\n  odd: {module}\n"
            "  plain: {}\n"
        )
        return Watched(configured(text, *flags, prefix=prefix), address)

    return start


@pytest.fixture(scope="session")
def authority() -> Iterator[Authority]:
    """The authority that all certificates of these tests come from, unless they are wrong."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Authority(Path(directory))
