"""docs/thresholds.md tells of each threshold its default and the alerts that use it."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import findings
from exporter.health.rules.all_rules import FILES
from exporter.health.rules.shape import Alert, Recording
from exporter.health.thresholds import Thresholds
from tests.health.findings.cases.all_cases import CASES
from tests.health.findings.cases.shape import view_of

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "thresholds.md"
FINDINGS = {"waste": "slab_waste", "yields": "connections_yield"}
"""Thresholds that no alert reads, and the finding that does."""
ROW = re.compile(r"^\| `([a-z_.0-9]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def fields(group: msgspec.Struct, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and default of each threshold."""
    for name in group.__struct_fields__:
        value = getattr(group, name)
        if isinstance(value, msgspec.Struct):
            yield from fields(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value if isinstance(value, str) else f"{value:.15g}"


def uses(rule: Alert | Recording) -> set[str]:
    """Return the thresholds that an expression compares with, or for which it waits."""
    wait = rule.wait if isinstance(rule, Alert) else ""
    return set(re.findall(r"\$\{([a-z_.0-9]+)", rule.expr + wait))


def test_each_threshold_has_a_row_with_its_default_and_its_alerts() -> None:
    """The table is whole, and in the order of the code."""
    rules = [rule for group in chain(*FILES.values()) for rule in group.rules]
    names = {
        path: {r.name for r in rules if isinstance(r, Alert) and path in uses(r)}
        | ({FINDINGS[path]} if path in FINDINGS else set())
        for path, _ in fields(Thresholds())
    }
    assert [
        (path, default, set(used.split(", ")))
        for path, default, used in ROW.findall(DOCUMENT.read_text())
    ] == [(path, default, names[path]) for path, default in fields(Thresholds())]


def test_each_threshold_is_used() -> None:
    """A threshold that no rule reads would promise what does not happen."""
    rules = [rule for group in chain(*FILES.values()) for rule in group.rules]
    used = set().union(*(uses(rule) for rule in rules))
    assert {path for path, _ in fields(Thresholds())} == used | FINDINGS.keys()


@pytest.mark.parametrize(("path", "name"), FINDINGS.items())
def test_a_threshold_of_a_finding_is_used(path: str, name: str) -> None:
    """Set to something else, it decides about the finding that the document names."""
    view = view_of(next(case for case in CASES if case.finding == name))
    assert name in {finding.name for finding in findings(CHECKS, view)}
    lax = msgspec.structs.replace(view.thresholds, **{path: 1.0})
    patient = msgspec.structs.replace(view, thresholds=lax)
    assert name not in {finding.name for finding in findings(CHECKS, patient)}
