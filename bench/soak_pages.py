"""Scrapes of the soak, and what makes a page right."""

import gzip
import http.client
import re
import time
from collections.abc import Iterable, Sequence

import msgspec
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as parse_text

from bench.contestants import HEADERS
from bench.soak_servers import Cache, Known

DEADLINE = 1.0
"""Prometheus' timeout, which cannot be longer than its interval."""
OPENMETRICS = HEADERS | {"X-Prometheus-Scrape-Timeout-Seconds": f"{DEADLINE:g}"}
TEXT = OPENMETRICS | {"Accept": "text/plain;version=0.0.4", "Accept-Encoding": "identity"}
_GIVE_UP_SECONDS = 30.0
_EOF = re.compile(r"^# EOF$", re.MULTILINE)
_RISING = {"counter", "summary", "histogram"}

_Key = tuple[str, frozenset[tuple[str, str]]]


class Fetched(msgspec.Struct, frozen=True):
    """An answer as it came, and what was known of the servers before and after."""

    seconds: float
    status: int
    coding: str
    body: bytes
    before: list[Known]
    after: list[Known]
    failure: str = ""


class Stream:
    """One kind of page, fetched again and again over a kept connection as Prometheus does.

    ``target`` is the cache that the page is about; without one it is about all.
    """

    def __init__(
        self, place: tuple[str, int], caches: Sequence[Cache], headers: dict[str, str], target: str
    ) -> None:
        self._connection = http.client.HTTPConnection(*place, timeout=_GIVE_UP_SECONDS)
        self._headers = headers
        self._path = f"/scrape?target={target}" if target else "/metrics"
        self._openmetrics = headers is OPENMETRICS
        self._label = not target
        self._caches = [cache for cache in caches if not target or cache.address == target]
        self._last: dict[_Key, tuple[int, float]] = {}

    def fetch(self) -> Fetched:
        """Ask for the page."""
        before = self._known()
        began = time.perf_counter()
        status, coding, body, failure = 0, "", b"", ""
        try:
            self._connection.request("GET", self._path, headers=self._headers)
            response = self._connection.getresponse()
            status, coding = response.status, response.headers.get("Content-Encoding", "")
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            failure = repr(error)
            self._connection.close()
        seconds = time.perf_counter() - began
        return Fetched(
            seconds,
            status,
            coding,
            body,
            before,
            self._known(),
            failure,
        )

    def _known(self) -> list[Known]:
        return [cache.known for cache in self._caches]

    def faults(self, fetched: Fetched) -> list[str]:
        """Return all that is wrong with an answer."""
        if fetched.failure or fetched.status != 200:
            return [f"{self._path}: {fetched.failure or fetched.status} {fetched.body[:200]!r}"]
        return [f"{self._path}: {fault}" for fault in self._faults(fetched)]

    def _faults(self, fetched: Fetched) -> Iterable[str]:
        if fetched.seconds > DEADLINE:
            yield f"took {fetched.seconds:.2f} s"
        if fetched.coding != ("gzip" if self._openmetrics else ""):
            yield f"came with the coding {fetched.coding!r}"
        try:
            page = (gzip.decompress(fetched.body) if fetched.coding else fetched.body).decode()
            families = list((parse_openmetrics if self._openmetrics else parse_text)(page))
        except (OSError, ValueError) as error:
            yield f"cannot be read: {error!r}"
            return
        if not page.endswith("# EOF\n" if self._openmetrics else "\n"):
            yield f"ends with {page[-40:]!r}"
        if len(_EOF.findall(page)) != self._openmetrics:
            yield "has a wrong number of # EOF"
        samples: dict[_Key, float] = {}
        for family in families:
            yield from _add(samples, family)
        for place, cache in enumerate(self._caches):
            yield from self._faults_of(cache, samples, fetched.before[place], fetched.after[place])
        yield from self._falls(families, fetched)

    def _faults_of(
        self, cache: Cache, samples: dict[_Key, float], before: Known, after: Known
    ) -> Iterable[str]:
        """Compare a server's state with what is known, unless that changed meanwhile."""
        labels = {"server": cache.address} if self._label else {}
        up = samples.get(("memcached_up", frozenset(labels.items())))
        if up not in {0.0, 1.0}:
            yield f"memcached_up of {cache.name} is {up}"
        elif before.steady(after):
            if up != after.up:
                yield f"memcached_up of {cache.name} is {up:g}, it is {'up' if after.up else 'not'}"
            elif up:
                cache.read = True
                if cache.known != after:
                    cache.read = False

    def _falls(self, families: Iterable[Metric], fetched: Fetched) -> Iterable[str]:
        """Find counters that are smaller than on the page before, without a reason."""
        lives = {
            cache.address: before.life if before.steady(after) else None
            for cache, before, after in zip(
                self._caches, fetched.before, fetched.after, strict=True
            )
        }
        alone = self._caches[0].address
        for family in families:
            if family.type not in _RISING:
                continue
            for sample in family.samples:
                server = sample.labels.get("server", "" if self._label else alone)
                own = not server or sample.name.startswith("memcached_probe_")
                life = 0 if own else lives[server]
                key = (sample.name, frozenset(sample.labels.items()))
                last_life, last = self._last.pop(key, (-1, 0.0))
                if life is None:
                    continue
                if last_life == life and sample.value < last:
                    yield f"{sample.name}{sample.labels} fell from {last} to {sample.value}"
                self._last[key] = (life, sample.value)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _add(samples: dict[_Key, float], family: Metric) -> Iterable[str]:
    for sample in family.samples:
        key = (sample.name, frozenset(sample.labels.items()))
        if key in samples:
            yield f"{sample.name}{sample.labels} stands twice"
        samples[key] = sample.value
