"""All entries of promtool's ``tests:`` in this directory, cut down to what one alert needs.

Entries come from the tables of cases, and from modules that have a function ``documents``.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.alerts import harness, test_promtool
from tests.alerts.host_documents import ENTRIES
from tests.alerts.rule_graph import Rule, names

_SERIES_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_ALL_ALERTS = re.compile(r"ALERTS\{")


_FEW = 8
"""Entries that are tried first; when they say nothing against a rule, all others are."""


class Entry(NamedTuple):
    """An entry of ``tests:``, and how often it has rules evaluated."""

    interval: str
    data: dict[str, Any]
    alerts: frozenset[str] | None = None
    """The alerts that it knows of; None for those that it names."""


@cache
def everything() -> tuple[Entry, ...]:
    """Return the entries of all tests of alerts."""
    made = [
        Entry(
            table.interval,
            harness._test(case, way, table.groups),
            frozenset(alert.name for alert in harness.alerts(table.groups)),
        )
        for table in test_promtool.TABLES.values()
        if not table.selector
        for case in table.cases
        for way in case.ways
    ]
    return (*made, *(Entry("1m", entry) for entry in ENTRIES))


def about_alert(alert: str, series: Collection[str], *, absence: bool) -> list[Entry]:
    """Return what entries expect of one alert, which reads some series, those that fire first.

    An entry that has none of these series says nothing of it, unless it is about their absence.
    """
    made: dict[str, Entry] = {}
    for entry in everything():
        if entry.alerts is not None and alert not in entry.alerts:
            continue
        read = [one for one in entry.data["input_series"] if _name(one) in series]
        expected = [
            _of_alert(test, alert)
            for test in entry.data.get("promql_expr_test", ())
            if _ALL_ALERTS.match(test["expr"]) and _speaks_of(test["expr"], alert)
        ]
        texts = [
            test for test in entry.data.get("alert_rule_test", ()) if test["alertname"] == alert
        ]
        if (read or absence) and (expected or texts):
            content = {
                "interval": entry.data["interval"],
                "input_series": read,
                "promql_expr_test": expected,
                "alert_rule_test": texts,
            }
            # Many differ only in what this alert does not read.
            made.setdefault(json.dumps([entry.interval, content]), entry._replace(data=content))
    return sorted(made.values(), key=_is_silent)


def about_recording(record: str) -> list[Entry]:
    """Return what entries expect of a recorded series by its name."""
    made = []
    for entry in everything():
        expected = [
            test
            for test in entry.data.get("promql_expr_test", ())
            if not _ALL_ALERTS.match(test["expr"]) and record in names(test["expr"])
        ]
        if expected:
            data = entry.data | {"promql_expr_test": expected, "alert_rule_test": []}
            made.append(entry._replace(data=data))
    return made


def complaint(rules: Sequence[Rule], entries: Sequence[Entry], parent: Path) -> str:
    """Let promtool try rules, in their order; return what it says against them."""
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        return _complaint(rules, entries, Path(directory))


def _complaint(rules: Sequence[Rule], entries: Sequence[Entry], directory: Path) -> str:
    group = {"name": "all", "rules": [rule.data for rule in rules]}
    (directory / "rules.yml").write_text(json.dumps({"groups": [group]}))
    for some in (entries[:_FEW], entries[_FEW:]):
        for interval in dict.fromkeys(entry.interval for entry in some):
            tests = [entry.data for entry in some if entry.interval == interval]
            document = {
                "rule_files": ["rules.yml"],
                "evaluation_interval": interval,
                "tests": tests,
            }
            (directory / "tests.yml").write_text(json.dumps(document))
            done = subprocess.run(
                ["promtool", "test", "rules", directory / "tests.yml"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                return done.stdout + done.stderr
    return ""


def _speaks_of(expr: str, alert: str) -> bool:
    """Return whether an expression of the series ALERTS has those of an alert."""
    if 'alertname="' in expr:
        return f'alertname="{alert}"' in expr
    return f'alertname!="{alert}"' not in expr


def _name(series: dict[str, Any]) -> str:
    found = _SERIES_NAME.match(series["series"])
    assert found, series
    return found[0]


def _is_silent(entry: Entry) -> bool:
    """Return whether an entry expects nothing to fire."""
    tests = entry.data["promql_expr_test"]
    return not entry.data["alert_rule_test"] and not any(test.get("exp_samples") for test in tests)


def _of_alert(test: dict[str, Any], alert: str) -> dict[str, Any]:
    """Return a test of the series ALERTS with one alert only."""
    samples = [s for s in test["exp_samples"] if f'alertname="{alert}"' in s["labels"]]
    expr = f'ALERTS{{alertname="{alert}", alertstate="firing"}}'
    return test | {"expr": expr, "exp_samples": samples}
