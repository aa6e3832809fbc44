"""One row a server and interval: what lies between two looks at it."""

import time
from collections.abc import Callable
from enum import StrEnum

import msgspec

from exporter.health.figures import levels, rates, restarted, was_reset
from exporter.health.findings.view import Pings
from exporter.health.snapshot import Snapshot
from exporter.health.words import visible
from exporter.observation.observer import Look, Sight
from exporter.watch.columns import Figures, Measured, figures


class Event(StrEnum):
    """What happened to a server between two looks."""

    NONE = ""
    DOWN = "down"
    """It no longer answers."""
    UP = "up"
    """It answers, and did not before."""
    RESTART = "restart"
    RESET = "reset"
    """Its counters began anew without a restart."""


class Row(msgspec.Struct, frozen=True):
    """One server in one interval."""

    time: float
    """When the look at the end of the interval began, in Unix seconds."""
    elapsed: float
    """The same, in seconds since the first look."""
    server: str
    up: bool
    reason: str = ""
    """Why it does not answer."""
    detail: str = ""
    """The same in words."""
    event: Event = Event.NONE
    figures: Figures = {}


class _Track:
    """What is remembered of a server from look to look."""

    def __init__(self) -> None:
        self.up: bool | None = None
        self.last: Snapshot | None = None


class Rows:
    """Makes rows of looks; ``pings`` returns the round trips to a server since the last call."""

    def __init__(self, pings: Callable[[str], Pings | None]) -> None:
        self._pings = pings
        self._tracks: dict[str, _Track] = {}
        self._began: float | None = None

    def of(self, look: Look) -> list[Row]:
        """Return the rows of a look, in the order of its servers.

        Those of the first look have no rates. After a gap in which a server did not answer its
        rates are over the whole gap, so that nothing that it did is lost.
        """
        if self._began is None:
            self._began = look.servers[0].since
        elapsed = look.servers[0].since - self._began
        now = time.time() - (time.monotonic() - look.servers[0].since)
        return [self._row(sight, now, elapsed) for sight in look.servers]

    def _row(self, sight: Sight, now: float, elapsed: float) -> Row:
        address = sight.state.address
        track = self._tracks.setdefault(address, _Track())
        event = _event(track, sight.snapshot)
        pings = self._pings(address)
        measured = Measured(pings=pings)
        if sight.snapshot:
            between = rates(track.last, sight.snapshot) if track.last else None
            measured = Measured(levels(sight.snapshot), between, pings)
            track.last = sight.snapshot
        track.up = sight.snapshot is not None
        return Row(
            time=now,
            elapsed=elapsed,
            server=address,
            up=track.up,
            reason="" if track.up else sight.state.reason,
            detail="" if track.up else visible(sight.state.detail),
            event=event,
            figures=figures(measured),
        )


def _event(track: _Track, now: Snapshot | None) -> Event:
    if now is None:
        return Event.DOWN if track.up else Event.NONE
    if track.last and restarted(track.last, now):
        return Event.RESTART
    if track.last and was_reset(track.last, now):
        return Event.RESET
    return Event.UP if track.up is False else Event.NONE
