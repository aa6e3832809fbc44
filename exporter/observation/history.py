"""What the last scrapes found, for those who look at the exporter itself.

It is filled by scrapes and reads no server. Its size is bounded: of a server it keeps some points,
and the few families that rates and findings need of the past.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping

import msgspec
import structlog

from exporter.health.figures import COUNTERS, START, Levels, Rates
from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import Finding, findings, told
from exporter.health.findings.view import INCREASING, INCREASING_ON_HOST, View
from exporter.health.snapshot import Labels, Snapshot
from exporter.health.thresholds import Thresholds
from exporter.host.host import Portion
from exporter.memcached.member import Outcome
from exporter.observation.snapshots import host_snapshot, server_snapshot

POINTS = 60
"""That are kept of a server."""
LEAST_SECONDS = 5.0
"""Between points: several Prometheus servers may scrape, one right after the other."""
WINDOW_SECONDS = 60.0
"""At least, between the two looks whose difference findings judge."""
_ROUNDS, _LEAST_TURNS = 10, 20
"""A judgement takes a quarter of a scrape: of a large fleet a tenth is judged at a time, so that no
page has to wait for all."""

_log = structlog.get_logger()


class Point(msgspec.Struct, frozen=True, gc=False):
    """One scrape of a server: little, as there are many of them."""

    time: float
    """Unix time in seconds."""
    up: bool
    uptime: float | None = None
    connections_ratio: float | None = None
    memory_ratio: float | None = None
    ping_seconds: float | None = None
    gets: float | None = None
    """These and what follows since the point before, a second; None after a restart, or when the
    server was down then."""
    commands: float | None = None
    hit_ratio: float | None = None
    evictions: float | None = None


class Present(msgspec.Struct, frozen=True):
    """The last scrape of a server that answered."""

    levels: Levels
    rates: Rates | None = None
    """Since the scrape before; None after a restart, or when the server was down then."""


def point(time: float, levels: Levels, rates: Rates | None) -> Point:
    """Return what is kept of a scrape for long."""
    kept = Point(
        time=time,
        up=True,
        uptime=levels.uptime,
        connections_ratio=levels.connections_ratio,
        memory_ratio=levels.memory_ratio,
        ping_seconds=levels.ping_seconds,
    )
    if rates is None:
        return kept
    return msgspec.structs.replace(
        kept,
        gets=rates.commands.get("get", 0.0),
        commands=rates.total,
        hit_ratio=rates.hit_ratio,
        evictions=rates.evictions,
    )


class _Track:
    """What is kept of one server."""

    def __init__(self, module: str) -> None:
        self.module = module
        """How it is read; what other modules find is something else."""
        self.points: deque[Point] = deque(maxlen=POINTS)
        self.present: Present | None = None
        """None while it does not answer."""
        self.noted = -math.inf
        """When the last point was, in seconds of ``time.monotonic``."""
        self.last: Snapshot | None = None
        """What the next point is compared with."""
        self.judged: tuple[Snapshot, Snapshot | None] | None = None
        """Server and host at the last judgement: the next is about the time since then."""
        self.findings: tuple[Finding, ...] = ()


class History:
    """Points and findings of the configured servers; safe to use from several threads."""

    def __init__(self, thresholds: Thresholds, ignored: frozenset[str]) -> None:
        self.thresholds = thresholds
        self.ignored = ignored
        self._lock = threading.Lock()
        self._tracks: dict[str, _Track] = {}
        self._host: tuple[float, Snapshot] | None = None
        """The host, and when it was noted."""

    def follow(self, servers: Mapping[str, str]) -> None:
        """Keep what is known of servers, by address and module, and forget all others."""
        with self._lock:
            known = self._tracks
            self._tracks = {
                address: known[address]
                if address in known and known[address].module == module
                else _Track(module)
                for address, module in servers.items()
            }

    def note(
        self,
        outcomes: Iterable[Outcome],
        of_processes: Iterable[Portion],
        of_host: Iterable[Portion] = (),
    ) -> None:
        """Note what a scrape brought; nothing is raised, as a page does not depend on it."""
        try:
            self._note(outcomes, of_processes, list(of_host))
        except Exception:  # noqa: BLE001
            _log.exception("the status page misses a scrape")

    def points(self, address: str) -> tuple[Point, ...]:
        """Return the points of a server, the oldest first."""
        with self._lock:
            track = self._tracks.get(address)
            return tuple(track.points) if track else ()

    def present(self, address: str) -> Present | None:
        """Return the last scrape of a server, None when it did not answer."""
        with self._lock:
            track = self._tracks.get(address)
            return track.present if track else None

    def findings(self, address: str) -> tuple[Finding, ...]:
        """Return what was found out about a server, the worst first."""
        with self._lock:
            track = self._tracks.get(address)
            return told(track.findings, self.ignored) if track else ()

    def _note(
        self, outcomes: Iterable[Outcome], of_processes: Iterable[Portion], of_host: list[Portion]
    ) -> None:
        host = self._recent(host_snapshot(of_host) if of_host else None)
        of_servers: dict[Labels, list[Portion]] = {}
        for portion in of_processes:
            of_servers.setdefault(portion.labels, []).append(portion)
        now = time.monotonic()
        due: list[tuple[float, _Track, Snapshot, Snapshot | None]] = []
        for outcome in outcomes:
            process = of_servers.get(outcome.subject.labels, [])
            with self._lock:
                track = self._tracks.get(outcome.subject.server)
                own = track and track.module == outcome.module.name
                if track and own and now - track.noted >= LEAST_SECONDS:
                    track.noted = now
                    snapshot = self._add(track, outcome, process)
                    judged = track.judged[0].taken if track.judged else -math.inf
                    if snapshot and snapshot.taken - judged >= WINDOW_SECONDS:
                        due.append((judged, track, snapshot, host if process else None))
        # Those that were judged longest ago have the first turn.
        turns = max(_LEAST_TURNS, len(self._tracks) // _ROUNDS)
        for _, track, snapshot, own_host in sorted(due, key=lambda one: one[0])[:turns]:
            with self._lock:
                # Another scrape may have found it down in the meantime.
                if track.present:
                    self._judge(track, snapshot, own_host)

    def _recent(self, host: Snapshot | None) -> Snapshot | None:
        """Return the host now, or as another page found it lately: /scrape does not read it."""
        now = time.monotonic()
        with self._lock:
            if host:
                self._host = now, host
            noted, known = self._host or (now, None)
        return known if now - noted <= 2 * WINDOW_SECONDS else None

    def _add(self, track: _Track, outcome: Outcome, process: list[Portion]) -> Snapshot | None:
        """Add a point, and return what the server said if it answered."""
        if outcome.error is not None:
            track.points.append(Point(time.time(), up=False))
            track.present, track.last, track.judged, track.findings = None, None, None, ()
            return None
        snapshot = server_snapshot(outcome, process)
        view = View(thresholds=self.thresholds, now=snapshot, before=track.last)
        track.present = Present(view.levels, view.rates)
        track.points.append(point(time.time(), view.levels, view.rates))
        track.last = snapshot.only((START, *COUNTERS))
        return snapshot

    def _judge(self, track: _Track, now: Snapshot, host: Snapshot | None) -> None:
        before, host_before = track.judged or (None, None)
        view = View(
            thresholds=self.thresholds,
            now=now,
            before=before,
            host=host,
            host_before=host_before,
        )
        track.findings = findings(CHECKS, view)
        track.judged = now.only(INCREASING), host and host.only(INCREASING_ON_HOST)
