"""What a case of a check is: what it looks at when all is just well, and what makes it speak."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from exporter.health.findings.shape import Severity
from exporter.health.findings.view import Pings, View
from exporter.health.snapshot import Labels, Snapshot
from exporter.health.thresholds import Thresholds
from tests.health.made_up import GET_HITS, GET_MISSES, SETS, snapshot

INFO, WARNING, CRITICAL = Severity
SECONDS = 60.0
Series = float | Mapping[Labels, float]


class Case(NamedTuple):
    """A server, what was counted in a minute, its host, and what is found."""

    finding: str
    severity: Severity
    seen: str
    """What the sentence says, up to its numbers at least."""
    now: Mapping[str, Series]
    """Families without ``memcached_``; a number stands for a family without labels."""
    well: Mapping[str, Series]
    """What to change so that all is just well: on the threshold, where there is one."""
    grown: tuple[str, ...] = ()
    """Families whose numbers are what was counted in the last minute, rather than levels."""
    host: Mapping[str, Series] = MappingProxyType({})
    pings: Pings | None = None
    remedy: str = ""
    """What the remedy has to say."""


def labelled(**labels: str) -> Labels:
    """Return the labels of a series."""
    return tuple(labels.items())


def commands(hits: float = 0, misses: float = 0, sets: float = 0) -> dict[Labels, float]:
    """Return gets that hit and missed, and sets."""
    return {GET_HITS: hits, GET_MISSES: misses, SETS: sets}


def slabs(*numbers: float) -> dict[Labels, float]:
    """Return numbers of slab classes, from the first one."""
    return {labelled(slab=str(slab)): number for slab, number in enumerate(numbers, 1)}


def sysctl(name: str, value: float, **labels: str) -> dict[str, Series]:
    """Return a kernel setting."""
    return {"host_sysctl": {labelled(name=name, **labels): value}}


MIB = 2.0**20
WARM: dict[str, Series] = {"uptime_seconds": 7200.0}
FULL: dict[str, Series] = {"current_bytes": 90 * MIB, "limit_bytes": 100 * MIB}
ROOM: dict[str, Series] = {"current_bytes": 85 * MIB}
COMMANDS = "commands_total"
CPUS: dict[str, Series] = {"host_cpus": {labelled(state="online"): 4.0}}


def _snapshots(
    families: Mapping[str, Series], grown: tuple[str, ...]
) -> tuple[Snapshot, Snapshot | None]:
    """Return a snapshot and the one of a minute before, in which what has grown was 0."""
    now = snapshot(taken=1000.0 + SECONDS, start_time_seconds=5.0, **families)
    before = {
        name: dict.fromkeys(series, 0.0) if isinstance(series, Mapping) else 0.0
        for name, series in families.items()
        if name in grown
    }
    return now, snapshot(taken=1000.0, start_time_seconds=5.0, **before) if grown else None


def view_of(case: Case, changes: Mapping[str, Series] | None = None) -> View:
    """Return what the checks see in a case, with some of the families changed."""
    told, of_host = {**case.now}, {**case.host}
    for name, series in (changes or {}).items():
        on_host = name in case.host or (not case.now and case.host)
        (of_host if on_host else told)[name] = series
    now, before = _snapshots(told, case.grown)
    host, host_before = _snapshots(of_host, case.grown) if of_host else (None, None)
    return View(
        thresholds=Thresholds(),
        now=now,
        before=before,
        host=host,
        host_before=host_before,
        pings=case.pings,
    )
