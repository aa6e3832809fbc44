"""promtool's verdict on the alerts about workers and the host."""

from pathlib import Path
from typing import Any

import pytest

from tests.alerts.host_documents import ENTRIES
from tests.alerts.host_support import ALERTS, KINDS
from tests.alerts.promtool_entries import Entry, complaint
from tests.alerts.rule_graph import needed, rules

RULES = rules()
NAMES = sorted({name for name, _ in ALERTS})


def of(alert: str) -> list[dict[str, Any]]:
    """Return the entries of one alert."""
    return [entry for entry in ENTRIES if entry["name"].partition(" ")[0] == alert]


@pytest.mark.parametrize("alert", NAMES)
def test_alert(tmp_path: Path, alert: str) -> None:
    """The alert fires when it should, and only then."""
    own = [rule for rule in RULES if rule.data.get("alert") == alert]
    found = complaint(
        [*needed(own, RULES), *own], [Entry("1m", entry) for entry in of(alert)], tmp_path
    )
    assert not found, found


@pytest.mark.parametrize("alert", NAMES)
def test_alert_has_a_case_of_each_kind(alert: str) -> None:
    """Firing, silence, boundary, idleness, restart, gaps and one of many are all tried."""
    titles = [entry["name"].split(" ", 1)[1] for entry in of(alert)]
    assert [kind for kind in KINDS if not any(title.startswith(kind) for title in titles)] == []


@pytest.mark.parametrize(("alert", "severity"), ALERTS)
def test_alert_has_its_text_tested(alert: str, severity: str) -> None:
    """The annotations of each severity are compared in one case at least."""
    assert any(
        expected["exp_labels"]["severity"] == severity
        for entry in of(alert)
        for check in entry.get("alert_rule_test", ())
        for expected in check["exp_alerts"]
    )


def test_names_of_cases_are_unique() -> None:
    """What promtool reports names one case."""
    names = [entry["name"] for entry in ENTRIES]
    assert sorted(set(names)) == sorted(names)
