"""Tables of cases become test documents of promtool, and promtool runs them.

Series and alerts are written short: ``memcached_up{@a}`` is of server a. In one way of arrival that
is a label ``server`` beside the exporter's ``instance``, in the other the ``instance`` itself; each
case runs in both unless it says otherwise. ``@exporter`` is the exporter as a target, and
``MemcachedDown{critical, @a}`` an alert that fires.

A case lists all alerts that fire at a time, so that one too many is noticed as well.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from exporter.health.rules.render import Links, rule_file
from exporter.health.rules.shape import Alert, Group
from exporter.health.thresholds import Thresholds

SERVER = "label server"
TARGET = "target"
BOTH = (SERVER, TARGET)
JOB = "memcached"

_MARK = re.compile(r"@([a-z0-9]+)")
_SEVERITY = re.compile(r"(?<=[{ ])(critical|warning|info)(?=[,}])")
_ALWAYS = "MemcachedExporterAbsent"
"""It fires wherever a case has no ``memcached_up``: looked at only where a case is about it."""


class Case(NamedTuple):
    """Series, and what fires at which time because of them."""

    about: str
    series: dict[str, str]
    """Series to promtool's notation of its values, one a minute."""
    fires: Mapping[str, Sequence[str]]
    """Time since the beginning to the alerts that fire then."""
    says: tuple[str, str, str] | None = None
    """A time, the one alert of its name that fires then, and its description."""
    ways: Sequence[str] = BOTH
    interval: str = "1m"
    absent: bool = False
    """Whether it is about the absence of everything."""
    gives: Mapping[str, tuple[str, Mapping[str, float]]] = MappingProxyType({})
    """Name of a recorded series to a time, and to its values then by their labels."""


class Table(NamedTuple):
    """Cases for some groups of rules."""

    groups: tuple[Group, ...]
    """In the order in which they are evaluated."""
    cases: Sequence[Case]
    interval: str = "1m"
    """How often rules are evaluated."""
    selector: str = ""


def check(table: Table, directory: Path) -> None:
    """Let promtool run a table of cases."""
    rules, tests = directory / "rules.yml", directory / "test.yml"
    groups = [_needed(group, table.groups) for group in table.groups]
    rules.write_text(json.dumps(rule_file(groups, Thresholds(), table.selector)))
    document = {
        "rule_files": [str(rules)],
        "evaluation_interval": table.interval,
        "group_eval_order": [group.name for group in table.groups],
        "tests": [_test(case, way, table.groups) for case in table.cases for way in case.ways],
    }
    tests.write_text(json.dumps(document))
    run = subprocess.run(
        ["promtool", "test", "rules", tests], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def expanded(text: str, way: str) -> str:
    """Return a series or an alert with all its labels, as it is in one way of arrival."""
    return _SEVERITY.sub(r'severity="\1"', _MARK.sub(lambda mark: _labels(mark[1], way), text))


def alerts(groups: Iterable[Group]) -> list[Alert]:
    """Return the alerts among rules."""
    return [rule for group in groups for rule in group.rules if isinstance(rule, Alert)]


def _needed(group: Group, groups: Sequence[Group]) -> Group:
    """Return a group without the recordings that no rule uses: each costs time at each step."""
    rules = [rule for other in groups for rule in other.rules]
    if not alerts(groups):
        return group
    kept = tuple(
        rule
        for rule in group.rules
        if isinstance(rule, Alert) or any(f"{rule.record}{{" in user.expr for user in rules)
    )
    return Group(group.name, kept)


def _labels(name: str, way: str) -> str:
    if name == "exporter":
        return f'job="{JOB}", instance="exporter:9150"'
    if way == TARGET:
        return f'job="{JOB}", instance="{name}:11211"'
    return f'job="{JOB}", instance="exporter:9150", server="{name}:11211"'


def _test(case: Case, way: str, groups: Iterable[Group]) -> dict[str, Any]:
    looked_at = 'alertstate="firing"' + ("" if case.absent else f', alertname!="{_ALWAYS}"')
    made: dict[str, Any] = {
        "name": f"{case.about} ({way})",
        "interval": case.interval,
        "input_series": [
            {"series": expanded(series, way), "values": values}
            for series, values in case.series.items()
        ],
        "promql_expr_test": [
            {
                # promtool names the expression of a failure only: its comment names the case.
                "expr": f"ALERTS{{{looked_at}}} # {case.about} ({way})",
                "eval_time": time,
                "exp_samples": [{"labels": _firing(alert, way), "value": 1} for alert in firing],
            }
            for time, firing in case.fires.items()
        ]
        + [
            {
                "expr": f"{name} # {case.about} ({way})",
                "eval_time": time,
                "exp_samples": [
                    {"labels": name + expanded(labels, way), "value": value}
                    for labels, value in values.items()
                ],
            }
            for name, (time, values) in case.gives.items()
        ],
    }
    if case.says:
        made["alert_rule_test"] = [_text(*case.says, way, groups)]
    return made


def _firing(alert: str, way: str) -> str:
    name, labels = expanded(alert, way).split("{", 1)
    return f'ALERTS{{alertname="{name}", alertstate="firing", {labels}'


def _text(
    time: str, alert: str, description: str, way: str, groups: Iterable[Group]
) -> dict[str, Any]:
    name, text = expanded(alert, way).rstrip("}").split("{", 1)
    labels: dict[str, str] = dict(re.findall(r'(\w+)="([^"]*)"', text))
    (rule,) = (
        rule for rule in alerts(groups) if rule.name == name and rule.severity == labels["severity"]
    )
    who = labels.get("server", labels.get("instance", ""))
    return {
        "eval_time": time,
        "alertname": name,
        "exp_alerts": [
            {
                "exp_labels": labels,
                "exp_annotations": {
                    "summary": rule.summary,
                    "description": description.replace("WHO", who),
                    "runbook_url": f"{Links().runbooks}/{name}.md",
                    "dashboard_url": f"{Links().dashboards}/{rule.board}",
                },
            }
        ],
    }
