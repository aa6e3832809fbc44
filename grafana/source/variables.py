"""What an operator chooses at the top of a board, and the short forms of queries."""

from typing import Any

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_JOB = 'job=~"$job"'
_INSTANCE = 'instance=~"$instance"'
_SERVER = 'server=~"$server"'
_KNOWN = '__name__=~"memcached_up|memcached_exporter_build_info"'

SHORT_FORMS = {
    "$on": f"{_JOB}, {_INSTANCE}, {_SERVER}",
    "$host": f"{_JOB}, {_INSTANCE}",
    "$by": "job, instance, server",
    "$span": "$__rate_interval",
}
ALERTS = (
    'ALERTS{alertname=~"Memcached.*", alertstate="firing",'
    ' job=~"$job|", instance=~"$instance|", server=~"$server|"}'
)
"""Alerts of a whole job have no instance, those of a host no server."""


def written_out(expr: str) -> str:
    """Return an expression with its short forms written out."""
    for short, long in SHORT_FORMS.items():
        expr = expr.replace(short, long)
    return " ".join(expr.split())


def _query(name: str, label: str, query: str, everything: str) -> dict[str, Any]:
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": DATASOURCE,
        "query": query,
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": everything,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
        "regex": "",
        "sort": 1,
        "hide": 0,
        "skipUrlSync": False,
    }


def variables(runbooks: str) -> list[dict[str, Any]]:
    """Return the variables of every board; ``runbooks`` stands before the name of a runbook."""
    return [
        {
            "type": "datasource",
            "name": "datasource",
            "label": "Data source",
            "query": "prometheus",
            "current": {},
            "options": [],
            "refresh": 1,
            "regex": "",
            "multi": False,
            "includeAll": False,
            "hide": 0,
            "skipUrlSync": False,
        },
        _query("job", "Job", f"label_values({{{_KNOWN}}}, job)", ".+"),
        _query("instance", "Instance", f"label_values({{{_KNOWN}, {_JOB}}}, instance)", ".+"),
        # By /scrape there is no such label: what is empty counts as well.
        _query(
            "server", "Server", f"label_values(memcached_up{{{_JOB}, {_INSTANCE}}}, server)", ".*"
        ),
        {
            "type": "constant",
            "name": "runbooks",
            "label": "Runbooks",
            "query": runbooks,
            "current": {"selected": False, "text": runbooks, "value": runbooks},
            "options": [{"selected": True, "text": runbooks, "value": runbooks}],
            "hide": 2,
            "skipUrlSync": True,
        },
    ]
