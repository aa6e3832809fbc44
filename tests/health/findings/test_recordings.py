"""What is found out about recorded servers, word for word, and about a real healthy one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.configuration import build, convert
from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import Severity, findings
from exporter.health.findings.view import View
from exporter.health.thresholds import Thresholds
from exporter.observation.observer import Observer
from exporter.observation.snapshots import server_snapshot
from tests.memcached.support import SNAPSHOTS
from tests.observation.test_snapshots import outcome_of
from tests.processes import Memcached

GOLDEN = Path(__file__).parents[2] / "golden" / "findings"
NAMES = (
    "deb1618-default",
    "deb1618-evictions",
    "deb1618-m64_full",
    "deb1618-maxconns",
    "deb1618-maxconns_slow",
    "deb1618-extstore",
    "deb1618-udp",
    "deb1618-manyclasses_f1.04",
    "new-default",
    "new-evictions",
    "new-proxy",
    "old1.2.8-evictions",
    "old1.4.15-evictions",
    "old1.4.39-maxconns_slow",
)


def told(name: str) -> str:
    """Return all findings of a recorded server as text."""
    replies = next(snapshot.replies for snapshot in SNAPSHOTS if snapshot.name == name)
    now = server_snapshot(outcome_of(replies))
    found = findings(CHECKS, View(thresholds=Thresholds(), now=now))
    return "".join(
        f"{one.severity} {one.name}\n  {one.seen}\n  Why: {one.why}\n  Remedy: {one.remedy}\n"
        f"  Leave it: {one.leave}\n  Runbook: {one.runbook or 'none'}\n"
        for one in found
    )


@pytest.mark.parametrize("name", NAMES)
def test_recorded_servers(name: str) -> None:
    """The findings are those of the golden file; REGENERATE_GOLDEN=1 writes it anew."""
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("REGENERATE_GOLDEN"):
        file.write_text(told(name))
    assert told(name) == file.read_text()


def test_a_healthy_server_on_this_host(memcached: Callable[..., Memcached]) -> None:
    """A fresh memcached with its defaults has no finding that asks for anything."""
    server = memcached()
    document = {"servers": [{"address": server.address}]}
    observer = Observer(build(convert(document, str), str), 0.0)
    try:
        before = observer.look(5)
        client = server.client()
        client.set("key", "value")
        client.get("key")
        client.close()
        now = observer.look(5)
    finally:
        observer.close()
    assert now.servers[0].snapshot
    assert now.servers[0].local
    view = View(
        thresholds=Thresholds(),
        now=now.servers[0].snapshot,
        before=before.servers[0].snapshot,
        host=now.host,
        host_before=before.host,
    )
    assert view.rates
    assert view.rates.hit_ratio == 1.0
    # The machine of a test is what it is, and has other things to do.
    of_the_machine = {"softnet_drops", "nic_drops", "listen_overflows", "zone_reclaim_on"}
    assert view.seconds
    assert view.seconds < 1
    asking = {f.name for f in findings(CHECKS, view) if f.severity is not Severity.INFO}
    assert asking <= of_the_machine
