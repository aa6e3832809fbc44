"""The servers of the demo, each with a trouble of its own, and the traffic that shows it."""

import contextlib
import math
import random
import threading
import time
from typing import Self

import msgspec
import pymemcache  # type: ignore[import-untyped]

from bench.processes import HOST

_TICK = 0.1
"""Seconds from one small batch of requests to the next."""
_SECONDS_TO_ANSWER = 2.0
_OTHERS = 0.05
"""Share of hits that are followed by one of each other command."""
_WAVE_SECONDS = 120
"""From one height of the traffic to the next."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A memcached of the demo and what its clients do."""

    name: str
    options: tuple[str, ...]
    """Of memcached."""
    gets: float
    """Keys a second that are asked for."""
    keys: int
    """How many different keys there are; low numbers are asked for more often."""
    sizes: tuple[int, int]
    """Bytes of the smallest and the largest value."""
    stored: float = 1.0
    """Share of the keys that are stored when they were not found."""
    idle: int = 0
    """Connections that are open and do nothing."""
    left_behind: int = 0
    """Large items that were stored and deleted before: their pages stay where they are."""


HEALTHY = Shape(
    name="healthy",
    options=("-m", "64", "-t", "2"),
    gets=150,
    keys=20_000,
    sizes=(100, 2_000),
)
TOO_SMALL = Shape(
    name="too small",
    options=("-m", "12", "-t", "2", "-o", "slab_automove=0"),
    gets=100,
    keys=60_000,
    sizes=(200, 900),
    left_behind=60,
)
CROWDED = Shape(
    name="crowded",
    options=("-m", "128", "-t", "2", "-c", "100"),
    gets=8,
    keys=400,
    sizes=(50_000, 400_000),
    stored=0.3,
    idle=72,
)
SHAPES = (HEALTHY, TOO_SMALL, CROWDED)
_LARGE = 60_000
"""Bytes of an item that is left behind."""


class Load(threading.Thread):
    """The traffic on one server; as a context manager it is ended at the end.

    It asks for keys and stores those that it did not find, as programs with a cache do, and never
    faster than its shape says.
    """

    def __init__(self, shape: Shape, port: int) -> None:
        super().__init__(name=f"load of {shape.name}", daemon=True)
        self._shape = shape
        self._chance = random.Random(shape.name)
        self._ended = threading.Event()
        self._client = _client(port)
        self._idle = [_client(port) for _ in range(shape.idle)]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        """Open the connections and warm the server up, then ask until it is ended."""
        # A server that somebody kills to see what happens is no reason to end.
        harmless = contextlib.suppress(OSError, pymemcache.exceptions.MemcacheError)
        with contextlib.ExitStack() as stack:
            stack.callback(self._client.close)
            for client in self._idle:
                stack.callback(client.close)
                with harmless:
                    client.version()
            with harmless:
                self._warm_up()
            while not self._ended.wait(_TICK):
                with harmless:
                    self._tick()

    def _warm_up(self) -> None:
        large = [f"large:{number}" for number in range(self._shape.left_behind)]
        for key in large:
            self._client.set(key, bytes(_LARGE))
        for key in large:
            self._client.delete(key, noreply=False)
        for number in range(self._shape.keys):
            if self._ended.is_set():
                return
            if self._chance.random() < self._shape.stored:
                self._store(number)

    def _tick(self) -> None:
        # Traffic that comes in waves is easier to tell from a line that stands still.
        wave = 1 + 0.4 * math.sin(time.time() * math.tau / _WAVE_SECONDS)
        wanted = self._shape.gets * _TICK * wave
        for _ in range(int(wanted + self._chance.random())):
            # The larger part of requests is for the smaller part of keys.
            number = int(self._shape.keys * self._chance.random() ** 2)
            if self._client.get(_key(number)) is None:
                if self._chance.random() < self._shape.stored:
                    self._store(number)
            elif self._chance.random() < _OTHERS:
                self._use(number)

    def _store(self, number: int) -> None:
        # A key keeps its size.
        size = random.Random(number).randint(*self._shape.sizes)
        self._client.set(_key(number), bytes(size))

    def _use(self, number: int) -> None:
        key = _key(number)
        value, token = self._client.gets(key)
        self._client.cas(key, value, token)
        self._client.touch(key, 0, noreply=False)
        self._client.incr("count", 1)
        self._client.set("count", b"0")
        self._client.delete(_key(self._shape.keys + number), noreply=False)


def _key(number: int) -> str:
    return f"demo:{number}"


def _client(port: int) -> pymemcache.Client:
    seconds = _SECONDS_TO_ANSWER
    return pymemcache.Client((HOST, port), timeout=seconds, connect_timeout=seconds, no_delay=True)
