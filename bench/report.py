"""Figures from a measurement, with their goals, as a table and as data for JSON."""

import statistics
from collections.abc import Callable, Iterable

import msgspec

from bench.measurement import LIBRARY, OWN, PEER, RAW, Lap, Measurement

_NAMES = {
    RAW: "(a) raw pipelined fetch",
    OWN: "memcached-exporter",
    LIBRARY: "(b) pymemcache + prometheus_client",
    PEER: "(c) peer exporter",
}


FIGURES_HEAD = f"{'figure (median of the rounds)':36}{'median':>9}{'min':>9}{'max':>9}{'goal':>9}"


class Figure(msgspec.Struct, frozen=True):
    """One result; where each round has one of its own, their median and range."""

    name: str
    median: float | None
    """None when it was not measured."""
    low: float | None = None
    high: float | None = None
    goal: float | None = None
    """The most that is good."""
    met: bool | None = None


def figures(found: Measurement) -> list[Figure]:
    """Return all figures of a measurement."""
    rounds, page, memory = found.rounds, found.pages[OWN], found.memory

    def over(name: str, value: Callable[[dict[str, Lap]], float]) -> Figure:
        return figure(name, map(value, rounds))

    def ratio(name: str, goal: float, key: str, time: Callable[[Lap], float]) -> Figure:
        if key not in rounds[0]:
            return Figure(name, None, goal=goal)
        return figure(name, (time(laps[OWN]) / time(laps[key]) for laps in rounds), goal)

    return [
        ratio("wall / wall of (a)", 4.5, RAW, lambda lap: lap.wall),
        ratio("CPU / CPU of (b)", 0.15, LIBRARY, lambda lap: lap.cpu),
        ratio("wall / wall of (c)", 0.4, PEER, lambda lap: lap.wall),
        ratio("CPU / CPU of (c)", 0.3, PEER, lambda lap: lap.cpu),
        figure("RSS when started, MB", [memory.started / 1e6], 45.0),
        figure(f"RSS after {memory.scrapes} scrapes, MB", [memory.scraped / 1e6], 45.0),
        over("CPU per sample, µs", lambda laps: laps[OWN].cpu / page.samples * 1e6),
        over("memcached's CPU per scrape, ms", lambda laps: laps[OWN].memcached_cpu * 1e3),
    ]


def figure(name: str, values: Iterable[float], goal: float | None = None) -> Figure:
    """Return the median and range of the values of all rounds."""
    found = list(values)
    median = statistics.median(found)
    met = None if goal is None else median <= goal
    return Figure(name, median, min(found), max(found), goal, met)


def table(found: Measurement, results: list[Figure]) -> str:
    """Return the report for people."""
    setting = found.setting
    peer = (
        f"(c) is {setting['peer']}"
        if setting["peer"]
        else "(c) was not measured: BENCH_PEER names no exporter with the official one's flags"
    )
    head = f"{'per scrape':36}{'wall ms':>9}{'CPU ms':>9}{'mc CPU ms':>11}"
    lines = [
        (
            "memcached {memcached} with {classes} slab classes, Python {python}, gzip by {gzip},"
            " {cpus} CPUs, load {load}"
        ).format_map(setting),
        f"{len(found.rounds)} rounds of {found.scrapes} scrapes (of (b): a fifth), in turn",
        peer,
        "",
        f"{head}{'samples':>9}{'bytes':>9}{'as sent':>9}",
        *(_contestant(found, key) for key in found.rounds[0]),
        "",
        FIGURES_HEAD,
        *map(line, results),
    ]
    return "\n".join(lines)


def _contestant(found: Measurement, key: str) -> str:
    laps = [lap[key] for lap in found.rounds]
    wall = statistics.median(lap.wall for lap in laps) * 1e3
    cpu = statistics.median(lap.cpu for lap in laps) * 1e3
    memcached_cpu = statistics.median(lap.memcached_cpu for lap in laps) * 1e3
    text = f"{_NAMES[key]:36}{wall:9.2f}{cpu:9.2f}{memcached_cpu:11.2f}"
    page = found.pages.get(key)
    if page is None:
        return text
    return f"{text}{page.samples:9}{page.bytes:9}{page.sent_bytes or '-':>9}"


def line(figure: Figure) -> str:
    """Return a figure's line in the table."""
    goal = "" if figure.goal is None else f"≤ {figure.goal:g}"
    if figure.median is None:
        return f"{figure.name:36}{'-':>9}{'-':>9}{'-':>9}{goal:>9}  not measured"
    verdict = {None: "", True: "  met", False: "  MISSED"}[figure.met]
    spread = (
        f"{'':18}"
        if figure.low == figure.high
        else f"{figure.low or 0:9.3f}{figure.high or 0:9.3f}"
    )
    return f"{figure.name:36}{figure.median:9.3f}{spread}{goal:>9}{verdict}".rstrip()


def data(results: list[Figure], **found: object) -> bytes:
    """Return all of it as JSON; times are in seconds."""
    encoded = msgspec.json.encode({"figures": results, **found})
    return msgspec.json.format(encoded, indent=2) + b"\n"
