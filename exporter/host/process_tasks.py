"""The threads of a process, by kind, with counters that do not fall when threads end.

/proc/PID/task has a directory for each thread. A thread that ends takes its counters along, and
the next one begins at nought, perhaps under the same number. So counters are those of a place: the
n-th of the threads of one kind that there were at the same time. What its former holders had
counted when they were last seen stays with it.
"""

import errno
import functools
import operator
import os
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

from exporter.host.process import Process
from exporter.host.process_files import START_TIME, SYSTEM_TIME, USER_TIME, stat_fields
from exporter.host.reading import read as read_file

Counts = tuple[int, ...]
"""User and system time (ticks), time in the run queue (nanoseconds), voluntary and involuntary
context switches."""

_NOTHING: Counts = (0, 0, 0, 0, 0)

MAIN, WORKER, UNKNOWN = "main", "worker", "unknown"
_KINDS = {
    f"mc-{kind}".encode(): kind
    for kind in (
        WORKER,
        "log",
        "lrumaint",
        "slabmaint",
        "assocmaint",
        "itemcrawler",
        "idletimeout",
        "ext-io",
        "ext-maint",
        "ext-write",
        "ext-compact",
        "prx-io",
        "prx-config",
        "prx-manager",
    )
}
"""What memcached calls its threads, and how they are labelled; all other names are `unknown`."""

_FRESH_SECONDS = 1.0
"""For how long the collectors of one page share what was read."""
_KEPT = 64
"""Processes whose counters are kept while nobody reads them."""


class Holding(NamedTuple):
    """What there is to say of a place."""

    kind: str
    number: int
    runs: bool
    """False when its last holder has ended."""
    counts: Counts
    """Of all its holders."""


class _Place:
    """The n-th thread of a kind."""

    __slots__ = ("index", "kind", "now", "past", "start", "thread")

    def __init__(self, kind: str, index: int) -> None:
        self.kind = kind
        self.index = index
        self.thread = 0
        """Number of the thread; 0 when it has ended."""
        self.start = 0
        self.now = _NOTHING
        self.past = _NOTHING

    def may_be(self, start: int, counts: Counts) -> bool:
        """Return whether these can be later counts of the thread that is here."""
        return start == self.start and counts[3] >= self.now[3] and counts[4] >= self.now[4]

    def leave(self) -> None:
        """Note that the thread has ended, or is now in another place."""
        self.past = _sum(self.past, self.now)
        self.now = _NOTHING
        self.thread = 0


class Tasks:
    """The places of a process."""

    def __init__(self, process: Process, *, detailed: bool) -> None:
        self._process = process
        self._detailed = detailed
        """False when only context switches are wanted, which saves two of three files."""
        self._by_thread: dict[int, _Place] = {}
        self._by_kind: dict[str, list[_Place]] = {}
        self._has_schedstat = (process.directory / "schedstat").exists()
        self._lock = threading.Lock()
        self._holdings: list[Holding] = []
        self._read_at = float("-inf")
        self._served: set[object] = set()
        self.status = b""
        """The main thread's ``status``, which has what concerns the whole process."""
        self.counts_waits = False
        """Whether the kernel counts for how long threads wait in the run queue."""

    def read(self, reader: object) -> list[Holding]:
        """Return the state of all places: a new one, if ``reader`` had this one already.

        Raises OSError when the process has ended.
        """
        with self._lock:
            now = time.monotonic()
            if reader in self._served or now - self._read_at > _FRESH_SECONDS:
                self._walk()
                self._read_at = now
                self._served.clear()
                self._holdings = [
                    Holding(place.kind, place.index, place.thread > 0, _sum(place.past, place.now))
                    for places in self._by_kind.values()
                    for place in places
                ]
            self._served.add(reader)
            return self._holdings

    def _walk(self) -> None:
        directory = os.open(self._process.directory / "task", os.O_RDONLY | os.O_DIRECTORY)
        try:
            seen = list(self._threads(directory))
        finally:
            os.close(directory)
        if not seen or seen[0][0] != self._process.pid:
            raise ProcessLookupError(
                errno.ESRCH, os.strerror(errno.ESRCH), str(self._process.directory)
            )
        for thread in self._by_thread.keys() - {thread for thread, *_ in seen}:
            self._by_thread.pop(thread).leave()
        for thread, kind, start, counts in seen:
            place = self._by_thread.get(thread)
            if place is None or place.kind != kind or not place.may_be(start, counts):
                place = self._settle(thread, kind, start, counts)
            # The kernel splits a time into user's and its own by estimate, and may take back some.
            place.now = tuple(map(max, place.now, counts))

    def _threads(self, directory: int) -> Iterable[tuple[int, str, int, Counts]]:
        """Yield number, kind, start and counts of each thread, the main thread first."""
        main = self._process.pid
        # memcached starts its workers in order, and so their numbers rise.
        for thread in sorted(map(int, os.listdir(directory)), key=lambda tid: (tid != main, tid)):
            try:
                status = read_file(f"{thread}/status", directory)
                start, times = self._times(thread, directory) if self._detailed else (0, (0, 0, 0))
            except (FileNotFoundError, ProcessLookupError):
                continue
            kind = _KINDS.get(status[6 : status.index(b"\n")], UNKNOWN)
            if thread == main:
                kind, self.status = MAIN, status
            words = status[status.rindex(b"\nvoluntary_ctxt_switches:") :].split(None, 4)
            yield thread, kind, start, (*times, int(words[1]), int(words[3]))

    def _times(self, thread: int, directory: int) -> tuple[int, tuple[int, int, int]]:
        """Return a thread's start, and its time in both modes and in the run queue."""
        fields = stat_fields(read_file(f"{thread}/stat", directory))
        wait = 0
        if self._has_schedstat:
            _, waited, slices = read_file(f"{thread}/schedstat", directory).split()
            wait = int(waited)
            if thread == self._process.pid:
                # A kernel that does not count says nought of a thread that surely has run.
                self.counts_waits = slices != b"0"
        return int(fields[START_TIME]), (int(fields[USER_TIME]), int(fields[SYSTEM_TIME]), wait)

    def _settle(self, thread: int, kind: str, start: int, counts: Counts) -> _Place:
        """Return the place for a thread that is new, or has another name than before."""
        elsewhere = _NOTHING
        before = self._by_thread.get(thread)
        if before:
            if before.may_be(start, counts):
                elsewhere = before.now
            before.leave()
        places = self._by_kind.setdefault(kind, [])
        place = next((place for place in places if not place.thread), None)
        if place is None:
            place = _Place(kind, len(places))
            places.append(place)
        # What it counted under its former name is to be found there, and so not here.
        place.past = tuple(map(operator.sub, place.past, elsewhere))
        place.thread, place.start = thread, start
        self._by_thread[thread] = place
        return place


def _sum(one: Counts, other: Counts) -> Counts:
    return tuple(map(operator.add, one, other))


@functools.lru_cache(maxsize=_KEPT)
def tasks_of(process: Process, *, detailed: bool) -> Tasks:
    """Return the places of a process, the same for all that ask.

    They outlast those that ask: a process that is found again after a while, when its server has
    a new connection, has counted on.
    """
    return Tasks(process, detailed=detailed)
