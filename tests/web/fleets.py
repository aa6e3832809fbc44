"""Fleets in this process, for tests of what pages and targets cost."""

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec

from exporter.configuration import ConfigFile, build
from exporter.errors import Reason
from exporter.memcached.fleet import Fleet


class MakeFleet(Protocol):
    """Makes a fleet from addresses and further keys of the configuration file."""

    def __call__(self, *addresses: str, **keys: Any) -> Fleet:
        """Make one, which is closed at the end of the test."""


@contextlib.contextmanager
def fleets(count_error: Callable[[Reason], None]) -> Iterator[MakeFleet]:
    """Make fleets, and close them at the end."""
    made: list[Fleet] = []

    def make_one(*addresses: str, **keys: Any) -> Fleet:
        servers = [{"address": address} for address in addresses]
        file = msgspec.convert({"servers": servers, **keys}, ConfigFile)
        made.append(Fleet(build(file, str), count_error))
        return made[-1]

    try:
        yield make_one
    finally:
        for fleet in made:
            fleet.close()


@contextlib.contextmanager
def silence() -> Iterator[Callable[[int], list[str]]]:
    """Open so many places that accept connections and say nothing, and close them at the end."""
    opened: list[socket.socket] = []

    def open_some(number: int) -> list[str]:
        places = [socket.create_server((f"127.0.1.{i % 250}", 0)) for i in range(number)]
        opened.extend(places)
        return ["{}:{}".format(*place.getsockname()) for place in places]

    try:
        yield open_some
    finally:
        for place in opened:
            place.close()
