"""Fixtures for the tests of reading through the daemon."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.memcached.pages import Page
from tests.processes import Exporter


@pytest.fixture
def page(exporter: Callable[..., Exporter]) -> Callable[..., Page]:
    """Start the daemon for one server, with more flags if wanted."""

    def start(address: str, *flags: str) -> Page:
        return Page(exporter(f"--memcached.address={address}", *flags), address)

    return start


@pytest.fixture
def passwords() -> Iterator[str]:
    """Make a file of passwords (``mon:s3cret``) that the user whom memcached runs as can read."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        path = Path(directory, "passwords")
        path.write_text("mon:s3cret\n")
        path.chmod(0o644)
        yield str(path)
