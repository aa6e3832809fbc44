"""Answers of Prometheus as what panels show: named series, and tables."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grafana.preview.prometheus import Series

_NAME = "__name__"
_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")

Row = dict[str, float | str]
"""What stands in the columns, by their names."""


def legend(series: Series, pattern: str) -> str:
    """Return what a series is called; a label that it does not have is left out."""
    if pattern in {"", "__auto"}:
        labels = ", ".join(
            f'{name}="{value}"' for name, value in sorted(series.labels.items()) if name != _NAME
        )
        return f"{series.labels.get(_NAME, '')}{{{labels}}}" if labels else "Value"
    return _LABEL.sub(lambda place: series.labels.get(place[1], ""), pattern).strip()


def table(answers: Mapping[str, Sequence[Series]]) -> list[Row]:
    """Return one row for each set of labels of instant queries, by the letters of these."""
    frames: list[list[Row]] = []
    for letter, answer in answers.items():
        name = f"Value #{letter}" if len(answers) > 1 else "Value"
        frames.append([{**one.labels, name: one.points[-1][1]} for one in answer])
    return _merged([frame for frame in frames if frame])


def _merged(frames: Sequence[list[Row]]) -> list[Row]:
    """Return rows in which all agree that what every frame has is the same."""
    names = [set().union(*frame) for frame in frames]
    shared = sorted(set.intersection(*names)) if names else []
    rows: list[Row] = []
    alike: dict[tuple[float | str | None, ...], list[Row]] = {}
    for frame in frames:
        for row in frame:
            others = alike.setdefault(tuple(row.get(name) for name in shared), [])
            fitting = [
                other
                for other in others
                if all(other[name] == row[name] for name in other.keys() & row.keys())
            ]
            for other in fitting:
                other.update(row)
            if not fitting:
                others.append(dict(row))
                rows.append(others[-1])
    return rows


def organized(rows: Sequence[Row], options: Mapping[str, Any]) -> tuple[list[str], list[Row]]:
    """Return titles in their order, and rows by titles: hidden columns left out, others renamed."""
    excluded = options["excludeByName"]
    order = options["indexByName"]
    new = options["renameByName"]
    names = {name for row in rows for name in row if not excluded.get(name)}
    listed = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    titles = {name: new.get(name) or name for name in listed}
    made: list[Row] = [{titles[name]: row[name] for name in listed if name in row} for row in rows]
    return list(titles.values()), made


def column_config(panel: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return the configuration of a column: the panel's, with what is set for this one."""
    config = panel["fieldConfig"]
    made: dict[str, Any] = {**config["defaults"], "custom": dict(config["defaults"]["custom"])}
    for override in config["overrides"]:
        if override["matcher"] == {"id": "byName", "options": title}:
            for one in override["properties"]:
                name = one["id"].removeprefix("custom.")
                (made["custom"] if name != one["id"] else made)[name] = one["value"]
    return made
