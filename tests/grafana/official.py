"""The 17 rules of Grafana's dashboard-linter, with its warnings as errors.

Each takes a board and yields complaints. The rules about jobs, instances and PromQL look at all
types of panels here, not only at those that the linter knows.
"""

import re
from collections.abc import Callable, Iterator

import promql_parser as promql

from tests.alerts.rule_graph import selectors, walk
from tests.grafana.boards import (
    Board,
    Panel,
    filled,
    label_values,
    name_of,
    panels,
    targets,
    variable_query,
    variables,
)

Rule = Callable[[Board], Iterator[str]]

UNITS = {
    *("none", "string", "short", "percent", "percentunit", "sci", "locale", "hertz"),
    *("bytes", "decbytes", "bits", "decbits", "kbytes", "mbytes", "gbytes"),
    *("pps", "binBps", "Bps", "binbps", "bps"),
    *("dateTimeAsIso", "dateTimeAsIsoNoDateIfToday", "dateTimeAsSystem", "dateTimeFromNow"),
    *("ns", "µs", "ms", "s", "m", "h", "d", "dtdurationms", "dtdurations", "dthms", "dtdhms"),
    *("cps", "ops", "reqps", "rps", "wps", "iops", "cpm", "opm"),
    *("bool", "bool_yes_no", "bool_on_off"),
}
"""Those of Grafana's units that a board about memcached may need."""
_SOURCE = re.compile(r"\$(\{\w+\}|\w+)\Z")
_LOKI = re.compile(r"\|=|\|~|\| *(json|logfmt)\b")
_WITHOUT_QUERY = {"row", "text", "alertlist", "dashlist"}


def queried(board: Board) -> Iterator[tuple[Panel, str]]:
    """Yield panel and expression of each query."""
    for panel in panels(board):
        for target in targets(panel):
            yield panel, target.get("expr", "")


def parsed(board: Board) -> Iterator[tuple[Panel, promql.Expr]]:
    """Yield panel and parsed expression of each query that can be parsed."""
    for panel, text in queried(board):
        try:
            yield panel, promql.parse(filled(text))
        except (KeyError, ValueError):
            continue  # the rule about PromQL complains


def _template_datasource(board: Board) -> Iterator[str]:
    found = variables(board, "datasource")
    if list(found) not in (["datasource"], ["prometheus_datasource"]):
        yield f"variables for data sources: {list(found)}"
    for variable in found.values():
        if variable.get("label") not in {"Data source", "Prometheus data source"}:
            yield f"label {variable.get('label')!r}"
        if variable.get("query") != "prometheus":
            yield "no Prometheus"


def _template(name: str) -> Rule:
    def rule(board: Board) -> Iterator[str]:
        variable = variables(board, "query").get(name)
        if variable is None:
            yield f"no variable {name}"
            return
        if variable.get("datasource", {}).get("uid") not in {"$datasource", "${datasource}"}:
            yield "another data source"
        wanted = {"label": name.capitalize(), "multi": True, "allValue": ".+"}
        for key, value in wanted.items():
            if variable.get(key) != value:
                yield f"{key} is {variable.get(key)!r}"

    return rule


def _template_promql(board: Board) -> Iterator[str]:
    for name, variable in variables(board, "query").items():
        selector, _ = label_values(variable_query(variable))
        try:
            promql.parse(filled(selector))
        except (KeyError, ValueError) as error:
            yield f"variable {name}: {variable_query(variable)!r}: {error}"


def _template_reload(board: Board) -> Iterator[str]:
    for name, variable in variables(board, "query").items():
        if variable.get("refresh") != 2:
            yield f"variable {name} is not asked for again when the time changes"


def _panel_datasource(board: Board) -> Iterator[str]:
    known = variables(board, "datasource")
    for panel in panels(board):
        if panel["type"] in _WITHOUT_QUERY:
            continue
        for part in (panel, *targets(panel)):
            uid = part.get("datasource", {}).get("uid", "")
            if not _SOURCE.match(uid) or uid.strip("${}") not in known:
                yield f"{name_of(panel)}: data source {uid!r}"


