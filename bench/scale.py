"""The measurement of large fleets: pages with all servers, hung ones, and servers one by one."""

import contextlib
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pymemcache  # type: ignore[import-untyped]

from bench.contestants import Scraper
from bench.load import CLASSES, fill
from bench.processes import HOST, CannotMeasureError, Process, cpu_seconds, resident_bytes
from bench.scale_load import Crowd, scrapes
from bench.scale_world import Endpoints, Hung, Slow, allow_descriptors, exporter_of

FEWEST, MOST = 200, 1000
"""Servers that the measurement can be asked for."""
DEADLINE = 1.0
"""Seconds for one server: the exporter's default, and more than Prometheus would leave."""
CLIENTS = 16
_FEW_SIZES = (10, 300, 5000)
_SETTLE_SECONDS = 0.5
_PROBED = 100
_SLOW_SECONDS = 0.05


class Lap(msgspec.Struct, frozen=True):
    """Pages of one fleet in one round, in seconds per page: wall is the median, CPU the mean."""

    wall: float
    cpu: float


class Fleet(msgspec.Struct, frozen=True):
    """What /metrics costs with so many servers of so many slab classes."""

    servers: int
    classes: int
    first: float
    """Seconds of the first page, which connects."""
    laps: list[Lap]
    samples: int
    bytes: int
    sent_bytes: int
    started: int
    """Resident bytes before the first page."""
    resident: int
    """Resident bytes after all pages."""
    peak: int
    """Most resident bytes of all time."""
    descriptors: int
    threads: int


class Hang(msgspec.Struct, frozen=True):
    """Pages of a fleet that is well, and of one of which some servers hang, in seconds."""

    well: list[float]
    """The first one connects to all servers."""
    hung: list[float]


class Alone(msgspec.Struct, frozen=True):
    """/scrape, by parallel clients, for one server after the other."""

    classes: int
    requests: int
    seconds: list[float]
    """For so many requests, round by round."""
    cpu: list[float]


class Beside(msgspec.Struct, frozen=True):
    """Whether servers wait for others, in seconds."""

    quiet: list[float]
    """Median for servers that are well, round by round."""
    beside_hung: list[float]
    """The same while requests for hung servers are under way."""
    together: list[float]
    """All requests for hung servers, each of which needs the deadline."""


class Apart(msgspec.Struct, frozen=True):
    """Whether parallel requests to /scrape wait for one another, in seconds."""

    beside: Beside
    same_single: float
    """One request for a slow server."""
    same_up: int
    """Parallel requests for it that were answered in time."""
    same_slowest: float
    same_connections: int
    """That the slow server has seen."""


class Scale(msgspec.Struct, frozen=True):
    """All that one run found."""

    hung_servers: int
    fleets: list[Fleet]
    hangs: list[Hang]
    alone: list[Alone]
    apart: Apart


def measure(servers: int, rounds: int) -> Scale:
    """Measure fleets up to so many servers. Raises CannotMeasureError."""
    descriptors = allow_descriptors(servers)
    hung_servers = servers // 20
    with Endpoints(servers, descriptors) as few, Endpoints(servers, descriptors) as many:
        fill(many)
        classes = {_fill_few(few): few, CLASSES: many}
        fleets = [
            fleet
            for number, endpoints in classes.items()
            for fleet in _fleets(number, endpoints, rounds)
        ]
        alone = [_alone(number, each, rounds) for number, each in classes.items()]
        with Hung(hung_servers) as hung:
            hangs = [_hang(few, hung) for _ in range(rounds)]
            apart = _apart(few, hung, rounds)
    return Scale(hung_servers, fleets, hangs, alone, apart)


def _fill_few(endpoints: Endpoints) -> int:
    """Make a few slab classes, and return their number."""
    client = pymemcache.Client((HOST, endpoints.port), timeout=10, connect_timeout=10)
    for size in _FEW_SIZES:
        client.set(f"few:{size}", b"x" * size, noreply=False)
    classes = int(client.stats("slabs")[b"active_slabs"])
    client.close()
    return classes


class _Subject:
    """An exporter whose pages are measured."""

    def __init__(self, daemon: Process, servers: int) -> None:
        self._pid, self._servers = daemon.pid, servers
        self._started = resident_bytes(daemon.pid)
        self._scraper = Scraper(daemon)
        self._first = self._scraper.run(1)[0]
        self._laps: list[Lap] = []

    def lap(self, of: int) -> None:
        """Ask for as many pages as read so many servers in sum."""
        pages = of // self._servers
        before = cpu_seconds(self._pid)
        walls = self._scraper.run(pages)
        cpu = (cpu_seconds(self._pid) - before) / pages
        self._laps.append(Lap(statistics.median(walls), cpu))

    def fleet(self, classes: int) -> Fleet:
        """Check a page, and return all that was found."""
        resident, process = resident_bytes(self._pid), Path(f"/proc/{self._pid}")
        peak = re.search(r"^VmHWM:\s+(\d+) kB$", (process / "status").read_text(), re.MULTILINE)
        text, sent_bytes = self._scraper.page()
        _check(text, up=self._servers, down=0, sections=4 * self._servers)
        return Fleet(
            servers=self._servers,
            classes=classes,
            first=self._first,
            laps=self._laps,
            samples=sum(1 for line in text.splitlines() if not line.startswith("#")),
            bytes=len(text.encode()),
            sent_bytes=sent_bytes,
            started=self._started,
            resident=resident,
            peak=int(peak[1]) * 1024 if peak else 0,
            descriptors=len(list((process / "fd").iterdir())),
            threads=len(list((process / "task").iterdir())),
        )


