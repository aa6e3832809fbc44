"""The example for Alertmanager: who is told, and what is held back, by a real one."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.alerts.stack import CONFIG, Alertmanager
from tests.processes import free_port
from tests.web.clients import eventually

Labels = dict[str, str]

SERVER = {"job": "memcached", "instance": "exporter:9150", "server": "cache1:11211"}
OTHER = {**SERVER, "server": "cache2:11211"}
TARGET = {"job": "memcached-targets", "instance": "cache1:11211"}
OTHER_TARGET = {**TARGET, "instance": "cache2:11211"}
EXPORTER = {"job": "memcached", "instance": "exporter:9150"}


def alert(name: str, severity: str, labels: Labels) -> Labels:
    """Return the labels of an alert."""
    return {"alertname": f"Memcached{name}", "severity": severity, **labels}


DOWN = alert("Down", "critical", SERVER)
TARGET_DOWN = alert("Down", "critical", TARGET)
MANY_DOWN = alert("ManyDown", "critical", {"job": "memcached"})
EXPORTER_DOWN = alert("ExporterDown", "critical", EXPORTER)
CONNECTIONS = alert("ConnectionsHigh", "critical", SERVER)


def amtool(*arguments: str) -> str:
    """Run amtool and return what it says."""
    done = subprocess.run(["amtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    """Start one whose receivers are out of reach."""
    manager = Alertmanager(tmp_path_factory.mktemp("alertmanager"), f"127.0.0.1:{free_port()}")
    yield manager
    manager.stop()


@pytest.fixture
def alertmanager(started: Alertmanager) -> Iterator[Alertmanager]:
    """Lend it to one test, after which no alert is left."""
    yield started
    started.resolve_all()


def test_the_example_is_good() -> None:
    """Amtool finds nothing wrong."""
    assert "SUCCESS" in amtool("check-config", str(CONFIG))


@pytest.mark.parametrize(
    ("severity", "receiver"),
    [("critical", "pager"), ("warning", "tickets"), ("info", "nobody"), ("other", "tickets")],
)
def test_routes(severity: str, receiver: str) -> None:
    """Critical pages, warning is a ticket, info goes nowhere, and nothing unknown is lost."""
    labels = ("alertname=MemcachedDown", f"severity={severity}", "job=memcached")
    given = f"--config.file={CONFIG}"
    assert amtool("config", "routes", "test", given, *labels) == receiver


@pytest.mark.parametrize(
    ("source", "held"),
    [
        (CONNECTIONS, alert("ConnectionsHigh", "warning", SERVER)),
        (alert("WorkerBusy", "critical", TARGET), alert("WorkerBusy", "warning", TARGET)),
        (MANY_DOWN, DOWN),
        (MANY_DOWN, alert("Down", "critical", OTHER)),
        (DOWN, alert("SectionFailing", "warning", SERVER)),
        (DOWN, alert("Restarted", "info", SERVER)),
        (DOWN, alert("LatencyMeanHigh", "critical", SERVER)),
        (TARGET_DOWN, alert("HitRateLow", "warning", TARGET)),
        (TARGET_DOWN, alert("OutOfMemory", "critical", TARGET)),
        (EXPORTER_DOWN, DOWN),
        (EXPORTER_DOWN, alert("ConfigReloadFailed", "warning", EXPORTER)),
        (EXPORTER_DOWN, alert("ExporterAbsent", "critical", {})),
        (
            alert("ExporterDown", "critical", {**EXPORTER, "prometheus": "a"}),
            alert("ExporterAbsent", "critical", {"prometheus": "a", "job": "memcached"}),
        ),
        (CONNECTIONS, alert("DescriptorsHigh", "critical", SERVER)),
    ],
    ids=lambda labels: f"{labels['alertname']}-{labels.get('server', 'no-server')}",
)
def test_held_back(alertmanager: Alertmanager, source: Labels, held: Labels) -> None:
    """An alert that follows from another one is held back, and the other one is not."""
    alertmanager.fire(source, held)
    wanted = {frozenset(held.items()), frozenset(source.items())}
    assert eventually(lambda: alertmanager.suppressed().keys() == wanted)
    assert alertmanager.suppressed() == {
        frozenset(held.items()): True,
        frozenset(source.items()): False,
    }


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (CONNECTIONS, alert("ConnectionsHigh", "warning", OTHER)),
        (CONNECTIONS, alert("WorkerBusy", "warning", SERVER)),
        (alert("WorkerBusy", "critical", TARGET), alert("WorkerBusy", "warning", OTHER_TARGET)),
        (MANY_DOWN, alert("Down", "critical", TARGET)),
        (MANY_DOWN, EXPORTER_DOWN),
        (DOWN, alert("Down", "critical", OTHER)),
        (DOWN, alert("SectionFailing", "warning", OTHER)),
        (DOWN, CONNECTIONS),
        (DOWN, alert("OomKilled", "critical", SERVER)),
        (DOWN, alert("DiscoveryFailing", "warning", EXPORTER)),
        (TARGET_DOWN, alert("HitRateLow", "warning", OTHER_TARGET)),
        (EXPORTER_DOWN, alert("ExporterDown", "critical", {**EXPORTER, "instance": "b:9150"})),
        (EXPORTER_DOWN, alert("HitRateLow", "warning", {**SERVER, "instance": "b:9150"})),
        (
            alert("ExporterDown", "critical", {**EXPORTER, "prometheus": "a"}),
            alert("ExporterAbsent", "critical", {"prometheus": "b"}),
        ),
        (DOWN, {"alertname": "NodeDown", "severity": "warning", **SERVER}),
        (EXPORTER_DOWN, {"alertname": "NodeDown", "severity": "critical", **EXPORTER}),
    ],
    ids=lambda labels: f"{labels['alertname']}-{labels.get('server', 'no-server')}",
)
def test_not_held_back(alertmanager: Alertmanager, source: Labels, told: Labels) -> None:
    """What another alert does not explain is told beside it: other servers, causes, other jobs."""
    alertmanager.fire(source, told)
    wanted = {frozenset(told.items()): False, frozenset(source.items()): False}
    assert eventually(lambda: alertmanager.suppressed() == wanted)