def _title_description(board: Board) -> Iterator[str]:
    for panel in panels(board):
        if not panel.get("title", "").strip():
            yield f"{name_of(panel)}: no title"
        if not panel.get("description", "").strip():
            yield f"{name_of(panel)}: no description"


def _units(board: Board) -> Iterator[str]:
    for panel in panels(board):
        if panel["type"] in _WITHOUT_QUERY:
            continue
        config = panel.get("fieldConfig", {})
        units = [config.get("defaults", {}).get("unit", "")]
        units += [
            one["value"]
            for override in config.get("overrides", ())
            for one in override["properties"]
            if one["id"] == "unit"
        ]
        for unit in units:
            if unit not in UNITS:
                yield f"{name_of(panel)}: unit {unit!r}"


def _no_targets(board: Board) -> Iterator[str]:
    for panel in panels(board):
        if panel["type"] not in _WITHOUT_QUERY and not targets(panel):
            yield f"{name_of(panel)}: no queries"


def _logql(board: Board) -> Iterator[str]:
    for panel, text in queried(board):
        if _LOKI.search(text):
            yield f"{name_of(panel)}: LogQL, and no board asks Loki"


def _logql_auto(board: Board) -> Iterator[str]:
    for panel, text in queried(board):
        if "$__auto" in text:
            yield f"{name_of(panel)}: $__auto, which is Loki's"


def _promql(board: Board) -> Iterator[str]:
    for panel, text in queried(board):
        try:
            promql.parse(filled(text))
        except (KeyError, ValueError) as error:
            yield f"{name_of(panel)}: {error}: {text}"


def _rate_interval(board: Board) -> Iterator[str]:
    for panel, text in queried(board):
        for window in re.findall(r"\bi?rate\([^\[]*\[([^\]]+)\]", text):
            if window != "$__rate_interval":
                yield f"{name_of(panel)}: [{window}]"


def _target(name: str) -> Rule:
    def rule(board: Board) -> Iterator[str]:
        values = {name: f"${name}"}
        for panel, text in queried(board):
            try:
                expr = promql.parse(filled(text, values))
            except (KeyError, ValueError):
                continue
            for selector in selectors(expr):
                matchers = [m for m in selector.matchers.matchers if m.name == name]
                if [(str(m.op), m.value) for m in matchers] != [("MatchOp.Re", f"${name}")]:
                    yield f'{name_of(panel)}: {selector} without {name}=~"${name}"'

    return rule


def _counter_agg(board: Board) -> Iterator[str]:
    for panel, expr in parsed(board):
        counted = {
            str(selector)
            for part in walk(expr)
            if isinstance(part, promql.Call) and part.func.name in {"rate", "irate", "increase"}
            for selector in selectors(part)
        }
        for selector in selectors(expr):
            if (selector.name or "").endswith("_total") and str(selector) not in counted:
                yield f"{name_of(panel)}: a counter by itself: {selector}"


def _uneditable(board: Board) -> Iterator[str]:
    if board.get("editable") is not False:
        yield "editable"


OFFICIAL: dict[str, Rule] = {
    "template-datasource-rule": _template_datasource,
    "template-job-rule": _template("job"),
    "template-instance-rule": _template("instance"),
    "template-label-promql-rule": _template_promql,
    "template-on-time-change-reload-rule": _template_reload,
    "panel-datasource-rule": _panel_datasource,
    "panel-title-description-rule": _title_description,
    "panel-units-rule": _units,
    "panel-no-targets-rule": _no_targets,
    "target-logql-rule": _logql,
    "target-logql-auto-rule": _logql_auto,
    "target-promql-rule": _promql,
    "target-rate-interval-rule": _rate_interval,
    "target-job-rule": _target("job"),
    "target-instance-rule": _target("instance"),
    "target-counter-agg-rule": _counter_agg,
    "uneditable-dashboard": _uneditable,
}
"""Each rule by the linter's name for it."""
