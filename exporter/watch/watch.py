"""One watch: looks at a steady pace, and what goes where."""

import contextlib
import math
import sys
import time
from collections.abc import Iterator
from datetime import timedelta

import msgspec

from exporter.configuration import Configuration, Server
from exporter.observation.observer import Observer
from exporter.watch.display import Display
from exporter.watch.pace import Waiting, ticks
from exporter.watch.record import Record
from exporter.watch.rows import Rows
from exporter.watch.statistics import Accounts

_PING_SECONDS = 0.05
"""Between round trips to a server."""
_MOST_PINGS = 200
"""A second, to all servers: more would measure how busy the watch itself is."""
_SWITCH_SECONDS = 0.0002
"""After which a thread that computes lets another one go on, which may be timing a round trip. With
Python's own 5 ms that wait was most of what was measured: 4 ms in the p99 of twenty servers."""
_MARGIN_SECONDS = 0.2
"""What is left of an interval when a look has used up its time."""
_SECTIONS = frozenset({"stats", "proxy"})
_COLLECTORS = frozenset({"process"})
"""What the figures come from: a look should cost a server under test as little as it can."""


class Watch:
    """Looks at the servers of a configuration every ``interval`` seconds.

    It ends after ``count`` intervals if that is given, else upon a signal.
    """

    def __init__(
        self,
        configuration: Configuration,
        interval: float,
        count: int | None,
        display: Display,
        record: Record | None,
    ) -> None:
        self.accounts = Accounts()
        self.waiting = Waiting(self._tell_progress)
        self._configuration = _lean(configuration)
        self._interval = interval
        self._count = count
        self._display = display
        self._record = record
        self._began = time.monotonic()

    def run(self) -> None:
        """Watch. Raises ExporterError when the record cannot be written any more."""
        pause = max(_PING_SECONDS, len(self._configuration.servers) / _MOST_PINGS)
        observer = Observer(self._configuration, pause)
        rows_of = Rows(observer.pings).of
        # A server that hangs may use up most of an interval, but not shift the next one.
        budget = max(self._interval / 2, self._interval - _MARGIN_SECONDS)
        with contextlib.closing(observer), _quick_switches(), self._display:
            self._began = time.monotonic()
            for number in ticks(self._interval, self._count, self.waiting):
                rows = rows_of(observer.look(budget))
                if number:
                    self.accounts.add(rows)
                    if self._record:
                        self._record.add(rows)
                self._display.show(rows)

    def _tell_progress(self) -> None:
        elapsed = time.monotonic() - self._began
        told = f"{_clock(elapsed)} since the start"
        if self._count is not None:
            told += f", {_clock(max(0.0, self._count * self._interval - elapsed))} left"
        self._display.tick(f"{told}; Ctrl-C ends the watch")


@contextlib.contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _lean(configuration: Configuration) -> Configuration:
    """Return a configuration that reads only what the figures need."""
    replace = msgspec.structs.replace

    def lean(server: Server) -> Server:
        sections = tuple(name for name in server.module.sections if name in _SECTIONS)
        return replace(server, module=replace(server.module, sections=sections))

    host = configuration.host
    return replace(
        configuration,
        servers=tuple(map(lean, configuration.servers)),
        host=replace(host, collectors=host.collectors & _COLLECTORS),
    )


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=math.floor(seconds)))
