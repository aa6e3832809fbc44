"""Runs of the command as its users make them, and reports that are made up."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from exporter.check.report import Report, ServerReport, Status, report
from exporter.configuration import ConfigFile, build
from exporter.health.figures import Levels, Rates
from exporter.health.findings.shape import Finding, Severity
from exporter.health.findings.view import Pings

ROOT = Path(__file__).parents[2]


class Run(NamedTuple):
    """How a run ended."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """What it printed, as data."""
        return json.loads(self.out)

    def names(self, server: int = 0) -> dict[str, str]:
        """Return the findings of a server with their severity."""
        return {one["name"]: one["severity"] for one in self.json()["servers"][server]["findings"]}


def run(*arguments: str, timeout: float = 60) -> Run:
    """Run `check` to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", "check", *arguments],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": "error"},
        text=True,
        timeout=timeout,
    )
    return Run(done.returncode, done.stdout, done.stderr)


WELL = ServerReport(
    server="cache1:11211",
    status=Status.OK,
    reason="",
    detail="",
    remedy="",
    missed="",
    local=False,
    restarted=False,
    levels=Levels(
        version="1.6.18",
        uptime=259_200.0,
        connections=100.0,
        connections_limit=1000.0,
        connections_ratio=0.1,
        memory_bytes=48 * 2.0**20,
        memory_limit_bytes=64 * 2.0**20,
        memory_ratio=0.75,
        items=1234.0,
        ping_seconds=0.0002,
    ),
    rates=Rates(
        seconds=10.0,
        commands={"get": 100.0, "set": 20.0, "touch": 0.0},
        hit_ratio=0.97,
        evictions=0.0,
        evicted_per_set=0.0,
        connections=0.1,
        rejected=0.0,
        read_bytes=1000.0,
        written_bytes=2000.0,
        cpu=0.01,
        voluntary_switches=120.0,
        involuntary_switches=1.5,
    ),
    lifetime=Rates(
        seconds=259_200.0,
        commands={"get": 80.0, "set": 20.0, "touch": 0.5},
        hit_ratio=0.9,
        evictions=0.25,
        evicted_per_set=0.0125,
        connections=0.2,
        rejected=0.0,
        read_bytes=1000.0,
        written_bytes=2000.0,
        cpu=0.01,
        voluntary_switches=None,
        involuntary_switches=None,
    ),
    pings=Pings(p50=0.0002, p99=0.0015, count=99, failed=0),
    findings=(),
    left_out={},
)
"""A server on which nothing is wrong."""

FULL = Finding(
    name="memory_high",
    severity=Severity.WARNING,
    seen="Items take 60 MiB of 64 MiB (93.8 %).",
    why="A full cache is normal.",
    remedy="Start memcached with -m 128.",
    leave="Most often.",
    runbook="MemcachedMemoryHigh",
)
KNOWN = Finding(
    name="flushed",
    severity=Severity.INFO,
    seen="It was told to forget all items.",
    why="All items are gone at once.",
    remedy="Start memcached with -F.",
    leave="After a deployment.",
    runbook="",
)


def changed(**fields: Any) -> ServerReport:
    """Return the server that is well, with other fields."""
    told = {name: getattr(WELL, name) for name in WELL.__struct_fields__}
    return ServerReport(**{**told, **fields})


DOWN = changed(
    server="cache2:11211",
    status=Status.CRITICAL,
    reason="refused",
    detail="connection refused",
    remedy="Nobody listens there.",
    levels=None,
    rates=None,
    lifetime=None,
    pings=None,
)
TROUBLED = changed(server="cache3:11211", status=Status.WARNING, findings=(FULL, KNOWN))


def whole(
    *servers: ServerReport, unread: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> Report:
    """Return a report of these servers over ten seconds."""
    file = msgspec.convert({"findings": {"ignore": ignore}}, ConfigFile)
    return report(servers, build(file, str), 10.0, unread)