def _fleets(classes: int, endpoints: Endpoints, rounds: int) -> list[Fleet]:
    """Measure three sizes in turn, round by round."""
    addresses = endpoints.addresses
    sizes = [len(addresses) // 10, len(addresses) * 3 // 10, len(addresses)]
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(exporter_of(addresses[:size])) for size in sizes]
        time.sleep(_SETTLE_SECONDS)
        subjects = [_Subject(*each) for each in zip(daemons, sizes, strict=True)]
        for _ in range(rounds):
            for subject in subjects:
                subject.lap(of=len(addresses))
        return [subject.fleet(classes) for subject in subjects]


def _check(text: str, *, up: int, down: int, sections: int) -> None:
    """Check that a page is whole: what is left out costs nothing."""
    patterns = {
        r"^memcached_up\{[^}]*\} 1$": up,
        r"^memcached_up\{[^}]*\} 0$": down,
        r"^memcached_scrape_section_success\{[^}]*\} 1$": sections,
    }
    for pattern, wanted in patterns.items():
        found = len(re.findall(pattern, text, re.MULTILINE))
        if found != wanted:
            raise CannotMeasureError(f"{found} samples instead of {wanted} match {pattern}")


def _hang(endpoints: Endpoints, hung: Hung) -> Hang:
    """Compare pages of exporters that were just started."""
    well = endpoints.addresses
    ill = [*well[len(hung.addresses) :], *hung.addresses]
    with exporter_of(well) as first:
        quiet = Scraper(first).run(3)
    with exporter_of(ill) as second:
        scraper = Scraper(second)
        delayed = scraper.run(3)
        up = len(ill) - len(hung.addresses)
        _check(scraper.page()[0], up=up, down=len(hung.addresses), sections=4 * up)
    return Hang(quiet, delayed)


def _alone(classes: int, endpoints: Endpoints, rounds: int) -> Alone:
    paths = scrapes(endpoints.addresses)
    seconds, cpu = [], []
    with exporter_of(endpoints.addresses) as daemon, Crowd(daemon, CLIENTS) as crowd:
        _expect_up(crowd, paths)
        for _ in range(rounds):
            before, began = cpu_seconds(daemon.pid), time.perf_counter()
            crowd.run(paths)
            seconds.append(time.perf_counter() - began)
            cpu.append((cpu_seconds(daemon.pid) - before) / len(paths))
    return Alone(classes, len(paths), seconds, cpu)


def _expect_up(crowd: Crowd, paths: Sequence[str]) -> float:
    """Return the median of the seconds that the answers took, all of which must be good."""
    answers = crowd.run(paths)
    bad = [answer.path for answer in answers if not answer.up]
    if bad:
        raise CannotMeasureError(f"{len(bad)} servers are not up: {bad[:3]}")
    return statistics.median(answer.seconds for answer in answers)


def _apart(endpoints: Endpoints, hung: Hung, rounds: int) -> Apart:
    well = endpoints.addresses[:_PROBED]
    with Slow(endpoints, _SLOW_SECONDS) as slow:
        addresses = [*well, *hung.addresses, *slow.addresses]
        with exporter_of(addresses) as daemon:
            beside = _beside(daemon, scrapes(well), scrapes(hung.addresses), rounds)
            with Crowd(daemon, CLIENTS) as crowd:
                _expect_up(crowd, scrapes(slow.addresses))
                single = _expect_up(crowd, scrapes(slow.addresses))
                same = crowd.run(scrapes(slow.addresses) * CLIENTS)
        return Apart(
            beside=beside,
            same_single=single,
            same_up=sum(answer.up for answer in same),
            same_slowest=max(answer.seconds for answer in same),
            same_connections=slow.connections,
        )


def _beside(daemon: Process, well: list[str], hung: list[str], rounds: int) -> Beside:
    """Read servers one after the other, alone and while hung ones are asked for."""
    quiet, beside, together = [], [], []
    with Crowd(daemon, 1) as single, Crowd(daemon, len(hung) + 1) as crowd:
        _expect_up(single, well)
        for _ in range(rounds):
            quiet.append(_expect_up(single, well))
            # The hung ones keep all clients but one busy until their deadline.
            answers = crowd.run([*hung, *well])
            beside.append(statistics.median(a.seconds for a in answers if a.path in well))
            together.append(max(a.seconds for a in answers if a.path in hung))
    return Beside(quiet, beside, together)
