"""promtool runs each alert: it fires when it should, and only then."""

import re
from pathlib import Path

import pytest

from exporter.health.rules.connections import CONNECTIONS
from exporter.health.rules.exporter import EXPORTER
from exporter.health.rules.latency import LATENCY
from exporter.health.rules.memory import MEMORY
from exporter.health.rules.recording import RECORDING
from exporter.health.rules.servers import SERVERS
from exporter.health.rules.storage import STORAGE
from exporter.health.rules.traffic import TRAFFIC
from tests.alerts import (
    cases_connections,
    cases_evictions,
    cases_exporter,
    cases_memory,
    cases_recorded_traffic,
    cases_recordings,
    cases_servers,
    cases_storage,
    cases_stories,
    cases_traffic,
    cases_trends,
)
from tests.alerts.harness import Table, alerts, check

GROUPS = (RECORDING, SERVERS, EXPORTER, CONNECTIONS, MEMORY, TRAFFIC, LATENCY, STORAGE)
TABLES = {
    "servers": Table((RECORDING, SERVERS), cases_servers.CASES),
    "exporter": Table((RECORDING, EXPORTER), cases_exporter.CASES),
    "connections": Table((RECORDING, CONNECTIONS), cases_connections.CASES),
    "memory": Table((RECORDING, MEMORY), cases_memory.CASES),
    "evictions": Table((RECORDING, MEMORY), cases_evictions.CASES),
    "traffic": Table((RECORDING, TRAFFIC, LATENCY), cases_traffic.CASES),
    "trends": Table((RECORDING, MEMORY, TRAFFIC, LATENCY), cases_trends.CASES, interval="4h"),
    "storage": Table((RECORDING, STORAGE), cases_storage.CASES),
    "recordings": Table((RECORDING,), (*cases_recordings.CASES, *cases_recorded_traffic.CASES)),
    "stories": Table(GROUPS, cases_stories.CASES),
    "selector": Table(GROUPS, cases_stories.SELECTED, selector='job="memcached"'),
}
CASES = [case for table in TABLES.values() for case in table.cases]
EACH = pytest.mark.parametrize(
    ("name", "severity"), [(alert.name, str(alert.severity)) for alert in alerts(GROUPS)]
)


@pytest.mark.parametrize("name", TABLES)
def test_alerts_fire_when_they_should(name: str, tmp_path: Path) -> None:
    """All cases of a table hold, in both ways in which metrics arrive."""
    check(TABLES[name], tmp_path)


@EACH
def test_each_alert_fires_somewhere_and_somewhere_not_yet(name: str, severity: str) -> None:
    """Some case sees it fire, and sees that it does not do so at another time."""
    begins = (f"{name}{{{severity}}}", f"{name}{{{severity},")
    seen = [
        [any(alert.startswith(begins) for alert in firing) for firing in case.fires.values()]
        for case in CASES
    ]
    assert any(any(case) and not all(case) for case in seen)


@EACH
def test_the_text_of_each_alert_is_checked(name: str, severity: str) -> None:
    """Some case expects its annotations, with the numbers put in."""
    begins = (f"{name}{{{severity}}}", f"{name}{{{severity},")
    assert any(case.says and case.says[1].startswith(begins) for case in CASES)


def test_stories_tell_all_that_rules_read() -> None:
    """A whole server lacks no metric of the rules: else a false alarm could not show in it."""
    told = {
        name.split("{")[0]
        for table in (cases_stories.BUSY, cases_stories.TELEMETRY, cases_stories.PROCESS)
        for name in table
    }
    read = {
        name
        for group in GROUPS
        for rule in group.rules
        for name in re.findall(r"(?<![:\w])(\w+)\{\$selector", rule.expr)
    }
    assert read - told == set()
