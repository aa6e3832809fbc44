"""How tests of the alerts about workers and the host are written down.

A series is ``metric@who{labels}``: ``a``, ``b`` are servers, ``exporter`` and ``other`` are hosts.
What is said about servers becomes two entries of promtool's ``tests:``, since their samples carry
the label ``server`` on /metrics and none by /scrape.
"""

import re
from collections.abc import Mapping
from typing import Any

from exporter.health.rules.host import NETWORK, RESOURCES
from exporter.health.rules.shape import Alert
from exporter.health.rules.workers import WORKERS

ALERTS = {
    (rule.name, str(rule.severity)): rule
    for group in (WORKERS, RESOURCES, NETWORK)
    for rule in group.rules
    if isinstance(rule, Alert)
}
KINDS = ("fires", "below", "boundary", "idle", "restart", "missing", "several")
"""What each alert is tested for: an entry's name is the alert, one of these, and more words."""

_SERIES = re.compile(r"([a-z0-9_:]+)@([a-z]+)(?:\{(.*)\})?\Z")
_FIRING = re.compile(r"([a-z]+) ([a-z]+)(?: (.*))?\Z")

Series = Mapping[str, str]
"""Series to their values in promtool's notation, a minute apart."""
Checks = Mapping[str, tuple[str, ...]]
"""Times to what fires then: ``a warning``, or ``a warning address="127.0.0.1:11211"``."""


def entries(  # noqa: PLR0913
    alert: str,
    title: str,
    series: Series,
    checks: Checks,
    describe: Mapping[str, str] | None = None,
    *,
    absent: str = "",
) -> list[dict[str, Any]]:
    """Return the entries for one case.

    ``describe`` has the description of what fires at last, ``absent`` is a recorded series that
    has no sample then, not even one that is no number.
    """
    about_servers = any(len(_parts(_SERIES, key)[1]) == 1 for key in series)
    made = []
    for labelled in (True, False) if about_servers else (True,):
        entry: dict[str, Any] = {
            "name": f"{alert} {title}{'' if labelled else ', without server'}",
            "interval": "1m",
            "input_series": [
                {"series": _series(key, labelled=labelled), "values": values}
                for key, values in series.items()
            ],
            "promql_expr_test": [
                _firing(alert, time, firing, labelled=labelled) for time, firing in checks.items()
            ],
        }
        last = list(checks)[-1]
        if absent:
            entry["promql_expr_test"].append({"expr": absent, "eval_time": last})
        if describe:
            texts = [_described(alert, *pair, labelled=labelled) for pair in describe.items()]
            test = {"eval_time": last, "alertname": alert, "exp_alerts": texts}
            entry["alert_rule_test"] = [test]
        made.append(entry)
    return made


def _firing(alert: str, time: str, firing: tuple[str, ...], *, labelled: bool) -> dict[str, Any]:
    """Return a test of the series ALERTS, which tells who fires without the annotations."""
    return {
        "expr": f'ALERTS{{alertname="{alert}", alertstate="firing"}}',
        "eval_time": time,
        "exp_samples": [
            {"labels": _alarm(alert, text, labelled=labelled), "value": 1} for text in firing
        ],
    }


def _labels(who: str, *, labelled: bool) -> dict[str, str]:
    labels = {"job": "memcached"}
    if len(who) > 1:
        return labels | {"instance": f"{who}:9150"}
    if labelled:
        return labels | {"instance": "exporter:9150", "server": f"{who}:11211"}
    return labels | {"instance": f"{who}:11211"}


def _text(labels: Mapping[str, str], more: str) -> str:
    return ", ".join([f'{name}="{value}"' for name, value in labels.items()] + [more] * bool(more))


def _series(key: str, *, labelled: bool) -> str:
    name, who, more = _parts(_SERIES, key)
    return f"{name}{{{_text(_labels(who, labelled=labelled), more)}}}"


def _alarm(alert: str, text: str, *, labelled: bool) -> str:
    who, severity, more = _parts(_FIRING, text)
    labels = {"alertname": alert, "alertstate": "firing", "severity": severity}
    return f"ALERTS{{{_text(labels | _labels(who, labelled=labelled), more)}}}"


def _described(alert: str, text: str, description: str, *, labelled: bool) -> dict[str, Any]:
    who, severity, more = _parts(_FIRING, text)
    rule = ALERTS[alert, severity]
    return {
        "exp_labels": {"severity": severity}
        | _labels(who, labelled=labelled)
        | dict(re.findall(r'(\w+)="([^"]*)"', more)),
        "exp_annotations": {
            "summary": rule.summary,
            "description": description,
            "runbook_url": f"alerts/runbooks/{alert}.md",
            "dashboard_url": f"/d/{rule.board}",
        },
    }


def _parts(pattern: re.Pattern[str], text: str) -> tuple[str, str, str]:
    found = pattern.match(text)
    assert found, text
    first, second, third = found.groups()
    return first, second, third or ""
