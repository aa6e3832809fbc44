"""The measurement: all contestants in turn, round by round, against one memcached."""

import contextlib
import importlib.util
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Mapping

import msgspec

from bench.contestants import Contestant, Library, RawFetch, Scraper
from bench.load import CLASSES, fill
from bench.processes import (
    CannotMeasureError,
    Process,
    cpu_seconds,
    exporter,
    first_line,
    memcached,
    peer,
    resident_bytes,
)

RAW, OWN, LIBRARY, PEER = "raw", "exporter", "library", "peer"
MEMORY_SCRAPES = 2000
_WARM_UP = 10
_LIBRARY_SHARE = 5
"""The library is slow, so it gets one scrape where the others get so many."""
_SETTLE_SECONDS = 0.01


class Lap(msgspec.Struct, frozen=True):
    """One contestant in one round, in seconds per scrape: wall is the median, CPU the mean."""

    wall: float
    cpu: float
    memcached_cpu: float


class Page(msgspec.Struct, frozen=True):
    """What a scrape brings."""

    samples: int
    bytes: int
    sent_bytes: int


class Memory(msgspec.Struct, frozen=True):
    """Resident bytes of the exporter."""

    started: int
    scraped: int
    scrapes: int


class Measurement(msgspec.Struct, frozen=True):
    """All that one run found."""

    setting: dict[str, str]
    scrapes: int
    rounds: list[dict[str, Lap]]
    pages: dict[str, Page]
    memory: Memory


def measure(rounds: int, scrapes: int, peer_executable: str) -> Measurement:
    """Run the benchmark; without a ``peer_executable`` there is no peer.

    Raises CannotMeasureError.
    """
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        server = enter(memcached())
        fill(server)
        daemon = enter(exporter(server))
        time.sleep(0.5)
        started = resident_bytes(daemon.pid)
        own = Scraper(daemon)
        library = enter(Library(server))
        contestants: dict[str, Contestant] = {RAW: RawFetch(server), OWN: own, LIBRARY: library}
        if peer_executable:
            contestants[PEER] = other = Scraper(enter(peer(peer_executable, server)))
        for contestant in contestants.values():
            contestant.run(_WARM_UP)
        pages = {OWN: _page(own, sections=True), LIBRARY: _of(library.page, 0)}
        if peer_executable:
            pages[PEER] = _page(other, sections=False)
        laps = [_round(contestants, scrapes, server) for _ in range(rounds)]
        done = _WARM_UP + rounds * scrapes
        own.run(max(0, MEMORY_SCRAPES - done))
        memory = Memory(started, resident_bytes(daemon.pid), max(MEMORY_SCRAPES, done))
    return Measurement(_setting(peer_executable), scrapes, laps, pages, memory)


def _round(contestants: Mapping[str, Contestant], scrapes: int, server: Process) -> dict[str, Lap]:
    return {
        name: _lap(
            contestant, max(1, scrapes // (_LIBRARY_SHARE if name == LIBRARY else 1)), server
        )
        for name, contestant in contestants.items()
    }


def _lap(contestant: Contestant, scrapes: int, server: Process) -> Lap:
    time.sleep(_SETTLE_SECONDS)
    cpu, memcached_cpu = cpu_seconds(contestant.pid), cpu_seconds(server.pid)
    walls = contestant.run(scrapes)
    time.sleep(_SETTLE_SECONDS)
    return Lap(
        wall=statistics.median(walls),
        cpu=(cpu_seconds(contestant.pid) - cpu) / scrapes,
        memcached_cpu=(cpu_seconds(server.pid) - memcached_cpu) / scrapes,
    )


def _page(scraper: Scraper, *, sections: bool) -> Page:
    """Check that a page is whole: what reads less than the others is not compared with them."""
    text, sent_bytes = scraper.page()
    if not re.search(r"^memcached_up(\{.*\})? 1$", text, re.MULTILINE):
        raise CannotMeasureError(f"this page does not say that memcached is up: {text[:500]}")
    read = len(re.findall(r"^memcached_scrape_section_success\{.*\} 1$", text, re.MULTILINE))
    if sections and read != 4:
        raise CannotMeasureError(f"the exporter read {read} of 4 sections")
    return _of(text, sent_bytes)


def _of(text: str, sent_bytes: int) -> Page:
    samples = sum(1 for line in text.splitlines() if line and not line.startswith("#"))
    return Page(samples, len(text.encode()), sent_bytes)


def _setting(peer_executable: str) -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "cpus": str(len(os.sched_getaffinity(0))),
        "load": f"{os.getloadavg()[0]:.2f}",
        "memcached": first_line("memcached", "-V").removeprefix("memcached "),
        "classes": str(CLASSES),
        "gzip": "isal" if importlib.util.find_spec("isal") else "zlib",
        "peer": f"{peer_executable}: {first_line(peer_executable, '--version')}"
        if peer_executable
        else "",
        "executable": sys.executable,
    }
