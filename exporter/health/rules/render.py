"""Tables of rules become rule files, with the thresholds and a selector put in."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from exporter.errors import ConfigurationError
from exporter.health.rules.shape import WHO, Alert, Group, Recording
from exporter.health.thresholds import Thresholds

_MATCHER = r'[a-zA-Z_][a-zA-Z0-9_]*\s*(?:=~|!~|!=|=)\s*"(?:[^"\\\n]|\\.)*"'
_MATCHERS = re.compile(rf"\s*{_MATCHER}(?:\s*,\s*{_MATCHER})*\s*\Z")
_PLACE = re.compile(r"\$\{([a-z_.0-9]+)(?:\|([a-z]+))?\}")


class Links(msgspec.Struct, frozen=True):
    """Where alerts point to."""

    runbooks: str = "alerts/runbooks"
    """What stands before the name of a runbook; by default its place in the repository."""
    dashboards: str = "/d"
    """What stands before the uid of a dashboard; by default its path below Grafana."""


_FORMATS: dict[str, Callable[[float], str]] = {
    "percent": lambda number: f"{number * 100:g} %",
    "milliseconds": lambda number: f"{number * 1e3:g} ms",
    "plain": lambda number: f"{number:,g}".replace(",", " "),
    "complement": lambda number: f"{1 - number:g}",
}


def check_selector(text: str, where: str) -> str:
    """Return a text that is matchers, or nothing. Raises ConfigurationError for others."""
    if text and not _MATCHERS.match(text):
        raise ConfigurationError(
            f'{where}: {text!r} is no selector: write matchers such as job="memcached", with'
            " commas between"
        )
    return text


def rule_file(
    groups: Sequence[Group], thresholds: Thresholds, selector: str = "", links: Links | None = None
) -> dict[str, Any]:
    """Return a rule file as plain data; ``selector`` is matchers for all selectors, or nothing."""
    links = links or Links()
    return {
        "groups": [
            {
                "name": group.name,
                "rules": [
                    _alert(rule, thresholds, selector, links)
                    if isinstance(rule, Alert)
                    else _recording(rule, thresholds, selector)
                    for rule in group.rules
                ],
            }
            for group in groups
        ]
    }


def operator_resource(file: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a rule file as the PrometheusRule of the Prometheus operator."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "memcached-exporter"}},
        "spec": file,
    }


def _recording(rule: Recording, thresholds: Thresholds, selector: str) -> dict[str, Any]:
    return {"record": rule.record, "expr": _expression(rule.expr, thresholds, selector)}


def _alert(rule: Alert, thresholds: Thresholds, selector: str, links: Links) -> dict[str, Any]:
    made = {
        "alert": rule.name,
        "expr": _expression(rule.expr, thresholds, selector),
        "for": _filled(rule.wait, thresholds),
        "keep_firing_for": rule.keep,
        "labels": {"severity": str(rule.severity)},
        "annotations": {
            "summary": rule.summary,
            "description": _filled(rule.description.replace("${who}", WHO), thresholds),
            "runbook_url": f"{links.runbooks}/{rule.name}.md",
            "dashboard_url": f"{links.dashboards}/{rule.board}",
        },
    }
    return {key: value for key, value in made.items() if value}


def _expression(expr: str, thresholds: Thresholds, selector: str) -> str:
    expr = expr.replace("$selector, ", f"{selector}, " if selector else "")
    expr = expr.replace("{$selector}", f"{{{selector}}}" if selector else "")
    return _filled(expr, thresholds).strip()


def _filled(text: str, thresholds: Thresholds) -> str:
    def value(place: re.Match[str]) -> str:
        found: Any = thresholds
        for name in place[1].split("."):
            found = getattr(found, name)
        if place[2]:
            return _FORMATS[place[2]](found)
        return found if isinstance(found, str) else f"{found:.15g}"

    return _PLACE.sub(value, text)
