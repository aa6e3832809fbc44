"""Which operations of an expression could be others without a difference that can be seen.

Breaking these would ask for tests that cannot be written.
"""

from collections import Counter
from collections.abc import Mapping

import promql_parser as promql

from tests.alerts.label_flow import LabelFlow
from tests.alerts.rule_graph import walk

_RATES = {"rate", "increase"}

Places = set[tuple[str, int]]
"""Operations: a word, and which of its kind it is in the text, from 1."""


def pointless(text: str, recorded: Mapping[str, str]) -> Places:
    """Return the words whose like would do as well.

    A sum of one sample is the largest of it. Where it is only asked whether something was counted
    at all, a rate is as good as an increase, and the largest as the sum. A quantile of buckets
    does not depend on their unit.
    """
    expr = promql.parse(text)
    found: list[promql.Expr] = []
    _asked(expr, found, only=False)
    alike = [part for root in found for part in walk(root)]
    alike += [
        part
        for call in walk(expr)
        if isinstance(call, promql.Call) and call.func.name == "histogram_quantile"
        for part in walk(call)
        if isinstance(part, promql.Call)
    ]
    texts = {str(part) for part in alike if _word(part) in {*_RATES, "sum"}}
    places: Places = set()
    seen: Counter[str] = Counter()
    for part in walk(expr):
        word = _word(part)
        seen[word] += 1
        if (word and str(part) in texts) or _is_sum_of_one(part, recorded):
            places.add((word, seen[word]))
    return places


def _asked(expr: promql.Expr, found: list[promql.Expr], *, only: bool) -> None:
    """Collect what is compared with nought, and whose value is not looked at otherwise."""
    match expr:
        case promql.ParenExpr():
            _asked(expr.expr, found, only=only)
        case promql.BinaryExpr():
            operator = str(expr.op)
            if operator in {"and", "or", "unless"}:
                _asked(expr.lhs, found, only=only)
                _asked(expr.rhs, found, only=only or operator != "or")
            elif only and str(expr.rhs) == "0" and operator in {">", "=="}:
                found.append(expr.lhs)
            else:
                _asked(expr.lhs, found, only=False)
                _asked(expr.rhs, found, only=False)
        case promql.AggregateExpr():
            _asked(expr.expr, found, only=False)


def _word(expr: promql.Expr) -> str:
    if isinstance(expr, promql.Call):
        return str(expr.func.name)
    return str(expr.op) if isinstance(expr, promql.AggregateExpr) else ""


def _is_sum_of_one(expr: promql.Expr, recorded: Mapping[str, str]) -> bool:
    """Return whether all labels that are summed away have one value."""
    if not isinstance(expr, promql.AggregateExpr) or str(expr.op) != "sum" or not expr.modifier:
        return False
    series = LabelFlow(expr.expr.prettify(), recorded, on_metrics=True).series
    away = set(expr.modifier.labels)
    named = expr.modifier.type == promql.AggModifierType.Without
    return named and len(series) == 1 and away & series[0].labels <= series[0].values.keys()
