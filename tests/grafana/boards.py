"""The dashboards as they are checked in, their parts, and their queries as Grafana sends them."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DASHBOARDS = ROOT / "grafana" / "dashboards"
RUNBOOKS = ROOT / "alerts" / "runbooks"

Board = dict[str, Any]
Panel = dict[str, Any]
Target = dict[str, Any]

ALL = {"job": ".+", "instance": ".+", "server": ".*"}
"""What the variables stand for when All is chosen."""
TIMES = {
    "__rate_interval": "5m",
    "__interval": "1m",
    "__interval_ms": "60000",
    "__range": "1h",
    "__range_s": "3600",
    "__range_ms": "3600000",
}
"""What Grafana puts in for times, for an hour on the screen."""

_PLACE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")


@cache
def boards() -> dict[str, Board]:
    """Return each dashboard by the name of its file, without the ending."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(DASHBOARDS.glob("*.json"))}


def panels(board: Board) -> Iterator[Panel]:
    """Yield the panels, those in folded rows too, but not the rows."""
    for panel in everything(board):
        if panel["type"] != "row":
            yield panel


def everything(board: Board) -> Iterator[Panel]:
    """Yield the panels and rows, and the panels in folded rows."""
    for panel in board.get("panels", ()):
        yield panel
        yield from panel.get("panels", ())


def targets(panel: Panel) -> list[Target]:
    """Return the queries of a panel."""
    return list(panel.get("targets", ()))


def variables(board: Board, kind: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the variables, or those of one type, by their names."""
    listed = board.get("templating", {}).get("list", ())
    return {entry["name"]: entry for entry in listed if kind in {None, entry["type"]}}


def variable_query(variable: Mapping[str, Any]) -> str:
    """Return what a variable asks Prometheus for: its values are of a label, as a rule."""
    query = variable.get("query", "")
    return str(query.get("query", "") if isinstance(query, dict) else query)


def label_values(query: str) -> tuple[str, str]:
    """Return selector and label of ``label_values(selector, label)``, or two empty texts."""
    found = re.fullmatch(r"label_values\((.+),\s*(\w+)\)", query, re.DOTALL)
    return (found[1], found[2]) if found else ("", "")


def annotations(board: Board) -> Iterator[dict[str, Any]]:
    """Yield the annotations that are queries."""
    for entry in board.get("annotations", {}).get("list", ()):
        if "expr" in entry:
            yield entry


def filled(text: str, values: Mapping[str, str] | None = None) -> str:
    """Return an expression with each variable put in; one that is not known is a KeyError."""
    known = {**TIMES, **ALL, **(values or {})}
    return _PLACE.sub(lambda place: known[place[1] or place[2]], text)


def chosen(*values: str) -> str:
    r"""Return values as Grafana writes them into a matcher: ``127\\.0\\.0\\.1`` within quotes."""
    written = [
        re.sub(r"[$^*{}\[\]'+?.()|]", r"\\\\\g<0>", value.replace("\\", r"\\\\"))
        for value in values
    ]
    return written[0] if len(written) == 1 else f"({'|'.join(written)})"


def strings(part: Any, key: str) -> Iterator[str]:
    """Yield each text that stands under a key, wherever in a board."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name == key and isinstance(value, str):
                yield value
            else:
                yield from strings(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from strings(value, key)


def name_of(panel: Panel) -> str:
    """Return how a panel is called in complaints."""
    return f"panel {panel.get('id')} {panel.get('title', '')!r}"
