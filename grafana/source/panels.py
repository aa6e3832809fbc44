"""Panels as Grafana's JSON."""

from typing import Any

from exporter.health.thresholds import Thresholds
from grafana.source.numbers import steps_json, words_json
from grafana.source.shape import Kind, Panel, Query
from grafana.source.tables import NARROWEST, column_overrides, table_targets, transformations
from grafana.source.variables import DATASOURCE, written_out

_CALCULATED = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_ABOVE = 1.1
"""How far above a threshold an axis ends, so that its line is seen."""
_INSTANT = {Kind.STAT, Kind.BARS, Kind.TABLE}


def panel_json(
    panel: Panel, number: int, place: dict[str, Any], thresholds: Thresholds
) -> dict[str, Any]:
    """Return a panel as Grafana stores it."""
    made: dict[str, Any] = {
        "id": number,
        "type": str(panel.kind),
        "title": panel.title,
        "description": panel.text,
        "datasource": DATASOURCE,
        "gridPos": place,
        "links": [
            {"title": f"Runbook: {name}", "url": f"${{runbooks}}/{name}.md", "targetBlank": True}
            for name in panel.runbooks
        ],
        "fieldConfig": {"defaults": _defaults(panel, thresholds), "overrides": []},
        "options": _options(panel),
        "targets": [
            _target(query, position, panel.kind) for position, query in enumerate(panel.queries)
        ],
    }
    if panel.columns:
        made["targets"] = table_targets(panel.columns)
        made["transformations"] = transformations(panel.columns)
        made["fieldConfig"]["overrides"] = column_overrides(panel.columns, thresholds)
    return made


def _target(query: Query, position: int, kind: Kind) -> dict[str, Any]:
    target = {
        "refId": chr(ord("A") + position),
        "datasource": DATASOURCE,
        "editorMode": "code",
        "expr": written_out(query.expr),
        "legendFormat": query.legend or "__auto",
        "instant": kind in _INSTANT,
        "range": kind not in _INSTANT,
    }
    return target | ({"format": "heatmap"} if kind is Kind.HEATMAP else {})


def _defaults(panel: Panel, thresholds: Thresholds) -> dict[str, Any]:
    made: dict[str, Any] = {
        "unit": panel.unit,
        "mappings": words_json(panel.words),
        "thresholds": steps_json(panel.steps, thresholds),
        "color": {"mode": "thresholds"},
    }
    if panel.decimals is not None:
        made["decimals"] = panel.decimals
    if panel.highest is not None:
        made["max"] = panel.highest
    if panel.unit == "bool":
        # Else the axis has a True at each quarter of the way to 1.
        made |= {"max": 1, "decimals": 0}
    if panel.kind in {Kind.TIME_SERIES, Kind.BARS}:
        made["min"] = 0
    if panel.kind is Kind.TIME_SERIES:
        made["color"] = {"mode": "palette-classic"}
        made["custom"] = {
            "drawStyle": "line",
            "lineWidth": 1,
            "fillOpacity": 30 if panel.stack else 5,
            "showPoints": "never",
            "spanNulls": False,
            "stacking": {"group": "A", "mode": "normal" if panel.stack else "none"},
            "thresholdsStyle": {"mode": "dashed" if panel.steps else "off"},
        }
        if panel.steps and panel.steps[0].colour != "green" and panel.highest is None:
            # What is bad when low would be drawn on an axis that ends below its threshold.
            made["custom"]["axisSoftMax"] = _ABOVE * made["thresholds"]["steps"][-1]["value"]
    if panel.kind is Kind.TABLE:
        made["custom"] = {
            "align": "auto",
            "cellOptions": {"type": "auto"},
            "filterable": True,
            "minWidth": NARROWEST,
        }
    return made


def _options(panel: Panel) -> dict[str, Any]:
    match panel.kind:
        case Kind.TIME_SERIES:
            return {
                "legend": {
                    "calcs": ["lastNotNull", "max"],
                    "displayMode": "table",
                    "placement": "bottom",
                    "showLegend": True,
                    "sortBy": "Max",
                    "sortDesc": True,
                },
                "tooltip": {"mode": "multi", "sort": "desc"},
            }
        case Kind.STAT:
            return {
                "colorMode": "background" if panel.steps or panel.words else "none",
                "graphMode": "none",
                "justifyMode": "auto",
                "orientation": "auto",
                "reduceOptions": _CALCULATED,
                "textMode": "value",
            }
        case Kind.BARS:
            return {
                "displayMode": "basic",
                "minVizHeight": 16,
                "orientation": "horizontal",
                "reduceOptions": _CALCULATED,
                "showUnfilled": True,
                "valueMode": "color",
            }
        case Kind.TABLE:
            return {
                "cellHeight": "sm",
                "footer": {"show": False},
                "showHeader": True,
                "sortBy": [{"displayName": panel.sorted_by, "desc": panel.highest_first}]
                if panel.sorted_by
                else [],
            }
        case Kind.HEATMAP:
            return {
                "calculate": False,
                "cellValues": {"unit": "short"},
                "cellGap": 1,
                "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5},
                "legend": {"show": True},
                "rowsFrame": {"layout": "auto"},
                "tooltip": {"mode": "single", "yHistogram": False},
                "yAxis": {"unit": panel.unit, "axisPlacement": "left"},
            }
