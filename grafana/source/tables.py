"""Tables: a query per column of numbers, merged into one row per server, device or class."""

from collections.abc import Sequence
from typing import Any

from exporter.health.thresholds import Thresholds
from grafana.source.numbers import steps_json, words_json
from grafana.source.shape import Column
from grafana.source.variables import DATASOURCE, written_out

NARROWEST = 60
"""Pixels of a table's column; Grafana's own 150 would leave the last ones to those who scroll."""


def _numbers(columns: Sequence[Column]) -> list[Column]:
    return [column for column in columns if column.expr]


def table_targets(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return the queries of a table, of the present moment alone."""
    return [
        {
            "refId": chr(ord("A") + position),
            "datasource": DATASOURCE,
            "editorMode": "code",
            "expr": written_out(column.expr),
            "legendFormat": "__auto",
            "instant": True,
            "range": False,
            "format": "table",
        }
        for position, column in enumerate(_numbers(columns))
    ]


def _field(columns: Sequence[Column], column: Column) -> str:
    """Return how Grafana calls what stands in a column before it is renamed."""
    numbers = _numbers(columns)
    if not column.expr:
        return column.label
    return f"Value #{chr(ord('A') + numbers.index(column))}" if len(numbers) > 1 else "Value"


def transformations(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return what makes one table of all queries: rows with the same labels become one."""
    names = [_field(columns, column) for column in columns]
    hidden = ["Time", *(_field(columns, column) for column in columns if not column.title)]
    return [
        {"id": "merge", "options": {}},
        {
            "id": "organize",
            "options": {
                "excludeByName": dict.fromkeys(hidden, True),
                "indexByName": {name: place for place, name in enumerate(names)},
                "renameByName": dict(zip(names, (column.title for column in columns), strict=True)),
            },
        },
    ]


def column_overrides(columns: Sequence[Column], thresholds: Thresholds) -> list[dict[str, Any]]:
    """Return what each column has of its own: unit, colours, words, link."""
    return [
        {
            "matcher": {"id": "byName", "options": column.title},
            "properties": _properties(column, thresholds),
        }
        for column in columns
        if column.title and (column.expr or column.link[0] or column.least)
    ]


_EMPTY = {
    "type": "special",
    "options": {"match": "null+nan", "result": {"color": "transparent", "index": 9, "text": ""}},
}
"""Without this a cell without a number has the colour of the lowest threshold: red, as a rule."""


def _properties(column: Column, thresholds: Thresholds) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    if column.expr:
        made.append({"id": "unit", "value": column.unit})
    if column.steps or column.words:
        made.append({"id": "custom.cellOptions", "value": {"type": "color-background"}})
    if column.steps:
        made.append({"id": "thresholds", "value": steps_json(column.steps, thresholds)})
    if column.steps or column.words:
        made.append({"id": "mappings", "value": [*words_json(column.words), _EMPTY]})
    if column.least:
        made.append({"id": "custom.minWidth", "value": column.least})
    if column.link[0]:
        title, url = column.link
        made.append({"id": "links", "value": [{"title": title, "url": url}]})
    return made
