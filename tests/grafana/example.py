"""A small board that breaks no rule, and changes that break one each."""

import copy
from typing import Any, NamedTuple

from tests.grafana.boards import Board

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_ON = 'job=~"$job", instance=~"$instance", server=~"$server"'
_HITS = f'memcached_commands_total{{{_ON}, command="get", status="hit"}}[$__rate_interval]'


def _variable(name: str, all_value: str) -> dict[str, Any]:
    return {
        "type": "query",
        "name": name,
        "label": name.capitalize(),
        "datasource": _SOURCE,
        "query": f"label_values(memcached_up, {name})",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": all_value,
    }


def _panel(number: int, title: str, expr: str, unit: str, **place: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": title,
        "description": "How to read it.",
        "datasource": _SOURCE,
        "gridPos": {"w": 12, "h": 8} | place,
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [
            {
                "refId": "A",
                "datasource": _SOURCE,
                "expr": expr,
                "legendFormat": "{{server}} {{instance}}",
            }
        ],
    }


def good_board() -> Board:
    """Return the board as it should be."""
    hits = f"sum by (job, instance, server) (rate({_HITS}))"
    used = f"server:memcached_connections_used:ratio{{{_ON}}}"
    connections = _panel(2, "Connections in use", used, "percentunit", x=0, y=1)
    steps = [{"value": None}, {"value": 0.8}, {"value": 0.95}]
    connections["fieldConfig"]["defaults"]["thresholds"] = {"steps": steps}
    connections["links"] = [{"title": "Runbook", "url": "/runbooks/MemcachedConnectionsHigh.md"}]
    row = {"id": 1, "type": "row", "title": "Traffic", "gridPos": {"x": 0, "y": 0, "w": 24, "h": 1}}
    return {
        "id": None,
        "uid": "memcached-server",
        "title": "Memcached / Server",
        "tags": ["memcached"],
        "editable": False,
        "graphTooltip": 1,
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "links": [{"type": "dashboards", "tags": ["memcached"], "url": ""}],
        "annotations": {
            "list": [{"name": "Alerts", "expr": 'ALERTS{job=~"$job", instance=~"$instance"}'}]
        },
        "templating": {
            "list": [
                {
                    "type": "datasource",
                    "name": "datasource",
                    "label": "Data source",
                    "query": "prometheus",
                },
                _variable("job", ".+"),
                _variable("instance", ".+"),
                _variable("server", ".*"),
            ]
        },
        "panels": [row, connections, _panel(3, "Hits", hits, "ops", x=12, y=1)],
    }


class Bad(NamedTuple):
    """One change, and the rule that refuses it."""

    rule: str
    place: str
    """Keys and positions from the top of the board, with dots between."""
    value: Any


def changed(bad: Bad) -> Board:
    """Return the example with one change."""
    board = copy.deepcopy(good_board())
    part: Any = board
    *above, last = (int(key) if key.isdigit() else key for key in bad.place.split("."))
    for key in above:
        part = part[key]
    part[last] = bad.value
    return board


_VARIABLES = "templating.list"
_HIT_QUERY = "panels.2.targets.0.expr"
_USED = "panels.1"
_STEPS = f"{_USED}.fieldConfig.defaults.thresholds.steps"
_UP = f"memcached_up{{{_ON}}}"

