"""A look at the servers of a configuration, for the commands that look by themselves."""

import math
import threading
import time
from collections.abc import Iterable

import msgspec

from exporter.configuration import Configuration, Server
from exporter.errors import Reason
from exporter.health.findings.view import Pings
from exporter.health.snapshot import Snapshot
from exporter.host.host import Host, Portion
from exporter.memcached.fleet import Fleet
from exporter.memcached.member import Outcome, State
from exporter.memcached.prober import Prober, probers
from exporter.observation.snapshots import host_snapshot, server_snapshot


class Sight(msgspec.Struct, frozen=True):
    """What one look found of one server."""

    state: State
    """Whether it answered, and why not."""
    snapshot: Snapshot | None
    """None when it did not answer."""
    local: bool
    """Whether its process runs on this host, and is known."""
    since: float
    """When the look began, in seconds of ``time.monotonic``."""


class Look(msgspec.Struct, frozen=True):
    """One look at all servers and the host."""

    servers: tuple[Sight, ...]
    """In the order of the configuration."""
    host: Snapshot


class Observer:
    """Looks at servers and host when told to, and measures round trips in between.

    ``ping_interval`` is the time between round trips of a server, in seconds; 0 for none.
    """

    def __init__(self, configuration: Configuration, ping_interval: float) -> None:
        servers = tuple(_probed(server, ping_interval) for server in configuration.servers)
        self._fleet = Fleet(msgspec.structs.replace(configuration, servers=servers), _ignore)
        self._host = Host(configuration.host)
        self._lock = threading.Lock()
        self._seconds: dict[str, list[float]] = {}
        self._failed: dict[str, int] = {}
        self._probers: list[Prober] = probers(servers, self._observe, self._count_failure)
        for prober in self._probers:
            prober.start()

    def look(self, budget: float) -> Look:
        """Look at all servers, within ``budget`` seconds."""
        since = time.monotonic()
        of_host = self._host.begin()
        outcomes = self._fleet.read_all(budget)
        of_processes = self._host.begin_processes(outcome.subject for outcome in outcomes)
        by_server: dict[str, list[Portion]] = {}
        for portion in of_processes.result(since + budget):
            by_server.setdefault(dict(portion.labels)["server"], []).append(portion)
        sights = [
            _sight(state, outcome, by_server.get(state.address, ()), since)
            for state, outcome in zip(self._fleet.states(), outcomes, strict=True)
        ]
        return Look(tuple(sights), host_snapshot(of_host.result(since + budget)))

    def pings(self, address: str) -> Pings | None:
        """Return the round trips to a server since the last call; None when there were none."""
        with self._lock:
            seconds, failed = sorted(self._seconds.pop(address, [])), self._failed.pop(address, 0)
        if not seconds and not failed:
            return None
        p50, p99 = quantile(seconds, 0.5), quantile(seconds, 0.99)
        return Pings(p50=p50, p99=p99, count=len(seconds), failed=failed)

    def close(self) -> None:
        """End probers, threads and connections."""
        for prober in self._probers:
            prober.stop()
        self._host.close()
        self._fleet.close()

    def _observe(self, _operation: str, address: str, seconds: float) -> None:
        with self._lock:
            self._seconds.setdefault(address, []).append(seconds)

    def _count_failure(self, _operation: str, address: str) -> None:
        with self._lock:
            self._failed[address] = self._failed.get(address, 0) + 1


def quantile(ordered: list[float], share: float) -> float | None:
    """Return the smallest value that a share of all do not exceed; None when there are none."""
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else None


def _sight(state: State, outcome: Outcome, process: Iterable[Portion], since: float) -> Sight:
    of_process = list(process)
    answered = outcome.error is None
    snapshot = server_snapshot(outcome, of_process) if answered else None
    return Sight(state, snapshot, local=bool(of_process), since=since)


def _probed(server: Server, interval: float) -> Server:
    """Return a server that is probed at an interval by what changes nothing in it."""
    module = msgspec.structs.replace(server.module, probe_interval=interval, canary_key="")
    return msgspec.structs.replace(server, module=module)


def _ignore(_reason: Reason) -> None:
    """Count no error: each is in the look that it happened in."""
