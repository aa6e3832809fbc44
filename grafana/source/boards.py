"""All boards, and a board as Grafana's JSON."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from exporter.health.thresholds import Thresholds
from grafana.source.fleet import FLEET
from grafana.source.host import HOST
from grafana.source.layout import COLUMNS, places
from grafana.source.panels import panel_json
from grafana.source.server import SERVER
from grafana.source.shape import Board, Section
from grafana.source.slabs import SLABS
from grafana.source.variables import ALERTS, DATASOURCE, variables

BOARDS: tuple[Board, ...] = (FLEET, SERVER, SLABS, HOST)
SCHEMA_VERSION = 39
"""Of Grafana 10.4 and 11: older and newer ones take it."""
TAG = "memcached"


def board_json(board: Board, thresholds: Thresholds, runbooks: str) -> dict[str, Any]:
    """Return a board as Grafana stores it; ``runbooks`` stands before the name of a runbook."""
    return {
        "uid": board.uid,
        "title": board.title,
        "description": board.text,
        "tags": [TAG],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "timepicker": {},
        "fiscalYearStartMonth": 0,
        "weekStart": "",
        "links": [_link(other) for other in BOARDS if other.uid != board.uid],
        "annotations": {"list": [_alerts()]},
        "templating": {"list": variables(runbooks)},
        "panels": _panels(board.sections, thresholds),
    }


def _link(board: Board) -> dict[str, Any]:
    return {
        "type": "link",
        "title": board.title,
        "tooltip": board.text,
        "url": f"/d/{board.uid}",
        "icon": "dashboard",
        "includeVars": True,
        "keepTime": True,
        "targetBlank": False,
        "asDropdown": False,
        "tags": [],
    }


def _alerts() -> dict[str, Any]:
    return {
        "name": "Alerts",
        "datasource": DATASOURCE,
        "enable": True,
        "hide": False,
        "iconColor": "red",
        "expr": ALERTS,
        "step": "60s",
        "titleFormat": "{{alertname}}",
        "textFormat": "{{severity}} {{server}} {{instance}}",
        "tagKeys": "severity",
        "useValueForTime": False,
    }


def _panels(sections: Sequence[Section], thresholds: Thresholds) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    numbers = count(1)
    top = 0
    for section in sections:
        row = {
            "id": next(numbers),
            "type": "row",
            "title": section.title,
            "collapsed": section.folded,
            "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": top},
            "panels": [],
        }
        grid, bottom = places(section.panels, top + 1)
        panels = [
            panel_json(panel, next(numbers), place, thresholds)
            for panel, place in zip(section.panels, grid, strict=True)
        ]
        made.append(row)
        if section.folded:
            row["panels"] = panels
            top += 1
        else:
            made += panels
            top = bottom
    return made