BAD = [
    Bad("template-datasource-rule", f"{_VARIABLES}.0.name", "source"),
    Bad("template-datasource-rule", f"{_VARIABLES}.0.label", "Source"),
    Bad("template-datasource-rule", f"{_VARIABLES}.0.query", "loki"),
    Bad("template-job-rule", f"{_VARIABLES}.1.multi", False),
    Bad("template-job-rule", f"{_VARIABLES}.1.allValue", ".*"),
    Bad("template-job-rule", f"{_VARIABLES}.1.name", "cluster"),
    Bad("template-job-rule", f"{_VARIABLES}.1.datasource", {"uid": "P123"}),
    Bad("template-instance-rule", f"{_VARIABLES}.2.label", "Host"),
    Bad("template-instance-rule", f"{_VARIABLES}.2.type", "custom"),
    Bad("template-label-promql-rule", f"{_VARIABLES}.3.query", "label_values(memcached_up{, job)"),
    Bad("template-label-promql-rule", f"{_VARIABLES}.3.query", "servers"),
    Bad("template-on-time-change-reload-rule", f"{_VARIABLES}.3.refresh", 1),
    Bad("panel-datasource-rule", f"{_USED}.datasource", {"uid": "P123"}),
    Bad("panel-datasource-rule", f"{_USED}.targets.0.datasource", {"uid": "$other"}),
    Bad("panel-title-description-rule", f"{_USED}.title", ""),
    Bad("panel-title-description-rule", f"{_USED}.description", " "),
    Bad("panel-units-rule", f"{_USED}.fieldConfig.defaults", {}),
    Bad("panel-units-rule", f"{_USED}.fieldConfig.defaults.unit", "suffix:hits"),
    Bad(
        "panel-units-rule",
        f"{_USED}.fieldConfig.overrides",
        [{"properties": [{"id": "unit", "value": "second"}]}],
    ),
    Bad("panel-no-targets-rule", f"{_USED}.targets", []),
    Bad("target-logql-rule", _HIT_QUERY, '{job="memcached"} |= "error"'),
    Bad("target-logql-auto-rule", _HIT_QUERY, "count_over_time(x[$__auto])"),
    Bad("target-promql-rule", _HIT_QUERY, f"sum by (server (rate({_HITS}))"),
    Bad("target-promql-rule", _HIT_QUERY, f"{_UP} == $unknown"),
    Bad("target-promql-rule", _HIT_QUERY, ""),
    Bad(
        "target-rate-interval-rule", _HIT_QUERY, f"rate({_HITS.replace('$__rate_interval', '5m')})"
    ),
    Bad("target-rate-interval-rule", _HIT_QUERY, f"irate({_HITS.replace('__rate_', '__')})"),
    Bad("target-job-rule", _HIT_QUERY, _UP.replace('job=~"$job"', 'job="$job"')),
    Bad("target-job-rule", _HIT_QUERY, f"{_UP} unless memcached_uptime_seconds"),
    Bad("target-instance-rule", _HIT_QUERY, _UP.replace("$instance", "$server")),
    Bad("target-counter-agg-rule", _HIT_QUERY, f"memcached_connections_total{{{_ON}}}"),
    Bad("uneditable-dashboard", "editable", True),
    Bad("settings", "graphTooltip", 0),
    Bad("settings", "schemaVersion", 16),
    Bad("settings", "id", 7),
    Bad("settings", "tags", []),
    Bad("settings", "refresh", ""),
    Bad("uid", "uid", "abc123"),
    Bad("unique ids", f"{_USED}.id", 3),
    Bad("unique ids", "panels.0.id", None),
    Bad("grid", "panels.2.gridPos.x", 11),
    Bad("grid", "panels.2.gridPos.x", 13),
    Bad("grid", "panels.2.gridPos.y", 10),
    Bad("grid", "panels.0.gridPos.w", 12),
    Bad(
        "grid",
        "panels.0.panels",
        [{"id": 9, "type": "x", "gridPos": {"x": 0, "y": 3} | {"w": 1, "h": 1}}],
    ),
    Bad("thresholds", f"{_STEPS}.1.value", 0.75),
    Bad("thresholds", _STEPS, [{"value": None}, {"value": 0.8}]),
    Bad("thresholds", f"{_USED}.fieldConfig.defaults", {"unit": "percentunit"}),
    Bad(
        "thresholds",
        "panels.2.fieldConfig.overrides",
        [{"properties": [{"id": "thresholds", "value": {"steps": [{"value": 77}]}}]}],
    ),
    Bad("thresholds", f"{_USED}.links.0.url", "/runbooks/MemcachedMemoryHigh.md"),
    Bad("legends", f"{_USED}.targets.0.legendFormat", "{{server}}"),
    Bad("legends", f"{_USED}.targets.0.legendFormat", "{{instance}}"),
    Bad("legends", f"{_USED}.targets.0.legendFormat", "{{server}} {{instance}} {{command}}"),
    Bad("legends", f"{_USED}.targets.0.legendFormat", "__auto"),
    Bad("links", f"{_USED}.links.0.url", "/runbooks/MemcachedIsSad.md"),
    Bad("links", f"{_USED}.links.0.url", "/d/memcached-overview?var-job=$job"),
    Bad("links", f"{_USED}.links.0.url", "https://wiki.example/memcached"),
    Bad("links", f"{_USED}.links", []),
    Bad("links", "links", []),
    Bad("titles", f"{_USED}.title", "Connection Usage"),
    Bad("titles", f"{_USED}.title", "Hit ratio"),
    Bad("titles", f"{_USED}.title", "hits"),
    Bad("titles", f"{_USED}.title", "Hits"),
    Bad("titles", f"{_USED}.title", "Connections."),
    Bad("ratios", f"{_USED}.fieldConfig.defaults.unit", "percent"),
    Bad(
        "ratios",
        _USED,
        {
            "id": 2,
            "type": "gauge",
            "fieldConfig": {"defaults": {"max": 1, "unit": "percentunit"}},
            "targets": [{"expr": "memcached_current_bytes / memcached_limit_bytes"}],
        },
    ),
    Bad(
        "divisors", _HIT_QUERY, f"memcached_current_bytes{{{_ON}}} / memcached_limit_bytes{{{_ON}}}"
    ),
    Bad("server matchers", _HIT_QUERY, 'memcached_up{job=~"$job", instance=~"$instance"}'),
    Bad("server matchers", _HIT_QUERY, f"memcached_host_context_switches_total{{{_ON}}}"),
    Bad("server matchers", _HIT_QUERY, _UP.replace("$server", ".*")),
    Bad("variables", f"{_VARIABLES}.3.allValue", ".+"),
    Bad("variables", f"{_VARIABLES}.3.includeAll", False),
    Bad("annotations", "annotations.list", []),
    Bad("annotations", "annotations.list.0.expr", "ALERTS{}"),
]
