"""The rules of this house for dashboards. Each takes a board and yields complaints."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import promql_parser as promql

from tests.alerts.known_series import METRICS
from tests.alerts.lint import unguarded
from tests.alerts.rule_graph import selectors, walk
from tests.grafana.boards import (
    ALL,
    RUNBOOKS,
    Board,
    Panel,
    annotations,
    everything,
    filled,
    name_of,
    panels,
    strings,
    targets,
    variables,
)
from tests.grafana.known import ALERTS, NUMBERS, RECORDED, flow, is_of_server, limits, shown
from tests.grafana.official import Rule, parsed, queried

UIDS = {"memcached-fleet", "memcached-server", "memcached-slabs", "memcached-host"}
LEAST_SCHEMA = 39
COLUMNS = 24
HOUR = 3600.0
NEVER = 1e-6
WITHOUT_LEGEND = {"table", "heatmap"}

NOT_SO = {
    r"\bhit ratio\b": "hit rate",
    r"\b(instances?|nodes?|hosts? memcached)\b": "server",
    r"\b(ops|qps|rps)\b": "commands",
    r"\b(conns?|clients connected)\b": "connections",
    r"\b(keys|entries)\b": "items",
    r"\b(mem|ram)\b": "memory",
    r"\b(network interfaces?|interfaces?|nic device)\b": "network card",
    r"\bslabs? class(es)? id\b": "slab class",
    r"\b(per sec(ond)?|/s|/sec)\b": "nothing: the unit says it",
    r"\b(utili[sz]ation|usage)\b": "what is used, of what",
    r"&": "and",
    r"[.:!?]\s*$": "no sign at the end",
    r"%": "nothing: the unit says it",
}
"""Words that a title does not have, in lower case, and those to write instead."""
_NAME = re.compile(r"[A-Z]{2,}s?|.*\d.*|[A-Z][a-z]+[A-Z].*|memcached.*")


def _settings(board: Board) -> Iterator[str]:
    wanted = {"graphTooltip": 1, "id": None}
    for key, value in wanted.items():
        if board.get(key) != value:
            yield f"{key} is {board.get(key)!r}"
    if board.get("schemaVersion", 0) < LEAST_SCHEMA:
        yield f"schemaVersion is {board.get('schemaVersion')}"
    if "memcached" not in board.get("tags", ()):
        yield "no tag memcached"
    for key in ("title", "refresh", "time"):
        if not board.get(key):
            yield f"no {key}"


def _uid(board: Board) -> Iterator[str]:
    if board.get("uid") not in UIDS:
        yield f"uid {board.get('uid')!r}"


def _ids(board: Board) -> Iterator[str]:
    counted = Counter(panel.get("id") for panel in everything(board))
    for number, count in counted.items():
        if count > 1 or not isinstance(number, int) or number < 1:
            yield f"{count} panels with id {number!r}"


def _grid(board: Board) -> Iterator[str]:
    yield from _level(board.get("panels", ()), 0)
    for row in everything(board):
        if row["type"] == "row":
            if row["gridPos"] | {"w": COLUMNS, "h": 1, "x": 0} != row["gridPos"]:
                yield f"row {row.get('title')!r} is not one whole line"
            yield from _level(row.get("panels", ()), row["gridPos"]["y"] + 1)


def _level(level: list[Panel], top: int) -> Iterator[str]:
    """Yield where panels overlap, stick out, or leave lines empty."""
    taken: dict[tuple[int, int], str] = {}
    for panel in level:
        place = panel["gridPos"]
        if place["x"] < 0 or place["x"] + place["w"] > COLUMNS or place["w"] < 1 or place["h"] < 1:
            yield f"{name_of(panel)} is not within the grid: {place}"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                other = taken.setdefault((x, y), name_of(panel))
                if other != name_of(panel):
                    yield f"{name_of(panel)} lies on {other}"
                    return
    lines = {y for _, y in taken}
    if lines and lines != set(range(top, max(lines) + 1)):
        yield f"empty lines below {top}"


def steps(panel: Panel) -> set[float]:
    """Return all numbers at which colours of a panel change."""
    config = panel.get("fieldConfig", {})
    found = [config.get("defaults", {}).get("thresholds", {})]
    found += [
        one["value"]
        for override in config.get("overrides", ())
        for one in override["properties"]
        if one["id"] == "thresholds"
    ]
    values = {step["value"] for one in found for step in one.get("steps", ())}
    # What should never happen has a step just above nought.
    return {0.0 if value < NEVER else float(value) for value in values if value is not None}


def _thresholds(board: Board) -> Iterator[str]:
    # An alert about an hour is a line at a 3600th of it where a panel shows seconds.
    known = NUMBERS | {number / HOUR for number in NUMBERS} | {0.0, 1.0}
    for panel in panels(board):
        made = steps(panel)
        if made - known:
            yield f"{name_of(panel)}: no thresholds: {sorted(made - known)}"
        if panel["type"] == "table":
            continue
        alerts = {one for url in strings(panel, "url") for one in re.findall(r"(\w+)\.md", url)}
        if made - {0.0, 1.0} - compared(alerts):
            yield f"{name_of(panel)}: {sorted(made)}, and alerts of its runbooks have other numbers"
        alerted = {limits().get(one, frozenset()) for one in _shown(panel)}
        if len(alerted) == 1 and (wanted := next(iter(alerted))) and made - {0.0} != wanted:
            yield f"{name_of(panel)}: thresholds {sorted(made)}, and alerts have {sorted(wanted)}"


def compared(names: set[str]) -> set[float]:
    """Return all numbers that stand in alerts, or a 3600th of them."""
    found = {
        part.val
        for rule in ALERTS
        if rule.data["alert"] in names
        for part in walk(promql.parse(rule.expr))
        if isinstance(part, promql.NumberLiteral)
    }
    return found | {number / HOUR for number in found}


def _shown(panel: Panel) -> Iterator[str]:
    for target in targets(panel):
        try:
            yield shown(filled(target.get("expr", "")))
        except (KeyError, ValueError):
            continue  # the rule about PromQL complains


def _legends(board: Board) -> Iterator[str]:
    for panel in panels(board):
        for target in targets(panel):
            legend = target.get("legendFormat", "")
            named = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", legend))
            try:
                labels = set().union(*(one.labels for one in flow(filled(target["expr"])).series))
            except (KeyError, ValueError):
                continue
            if named - labels:
                yield f"{name_of(panel)}: labels that are not there: {sorted(named - labels)}"
            if panel["type"] in WITHOUT_LEGEND:
                continue
            missing = ({"server", "instance"} & labels) - named
            nameless = legend.strip() in {"", "__auto"} and (labels or panel["type"] != "stat")
            if missing or nameless:
                yield f"{name_of(panel)}: the legend {legend!r} lacks {sorted(missing)}"


def _links(board: Board) -> Iterator[str]:
    for url in strings(board, "url"):
        board_uid = re.search(r"(?:^|[^:/])/d/([^/?]+)|^/?d/([^/?]+)", url)
        runbook = re.search(r"(\w+)\.md(?:#[\w-]+)?\Z", url)
        if board_uid:
            if (board_uid[1] or board_uid[2]) not in UIDS:
                yield f"no such board: {url}"
        elif re.search(r"/\$\{__data\.fields\.(alertname|Alert)\}\.md\Z", url):
            continue  # each alert has its runbook
        elif runbook:
            if not (RUNBOOKS / f"{runbook[1]}.md").is_file():
                yield f"no such runbook: {url}"
        elif url:
            yield f"where to: {url}"
    runbooks = {found for url in strings(board, "url") for found in re.findall(r"(\w+)\.md", url)}
    if not runbooks:
        yield "no link to a runbook"
    by_tag = any(
        link.get("type") == "dashboards" and "memcached" in link.get("tags", ())
        for link in board.get("links", ())
    )
    linked = {uid for url in strings(board, "url") for uid in re.findall(r"/d/([^/?]+)", url)}
    if not by_tag and UIDS - {board.get("uid")} - linked:
        yield "no link to some of the other boards"


def _titles(board: Board) -> Iterator[str]:
    # A number of now and its course over time are two panels of one title.
    counted = Counter((panel.get("title"), panel["type"]) for panel in everything(board))
    for title, kind in counted:
        if counted[title, kind] > 1:
            yield f"title {title!r} comes twice"
    for panel in everything(board):
        title = panel.get("title", "")
        for pattern, instead in NOT_SO.items():
            if re.search(pattern, title.lower()):
                yield f"title {title!r}: write {instead}"
        first, *others = title.split() or [""]
        if first[:1].islower() and not _NAME.fullmatch(first):
            yield f"title {title!r} begins small"
        for word in others:
            if word[:1].isupper() and not _NAME.fullmatch(word):
                yield f"title {title!r}: {word!r} is written large"


def _ratios(board: Board) -> Iterator[str]:
    for panel in panels(board):
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit")
        if unit == "percent":
            yield f"{name_of(panel)}: ratios are from 0 to 1, unit percentunit"
        most = panel.get("fieldConfig", {}).get("defaults", {}).get("max")
        texts = [target.get("expr", "") for target in targets(panel)]
        if most and unit == "percentunit" and any("limit_bytes" in text for text in texts):
            yield f"{name_of(panel)}: memory can be above its limit (E16), and is cut off"


def _divisors(board: Board) -> Iterator[str]:
    for panel, expr in parsed(board):
        for division in unguarded(expr):
            yield f"{name_of(panel)}: the divisor may be nought (E03): {division}"


def _server_matchers(board: Board) -> Iterator[str]:
    for panel, text in queried(board):
        try:
            expr = promql.parse(filled(text, {"server": "$server"}))
        except (KeyError, ValueError):
            continue
        for selector in selectors(expr):
            name = selector.name or ""
            about = [one.labels for one in flow(name).series] if name in RECORDED else []
            has = any("server" in one for one in about)
            has = has or (name in METRICS and is_of_server(name))
            given = [(str(m.op), m.value) for m in selector.matchers.matchers if m.name == "server"]
            if given != ([("MatchOp.Re", "$server")] if has else []):
                yield f"{name_of(panel)}: {selector}: server is {given}"


def _variables(board: Board) -> Iterator[str]:
    found = variables(board)
    for name, all_value in ALL.items():
        variable: dict[str, Any] = found.get(name, {})
        wanted = {"type": "query", "multi": True, "includeAll": True, "allValue": all_value}
        for key, value in wanted.items():
            if variable.get(key) != value:
                yield f"variable {name}: {key} is {variable.get(key)!r}"


def _annotations(board: Board) -> Iterator[str]:
    found = list(annotations(board))
    if not any(entry["expr"].startswith(("ALERTS{", "max", "sum")) for entry in found):
        yield "alerts are no annotations"
    for entry in found:
        for name in ("job", "instance"):
            # Alerts of a whole job have no instance: what is empty counts as well.
            if not re.search(rf'{name}=~"\${name}\|?"', entry["expr"]):
                yield f"annotation {entry.get('name')!r} without {name}"


HOUSE: dict[str, Rule] = {
    "settings": _settings,
    "uid": _uid,
    "unique ids": _ids,
    "grid": _grid,
    "thresholds": _thresholds,
    "legends": _legends,
    "links": _links,
    "titles": _titles,
    "ratios": _ratios,
    "divisors": _divisors,
    "server matchers": _server_matchers,
    "variables": _variables,
    "annotations": _annotations,
}
"""Each rule by what it is about."""
BOARDS_OF_ALERTS = {
    str(rule.data["annotations"]["dashboard_url"]).rpartition("/")[2] for rule in ALERTS
}
