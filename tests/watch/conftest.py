"""Fixtures that start the command, and end it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.watch.support import Terminal, Watching


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Callable[..., Watching]]:
    """Start a watch with a CSV file: ``watching("--interval=200ms", server.address)``."""
    started: list[Watching] = []

    def start(*arguments: str) -> Watching:
        started.append(Watching(tmp_path / f"run-{len(started)}.csv", *arguments))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Start a watch in a terminal: ``terminal(80, server.address)``."""
    started: list[Terminal] = []

    def start(columns: int, *arguments: str, **environment: str) -> Terminal:
        started.append(Terminal(columns, *arguments, **environment))
        return started[-1]

    yield start
    for one in started:
        one.stop()
