"""What is looked for in an expression: comparisons, counters, and divisors that may be nought."""

from collections import Counter
from datetime import timedelta

import promql_parser as promql

from tests.alerts.known_series import METRICS
from tests.alerts.rule_graph import selectors, walk

_COMPARISONS = {"==", "!=", ">", "<", ">=", "<="}
_OF_COUNTERS = {"rate", "increase", "irate", "resets"}
_COUNTERS_TOO = _OF_COUNTERS | {"absent", "changes", "count_over_time", "present_over_time"}
_HELD = {"last_over_time", "max_over_time", "min_over_time"}
_LEAST_WINDOW = timedelta(minutes=4)
"""Four scrapes a minute apart."""


def compares(expr: promql.Expr) -> bool:
    """Return whether an expression leaves out some values."""
    match expr:
        case promql.ParenExpr():
            return compares(expr.expr)
        case promql.Call():
            return expr.func.name in {"absent", "absent_over_time"}
        case promql.BinaryExpr():
            return _compares(str(expr.op), expr)
    return False


def _compares(operator: str, expr: promql.BinaryExpr) -> bool:
    sides = [compares(expr.lhs), compares(expr.rhs)]
    match operator:
        case "and":
            return any(sides)
        case "or":
            return all(sides)
        case "unless":
            return sides[0]
    return operator in _COMPARISONS and not (expr.modifier and expr.modifier.return_bool)


def misused(expr: promql.Expr) -> list[str]:
    """Return counters without a rate, and rates without a counter."""
    found = []
    proper: Counter[str] = Counter()
    for part in walk(expr):
        if isinstance(part, promql.BinaryExpr) and str(part.op) == "-":
            # What is held now less what was held before is an increase.
            for side in (part.lhs, part.rhs):
                if isinstance(side, promql.Call) and side.func.name in _HELD:
                    proper.update(str(one) for one in selectors(side))
        if isinstance(part, promql.Call) and part.func.name in _COUNTERS_TOO:
            proper.update(str(one) for one in selectors(part))
            if part.func.name in _OF_COUNTERS:
                if not isinstance(part.args[0], promql.MatrixSelector):
                    found.append(f"{part.func.name} of what is no selector")
                elif part.args[0].range < _LEAST_WINDOW:
                    found.append(f"a window of less than four scrapes: {part.args[0].range}")
                found += [f"no counter: {one}" for one in selectors(part) if not is_counter(one)]
    bare = Counter(str(one) for one in selectors(expr) if is_counter(one)) - proper
    return [*found, *(f"a counter by itself: {one}" for one in bare)]


def is_counter(selector: promql.VectorSelector) -> bool:
    """Return whether samples are those of a counter."""
    metric = METRICS.get(selector.name or "")
    return metric is not None and metric.kind == "counter"


def unguarded(expr: promql.Expr) -> list[str]:
    """Return divisors that may be nought, and divisions within a sum, which one of them spoils."""
    return [
        str(part)
        for part in walk(expr)
        if isinstance(part, promql.BinaryExpr)
        and str(part.op) in {"/", "%"}
        and not is_positive(part.rhs)
    ]


def is_positive(expr: promql.Expr) -> bool:
    """Return whether an expression gives samples above nought only.

    A count gives none rather than nought.
    """
    match expr:
        case promql.ParenExpr():
            return is_positive(expr.expr)
        case promql.NumberLiteral():
            return bool(expr.val > 0)
        case promql.AggregateExpr():
            return str(expr.op) == "count"
        case promql.BinaryExpr():
            above = isinstance(expr.rhs, promql.NumberLiteral) and expr.rhs.val >= 0
            return above and str(expr.op) == ">" and compares(expr)
    return False


def divides(expr: promql.Expr) -> bool:
    """Return whether an expression is a ratio, or the largest of some."""
    match expr:
        case promql.ParenExpr() | promql.AggregateExpr():
            return divides(expr.expr)
        case promql.BinaryExpr():
            return str(expr.op) == "/"
    return False
