"""Which labels the samples of an expression have, found without data, and what cannot match."""

from collections.abc import Mapping
from functools import cached_property

import promql_parser as promql

from tests.alerts.known_series import METRICS, Series

_SETS = {"and", "or", "unless"}
_FILTERS = {"==", "!=", ">", "<", ">=", "<="}
_PICKS = {"topk", "bottomk"}
_WITHOUT_SERIES = {"time", "pi", "scalar"}


class LabelFlow:
    """The samples of an expression, as they are on /metrics or by /scrape."""

    def __init__(self, text: str, recorded: Mapping[str, str], *, on_metrics: bool) -> None:
        self.problems: list[str] = []
        self._text = text
        self._recorded = recorded
        self._on_metrics = on_metrics

    @cached_property
    def series(self) -> list[Series]:
        """The kinds of samples; none for a plain number."""
        return list(dict.fromkeys(self._of(promql.parse(self._text)) or []))

    def _of(self, expr: promql.Expr) -> list[Series] | None:
        series: list[Series] | None = None
        match expr:
            case promql.ParenExpr() | promql.UnaryExpr() | promql.SubqueryExpr():
                series = self._of(expr.expr)
            case promql.MatrixSelector():
                series = self._selected(expr.vector_selector)
            case promql.VectorSelector():
                series = self._selected(expr)
            case promql.Call():
                series = self._called(expr)
            case promql.AggregateExpr():
                series = self._aggregated(expr)
            case promql.BinaryExpr():
                series = self._combined(expr)
        return series

    def _selected(self, selector: promql.VectorSelector) -> list[Series]:
        name = selector.name or ""
        if name in self._recorded:
            flow = LabelFlow(self._recorded[name], self._recorded, on_metrics=self._on_metrics)
            series = flow.series
        elif name in METRICS:
            metric = METRICS[name]
            series = list(metric.on_metrics if self._on_metrics else metric.by_scrape)
        else:
            self._complain(f"{name}: no such series")
            return []
        for matcher in selector.matchers.matchers:
            if matcher.value and not any(matcher.name in one.labels for one in series):
                self._complain(f"{name}: no label {matcher.name}")
            series = [
                _narrowed(one, matcher.name, matcher.value)
                if str(matcher.op) == "MatchOp.Equal"
                else one
                for one in series
                if one.fits(matcher)
            ]
        if not series:
            self._complain(f"{selector}: nothing is like that")
        return series

    def _called(self, call: promql.Call) -> list[Series] | None:
        name = call.func.name
        vectors = [made for made in map(self._of, call.args) if made is not None]
        if name in {"vector", "absent", "absent_over_time"}:
            return [Series(frozenset())]
        if not vectors or name in _WITHOUT_SERIES:
            return None
        series = vectors[0]
        if name == "histogram_quantile":
            if not all("le" in one.labels for one in series):
                self._complain("histogram_quantile: `le` is gone")
            series = [_less(one, {"le"}) for one in series]
        if name == "label_replace":
            label, replacement, source = (argument.val for argument in call.args[1:4])
            if not source:
                return [_narrowed(one, label, replacement) for one in series]
            return [Series(one.labels | {label}, _less(one, {label}).fixed) for one in series]
        return series

    def _aggregated(self, expr: promql.AggregateExpr) -> list[Series]:
        series = self._of(expr.expr) or []
        if str(expr.op) in _PICKS:
            return series
        if expr.modifier is None:
            return [Series(frozenset())]
        labels = set(expr.modifier.labels)
        self._labels_exist(labels, series)
        if expr.modifier.type == promql.AggModifierType.Without:
            return [_less(one, labels) for one in series]
        return [_less(one, one.labels - labels) for one in series]

    def _combined(self, expr: promql.BinaryExpr) -> list[Series] | None:
        left, right = self._of(expr.lhs), self._of(expr.rhs)
        if left is None or right is None:
            return right if left is None else left
        operator, matching = str(expr.op), expr.modifier.matching if expr.modifier else None
        labels = set(matching.labels) if matching else set()
        on = matching is not None and matching.type == promql.LabelModifierType.Include
        self._labels_exist(labels, [*left, *right])
        if operator == "or":
            return [*left, *right]
        pairs = [(a, b) for a in left for b in right if _can_match(a, b, labels, on=on)]
        # What only /metrics has, such as the prober, excludes nothing by /scrape.
        harmless = operator == "unless" and not self._on_metrics
        if not pairs and left and right and not harmless:
            self._complain(f"the sides of `{operator}` can never match: {expr}")
        if operator in _SETS:
            return left
        return self._matched(expr, pairs, labels, on=on)

    def _matched(
        self,
        expr: promql.BinaryExpr,
        pairs: list[tuple[Series, Series]],
        labels: set[str],
        *,
        on: bool,
    ) -> list[Series]:
        """Return what a comparison or a sum makes of samples that match."""
        card = expr.modifier.card if expr.modifier else None
        more = (expr.modifier.group_labels if expr.modifier else None) or []
        many_to_one = card == promql.VectorMatchCardinality.ManyToOne
        if card == promql.VectorMatchCardinality.OneToMany:
            self._complain(f"group_right: write it the other way round: {expr}")
        sides = [{right for _, right in pairs}]
        if not many_to_one:
            sides.append({left for left, _ in pairs})
        for side in sides:
            self._one_matches(expr, side, labels, on=on)
        made = []
        for left, _ in pairs:
            if many_to_one:
                made.append(Series(left.labels | set(more), left.fixed))
            else:
                made.append(_less(left, left.labels - labels if on else labels))
        return made

    def _one_matches(
        self, expr: promql.BinaryExpr, side: set[Series], labels: set[str], *, on: bool
    ) -> None:
        """Complain if samples of a side differ in nothing but what is not looked at."""
        looked_at: set[Series] = set()
        for series in side:
            ignored = series.labels - labels if on else series.labels & labels
            unknown = ignored - series.values.keys()
            rest = _less(series, ignored)
            if unknown or rest in looked_at:
                self._complain(f"several samples may match, by {sorted(ignored)}: {expr}")
            looked_at.add(rest)

    def _labels_exist(self, labels: set[str], series: list[Series]) -> None:
        known = {"job", "instance", "server"}.union(*(one.labels for one in series))
        if labels - known:
            self._complain(f"labels that are nowhere: {sorted(labels - known)}")

    def _complain(self, text: str) -> None:
        way = "on /metrics" if self._on_metrics else "by /scrape"
        self.problems.append(f"{text} ({way})")


def _less(series: Series, labels: set[str] | frozenset[str]) -> Series:
    """Return samples without some labels."""
    fixed = tuple(pair for pair in series.fixed if pair[0] not in labels)
    return Series(series.labels - labels, fixed)


def _narrowed(series: Series, label: str, value: str) -> Series:
    """Return samples of which one label is known."""
    rest = _less(series, {label})
    if not value:
        return rest
    return Series(rest.labels | {label}, tuple(sorted((*rest.fixed, (label, value)))))


def _can_match(left: Series, right: Series, labels: set[str], *, on: bool) -> bool:
    if on:
        same = left.labels & labels == right.labels & labels
        shared = labels
    else:
        same = left.labels - labels == right.labels - labels
        shared = set(left.labels | right.labels) - labels
    return same and all(
        left.values[name] == right.values[name]
        for name in shared & left.values.keys() & right.values.keys()
    )
