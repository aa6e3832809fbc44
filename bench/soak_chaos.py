"""What goes wrong during the soak: a random sequence that a seed decides."""

import collections
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Self

from bench.soak_clients import Clients
from bench.soak_servers import Cache, Child

_BEATS = (0.1, 0.7)
"""Seconds between two mischiefs."""
_OUTAGE = (0.0, 0.3, 1.5, 4.0)
_FREEZE = (0.3, 1.5, 3.5)
_FULL = (2.0, 6.0)
_MOST_SHOWN = 30
_NAP_SECONDS = 3.5
"""Without scrapes for so long, the server with an idle timeout hangs up on the exporter."""


class Diary:
    """What was done, in all and last, and what was found wrong."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.faults: list[str] = []
        self._last: collections.deque[str] = collections.deque(maxlen=8)
        self._began = time.monotonic()

    def note(self, what: str, to: str = "") -> None:
        """Note a mischief."""
        self.counts[what] += 1
        self._last.append(f"{self._time()} {what} {to}".rstrip())

    def fault(self, what: str) -> None:
        """Note and print what is wrong, and what was done before."""
        self.faults.append(what)
        if len(self.faults) <= _MOST_SHOWN:
            print(
                f"WRONG {self._time()} {what}; before: {', '.join(tuple(self._last))}", flush=True
            )

    def _time(self) -> str:
        return f"+{time.monotonic() - self._began:.2f} s"


class Chaos:
    """Mischief in a thread of its own; at the end everything is healed and the clients gone."""

    def __init__(
        self,
        caches: Sequence[Cache],
        daemon: Child,
        place: tuple[str, int],
        chance: random.Random,
        diary: Diary,
    ) -> None:
        self._caches = caches
        self._daemon = daemon
        self._chance = chance
        self._diary = diary
        self._clients = Clients(place, diary.fault)
        self._deck: list[Callable[[], None]] = []
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="chaos", daemon=True)
        self.nap_until = 0.0
        """When scrapes go on (``time.monotonic``)."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.nap_until = 0.0
        for cache in self._caches:
            cache.heal()
        self._clients.end()

    def _run(self) -> None:
        try:
            while not self._ended.wait(self._chance.uniform(*_BEATS)):
                self._heal_what_is_due()
                if not self._deck:
                    self._deck = self._shuffled()
                self._deck.pop()()
        except Exception as error:  # noqa: BLE001, a soak without mischief must not pass for calm
            self._diary.fault(f"the mischief ended: {error!r}")

    def _shuffled(self) -> list[Callable[[], None]]:
        """Return a round of mischief: all kinds come in each, in any order."""
        deck = [self._outage, self._freeze, self._outage, self._freeze, self._fill, self._hang_up]
        deck += [partial(self._client, kind) for kind in self._clients.kinds]
        if self._chance.random() < 0.5:
            deck.append(self._nap)
        self._chance.shuffle(deck)
        return deck

    def _heal_what_is_due(self) -> None:
        now = time.monotonic()
        due = [heal for when, heal in self._due if when <= now]
        self._due = [(when, heal) for when, heal in self._due if when > now]
        for heal in due:
            heal()

    def _later(self, seconds: float, heal: Callable[[], None]) -> None:
        self._due.append((time.monotonic() + seconds, heal))

    def _outage(self) -> None:
        """Kill a server, also a frozen or full one; start it again now or later."""
        cache, seconds = self._chance.choice(self._caches), self._chance.choice(_OUTAGE)
        if cache.alive:
            self._diary.note("kill", cache.name)
            cache.kill()
            if seconds:
                self._later(seconds, lambda: self._start(cache))
            else:
                self._start(cache)

    def _start(self, cache: Cache) -> None:
        self._diary.note("start", cache.name)
        cache.start()

    def _freeze(self) -> None:
        """Freeze a server; not a full one, which would not let the exporter in again."""
        cache, seconds = self._chance.choice(self._caches), self._chance.choice(_FREEZE)
        if cache.alive and not cache.frozen and not cache.full:
            self._diary.note("freeze", cache.name)
            cache.freeze()
            self._later(seconds, lambda: self._thaw(cache))

    def _thaw(self, cache: Cache) -> None:
        if cache.frozen:
            self._diary.note("thaw", cache.name)
            cache.thaw()

    def _fill(self) -> None:
        """Fill the server that can be, if the exporter has its connection already."""
        seconds = self._chance.uniform(*_FULL)
        cache = next(cache for cache in self._caches if cache.name == "small")
        if cache.read and cache.known.up and not cache.full:
            self._diary.note("fill", cache.name)
            cache.fill()
            self._later(seconds, lambda: self._free(cache))

    def _free(self, cache: Cache) -> None:
        if cache.full:
            self._diary.note("free", cache.name)
            cache.free()

    def _hang_up(self) -> None:
        self._diary.note("SIGHUP")
        if self._daemon.poll() is None:
            os.kill(self._daemon.pid, signal.SIGHUP)

    def _nap(self) -> None:
        self._diary.note("nap")
        self.nap_until = time.monotonic() + _NAP_SECONDS

    def _client(self, kind: str) -> None:
        self._diary.note(f"client: {kind}")
        self._clients.send(kind, self._chance.randrange(2**32))
