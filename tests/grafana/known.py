"""What there is to ask for: the catalogue, the recorded series, alerts, and their thresholds."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec
import promql_parser as promql

from exporter.documentation import metrics_as_data
from exporter.health.thresholds import Thresholds
from tests.alerts.known_series import METRICS
from tests.alerts.label_flow import LabelFlow
from tests.alerts.rule_graph import names, rules

_COMPARISONS = {"==", "!=", ">", "<", ">=", "<="}
_PICKS = {"max", "min", "topk", "bottomk"}
_ANY_SERVER = "no label server (by /scrape)"
_OF_THE_SERVER = {"a label of the configuration", "libevent", "pointer_size", "version"}

ALERTS = [rule for rule in rules() if "alert" in rule.data]
RECORDED = {
    **{str(rule.data["record"]): rule.expr for rule in rules() if "record" in rule.data},
    # Prometheus itself makes this series: of each alert, with the labels of what it is about.
    "ALERTS": "label_replace(label_replace(label_replace(memcached_up,"
    ' "alertname", "$1", "job", "(.+)"), "alertstate", "$1", "job", "(.+)"),'
    ' "severity", "$1", "job", "(.+)")',
}
"""What each recorded series is computed from."""


def flow(text: str, *, on_metrics: bool = True) -> LabelFlow:
    """Return what is known of an expression's samples without any data."""
    return LabelFlow(text, RECORDED, on_metrics=on_metrics)


def problems(text: str) -> list[str]:
    """Return what cannot be right in an expression, on /metrics or by /scrape."""
    found = []
    for way in (True, False):
        made = flow(text, on_metrics=way)
        found += [] if made.series else ["no series"]
        found += [problem for problem in made.problems if not _is_fine(problem)]
    return found


def _is_fine(problem: str) -> bool:
    """Return whether it is so on purpose: `.*` lets pass what has no `server`, and so on."""
    several = re.match(r"several samples may match, by \[(.*?)\]: .*\bon \(([\w, ]+)\)", problem)
    if several and {"job", "instance", "server"} <= set(several[2].split(", ")):
        # A server is one per target, whatever else is said of it.
        return set(several[1].replace("'", "").split(", ")) <= _OF_THE_SERVER
    return problem.endswith(_ANY_SERVER)


def only_on_metrics(text: str) -> bool:
    """Return whether an expression needs what /scrape has not: host, exporter or probes."""
    return any(
        name.startswith("memcached_probe_") or not is_of_server(name) for name in exported(text)
    )


def is_of_server(name: str) -> bool:
    """Return whether a metric of the exporter is about one memcached server."""
    return any("server" in series.labels for series in METRICS[name].on_metrics)


def is_sent(name: str, version: str) -> bool:
    """Return whether a memcached of that version sends what a metric is made of."""
    told = tuple(map(int, re.findall(r"[0-9]+", version)))
    rows = [row for row in metrics_as_data() if row["name"] == name]
    return not rows or any(
        (not row["since"] or told >= tuple(map(int, row["since"].split("."))))
        and (not row["until"] or told <= tuple(map(int, row["until"].split("."))))
        for row in rows
    )


def exported(text: str) -> Iterator[str]:
    """Yield the metrics of the exporter that an expression comes from."""
    for name in names(text):
        if name in RECORDED:
            yield from exported(RECORDED[name])
        elif name in METRICS:
            yield name


def _fields(group: msgspec.Struct) -> Iterator[float]:
    for field in group.__struct_fields__:
        value = getattr(group, field)
        if isinstance(value, msgspec.Struct):
            yield from _fields(value)
        elif not isinstance(value, str):
            yield float(value)


NUMBERS = frozenset(_fields(Thresholds()))
"""All thresholds that are numbers."""


@cache
def limits() -> dict[str, frozenset[float]]:
    """Return the numbers above nought on which alerts about a series itself are raised."""
    found: dict[str, set[float]] = {}
    for rule in ALERTS:
        for name, number in _raised(promql.parse(rule.expr)):
            found.setdefault(name, set()).add(number)
    return {name: frozenset(values - {0}) for name, values in found.items() if values - {0}}


def _raised(expr: promql.Expr) -> Iterator[tuple[str, float]]:
    match expr:
        case promql.ParenExpr():
            yield from _raised(expr.expr)
        case promql.BinaryExpr() if str(expr.op) in {"and", "unless"}:
            yield from _raised(expr.lhs)
        case promql.BinaryExpr() if str(expr.op) == "or":
            yield from _raised(expr.lhs)
            yield from _raised(expr.rhs)
        case promql.BinaryExpr() if str(expr.op) in _COMPARISONS:
            yield from _raised(expr.lhs)
            name = _compared(expr.lhs)
            if name and isinstance(expr.rhs, promql.NumberLiteral):
                yield name, expr.rhs.val


def _compared(expr: promql.Expr) -> str:
    """Return the series that is compared, also when it was compared before."""
    while isinstance(expr, promql.ParenExpr | promql.BinaryExpr):
        expr = expr.expr if isinstance(expr, promql.ParenExpr) else expr.lhs
    return (expr.name or "") if isinstance(expr, promql.VectorSelector) else ""


def shown(text: str) -> str:
    """Return the one series that an expression shows as it is, or picks from; else nothing."""
    expr = promql.parse(text)
    while isinstance(expr, promql.ParenExpr | promql.AggregateExpr):
        if isinstance(expr, promql.AggregateExpr) and str(expr.op) not in _PICKS:
            return ""
        expr = expr.expr
    return (expr.name or "") if isinstance(expr, promql.VectorSelector) else ""
