"""How many connections wait for memcached to accept them."""

import re
from collections.abc import Iterable, Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.listen_arguments import Place, places
from exporter.host.listeners import Listener, listeners
from exporter.host.process import Process
from exporter.host.reading import read

_MAX_LISTENERS = 64
_USER = re.compile(rb"^Uid:\s+\d+\s+(\d+)", re.MULTILINE)


def listen_queue(process: Process, _settings: HostSettings) -> Read:
    """Return what reads length and limit of each accept queue (connections)."""

    def read_queues() -> Iterable[Sample]:
        wanted = _places(process)
        user = _user(process)
        own = [
            listener
            for listener in (listeners(process.directory / "net") if wanted else [])
            if any(_is_at(listener, place, user) for place in wanted)
        ]
        for listener in own[:_MAX_LISTENERS]:
            yield from _samples(listener)
        left_out = [sample for one in own[_MAX_LISTENERS:] for sample in _samples(one)]
        yield "series_dropped", (), len(left_out)

    return read_queues


def _samples(listener: Listener) -> Iterator[Sample]:
    yield "length", (listener.address,), listener.length
    if listener.limit is not None:
        yield "limit", (listener.address,), listener.limit


def _places(process: Process) -> list[Place]:
    """Return where a process listens, by its arguments (/proc/PID/cmdline)."""
    arguments = read(f"{process.directory}/cmdline").decode(errors="surrogateescape")
    return places(arguments.rstrip("\0").split("\0"))


def _is_at(listener: Listener, place: Place, user: int) -> bool:
    """Return whether a socket is what memcached listens on at a place.

    Where it was told a name, port and user decide.
    """
    if listener.port != place.port:
        return False
    return listener.ip in place.ips if place.ips else listener.user in {user, 0}


def _user(process: Process) -> int:
    """Return the number of the user that a process runs as, -1 if that is not known."""
    found = _USER.search(read(f"{process.directory}/status"))
    return int(found[1]) if found else -1
