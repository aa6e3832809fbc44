"""One watch: looks at a steady pace, and what goes where."""

import contextlib
import math
import time
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
        observer = Observer(self._configuration, _PING_SECONDS)
        rows_of = Rows(observer.pings).of
        # A server that hangs may use up most of an interval, but not shift the next one.
        budget = max(self._interval / 2, self._interval - _MARGIN_SECONDS)
        with contextlib.closing(observer), self._display:
            self._began = time.monotonic()
            for number in ticks(self._interval, self._count, self.waiting):
                rows = rows_of(observer.look(budget))
                if number:
                    self.accounts.add(rows)
                self._display.show(rows)
                if number and self._record:
                    self._record.add(rows)

    def _tell_progress(self) -> None:
        elapsed = time.monotonic() - self._began
        told = f"{_clock(elapsed)} since the start"
        if self._count is not None:
            told += f", {_clock(max(0.0, self._count * self._interval - elapsed))} left"
        self._display.tick(f"{told}; Ctrl-C ends the watch")


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
