"""Figures from the measurement of large fleets, with their goals, and their table."""

import statistics
from collections.abc import Iterator

from bench.report import FIGURES_HEAD, Figure, figure, line
from bench.scale import CLIENTS, DEADLINE, Fleet, Scale

_INTERVAL = 15.0
"""Prometheus' usual seconds between scrapes."""
_TIMEOUT = 10.0
"""Prometheus' usual scrape timeout."""


def figures(found: Scale) -> list[Figure]:
    """Return all figures of a measurement."""
    return [*_of_pages(found.fleets), *_of_hung(found), *_of_requests(found)]


def _of_pages(fleets: list[Fleet]) -> Iterator[Figure]:
    for classes in sorted({fleet.classes for fleet in fleets}):
        sizes = [fleet for fleet in fleets if fleet.classes == classes]
        small, large = sizes[0], sizes[-1]
        what = f"{classes} classes"
        ratio = _least_cpu(large) / _least_cpu(small)
        yield figure(f"min CPU/server {large.servers}:{small.servers}, {what}", [ratio], 1.2)
        walls = (lap.wall / _TIMEOUT for lap in large.laps)
        yield figure(f"page / {_TIMEOUT:.0f} s, {large.servers} of {what}", walls, 0.5)
        memory = (large.resident - large.started) / large.servers / 1e3
        yield figure(f"memory per server, kB, {what}", [memory])


def _least_cpu(fleet: Fleet) -> float:
    """Return the seconds per server of the best round: others on the machine only ever add."""
    return min(lap.cpu for lap in fleet.laps) / fleet.servers


def _of_hung(found: Scale) -> Iterator[Figure]:
    def extra(page: int) -> list[float]:
        return [(hang.hung[page] - hang.well[page]) / DEADLINE for hang in found.hangs]

    for page, name in enumerate(("first", "second", "third")):
        yield figure(f"{found.hung_servers} hung: {name} page, deadlines", extra(page), 1.05)


def _of_requests(found: Scale) -> Iterator[Figure]:
    for alone in found.alone:
        rates = [alone.requests / seconds for seconds in alone.seconds]
        what = f"{alone.classes} classes"
        yield figure(f"/scrape per second, {what}", rates)
        yield figure(f"CPU of a /scrape, ms, {what}", [cpu * 1e3 for cpu in alone.cpu])
        half = [_INTERVAL * 0.5 / cpu for cpu in alone.cpu]
        yield figure(f"servers in {_INTERVAL:.0f} s, ½ core, {what}", half)
    apart, beside = found.apart, found.apart.beside
    ratio = min(beside.beside_hung) / min(beside.quiet)
    yield figure(f"min /scrape beside {found.hung_servers} hung : alone", [ratio], 1.2)
    together = [seconds / DEADLINE for seconds in beside.together]
    yield figure(f"{found.hung_servers} /scrape of hung, deadlines", together, 1.1)
    yield figure(f"{CLIENTS} for one: slowest, deadlines", [apart.same_slowest], 1.1)
    share = apart.same_up / max(1, min(CLIENTS, int(DEADLINE / apart.same_single)))
    yield figure(f"{CLIENTS} for one: in time / could be", [share])
    yield figure(f"{CLIENTS} for one: connections", [float(apart.same_connections)], 1.0)


def table(found: Scale, results: list[Figure]) -> str:
    """Return the report for people."""
    head = f"{'/metrics: servers':>17}{'classes':>8}{'first s':>8}{'wall s':>8}{'CPU ms each':>12}"
    head += f"{'samples':>9}{'MB':>7}{'sent':>6}{'RSS MB: start':>14}{'after':>7}{'peak':>6}"
    return "\n".join(
        [
            f"{head}{'files':>6}{'threads':>8}",
            *map(_fleet, found.fleets),
            "",
            FIGURES_HEAD,
            *map(line, results),
        ]
    )


def _fleet(fleet: Fleet) -> str:
    wall = statistics.median(lap.wall for lap in fleet.laps)
    cpu = statistics.median(lap.cpu for lap in fleet.laps) / fleet.servers * 1e3
    return (
        f"{fleet.servers:17}{fleet.classes:8}{fleet.first:8.2f}{wall:8.2f}{cpu:12.2f}"
        f"{fleet.samples:9}{fleet.bytes / 1e6:7.1f}{fleet.sent_bytes / 1e6:6.1f}"
        f"{fleet.started / 1e6:14.0f}{fleet.resident / 1e6:7.0f}{fleet.peak / 1e6:6.0f}"
        f"{fleet.descriptors:6}{fleet.threads:8}"
    )
