"""Fixtures for the tests of the optional sections."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.memcached.pages import Page
from tests.processes import Exporter, Memcached
from tests.sections.support import ALL, configured


@pytest.fixture
def sectioned(exporter: Callable[..., Exporter], tmp_path: Path) -> Callable[..., Page]:
    """Start the daemon for one server whose module asks for all sections, or as it is told."""

    def start(address: str, *flags: str, **module: Any) -> Page:
        flag = configured(
            tmp_path,
            modules={"default": {"sections": list(ALL)} | module},
            servers=[{"address": address}],
        )
        return Page(exporter(flag, *flags), address)

    return start


@pytest.fixture
def clients() -> Iterator[Callable[..., socket.socket]]:
    """Connect clients, of a loopback address of their own if wanted: ``clients(server)``."""
    opened: list[socket.socket] = []

    def connect(server: Memcached, source: str = "127.0.0.1", first: bytes = b"") -> socket.socket:
        client = socket.create_connection(
            (server.host, server.port), timeout=5, source_address=(source, 0)
        )
        opened.append(client)
        if first:
            client.sendall(first)
        return client

    yield connect
    for client in opened:
        client.close()
