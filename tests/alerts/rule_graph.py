"""All rules as they are printed, and which recorded series a rule needs."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import promql_parser as promql

import exporter.health.rules
from exporter.health.rules.render import rule_file
from exporter.health.rules.shape import Group
from exporter.health.thresholds import Thresholds


class Rule(NamedTuple):
    """A rule and where it stands."""

    group: str
    data: dict[str, Any]
    """As in a rule file."""

    @property
    def name(self) -> str:
        """The recorded series, or the alert with its severity."""
        if "record" in self.data:
            return str(self.data["record"])
        return f"{self.data['alert']} {self.data['labels']['severity']}"

    @property
    def expr(self) -> str:
        """The expression."""
        return str(self.data["expr"])


def groups() -> list[Group]:
    """Return all groups that the tables of rules define, in a file of all_rules or not."""
    found: dict[str, Group] = {}
    package = exporter.health.rules
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Group):
                found[value.name] = value
    return list(found.values())


def rules(selector: str = "") -> list[Rule]:
    """Return all rules at the default thresholds, recordings in the order that they need."""
    rendered = rule_file(groups(), Thresholds(), selector)
    found = [Rule(group["name"], rule) for group in rendered["groups"] for rule in group["rules"]]
    return sorted(found, key=lambda rule: "alert" in rule.data)


def walk(expr: promql.Expr) -> Iterator[promql.Expr]:
    """Yield an expression and all that it is made of."""
    found: list[promql.Expr] = []
    promql.walk(expr, found.append)
    yield from found


def selectors(expr: promql.Expr) -> list[promql.VectorSelector]:
    """Return all selectors of an expression, those of ranges included."""
    return [part for part in walk(expr) if isinstance(part, promql.VectorSelector)]


def names(text: str) -> set[str]:
    """Return the names of all series that an expression reads."""
    return {selector.name or "" for selector in selectors(promql.parse(text))}


def needed(wanted: Iterable[Rule], among: Iterable[Rule]) -> list[Rule]:
    """Return the recording rules that some rules stand on, in the order of evaluation."""
    recordings = [rule for rule in among if "record" in rule.data]
    known: set[str] = set()
    open_names = set().union(*(names(rule.expr) for rule in wanted))
    while open_names:
        name = open_names.pop()
        if name not in known:
            known.add(name)
            for rule in recordings:
                if rule.data["record"] == name:
                    open_names |= names(rule.expr)
    return _ordered([rule for rule in recordings if rule.data["record"] in known])


def _ordered(recordings: list[Rule]) -> list[Rule]:
    """Return recordings so that each comes after those that it reads."""
    made: list[Rule] = []
    left = list(recordings)
    while left:
        waiting = {rule.data["record"] for rule in left}
        now = [rule for rule in left if not names(rule.expr) & waiting]
        assert now, f"recordings need each other: {waiting}"
        made += now
        left = [rule for rule in left if rule not in now]
    return made
