"""The catalogue as a document: docs/metrics.md, and JSON for programs."""

from collections.abc import Iterator
from typing import Any

from exporter.catalogue import SECTIONS
from exporter.catalogue.exporter import EXPORTER
from exporter.catalogue.findings import FINDINGS
from exporter.catalogue.host.collectors import (
    HOST_OWN,
    HOST_SECTIONS,
    OFF_BY_DEFAULT,
    PROCESS_OWN,
    PROCESS_SECTIONS,
)
from exporter.catalogue.legacy import LEGACY
from exporter.catalogue.row import Kind, Row, Section
from exporter.catalogue.scrape import SCRAPE
from exporter.health.findings.all_checks import TOPICS

_INTRODUCTION = """# Metrics

Generated from the catalogue by `memcached-exporter metrics`; do not edit.

Samples of configured servers also carry the label `server` and the labels of the configuration.
Label names in braces with `=` have one fixed value per row. *Since* is the first release of
memcached that sends the key, *until* the last one. What a server does not send is absent.
"""
_LIBRARY = """Further, from the client library: `process_*` (CPU, memory, descriptors and start time
of the exporter's process), and `python_*`.
"""
_TITLES = {
    "scrape": "What the exporter finds out about a server",
    "findings": "What is not as it should be",
    "exporter": "The exporter itself",
    "host_collectors": "The host: how its collectors do",
    "process_collectors": "The servers' processes: how their collectors do",
}
_HOST = (HOST_OWN, *HOST_SECTIONS)
_PROCESSES = (PROCESS_OWN, *PROCESS_SECTIONS)
_ALL = (SCRAPE, *SECTIONS, *_HOST, *_PROCESSES, FINDINGS, EXPORTER)


def metrics_as_data() -> list[dict[str, Any]]:
    """Return all rows as plain data, one entry a row."""
    return [
        {
            "section": section.name,
            "command": section.command,
            "key": row.key if section.command else "",
            "name": row.name,
            "type": str(row.kind),
            "labels": _labels(section, row),
            "unit": _unit(row.name),
            "help": row.help,
            "since": row.since,
            "until": row.until,
            "note": row.note,
        }
        for section in _ALL
        for row in section.rows
    ]


def metrics_as_markdown() -> str:
    """Return docs/metrics.md."""
    parts = [_INTRODUCTION]
    for section in _ALL:
        parts.append(f"## {_title(section)}\n")
        parts.append("\n".join(_table(section)) + "\n")
        if section is EXPORTER:
            parts.append(_LIBRARY)
        if section.omissions:
            parts.append("Deliberately not exported:\n")
            parts.append(
                "\n".join(f"- `{o.key}`: {_cell(o.reason)}" for o in section.omissions) + "\n"
            )
    parts.append("## Legacy names, with `--metrics.legacy-names`\n")
    parts.append("\n".join(_legacy()) + "\n")
    return "\n".join(parts)


def _title(section: Section) -> str:
    if section in _HOST or section in _PROCESSES:
        kind = "Host" if section in _HOST else "Process"
        switch = ", off by default" if section.name in OFF_BY_DEFAULT else ""
        source = f"{kind}: `{section.command}` (collector `{section.name}`{switch})"
    else:
        source = f"`{section.command}` (section `{section.name}`)"
    return _TITLES.get(section.name, source)


def _table(section: Section) -> Iterator[str]:
    keyed = bool(section.command)
    yield "| metric | type | unit |" + (" key | since |" if keyed else "") + " meaning |"
    yield "|---|---|---|" + ("---|---|" if keyed else "") + "---|"
    for row in section.rows:
        name = f"`{row.name}{_braces(_labels(section, row))}`"
        cells = [name, _type(row), _unit(row.name)]
        if keyed:
            cells += [f"`{row.key}`", row.since + (f" until {row.until}" if row.until else "")]
        cells.append(_cell(f"{row.help} {row.note}".strip()))
        yield f"| {' | '.join(cells)} |"


def _legacy() -> Iterator[str]:
    yield "| metric | type | key | meaning |"
    yield "|---|---|---|---|"
    for section in SECTIONS:
        for row in LEGACY.get(section.name, ()):
            meaning = _cell(row.help or "Legacy: use status attempt.")
            name = f"`{row.name}{_braces(_labels(section, row))}`"
            source = f"`{row.key}` of `{section.command}`"
            yield f"| {name} | {_type(row)} | {source} | {meaning} |"
    for name in ("memcached_commands_total", "memcached_slab_commands_total"):
        label = '{command="set",status="hit"}'
        yield f"| `{name}{label}` | counter | `cmd_set` less cas | Legacy: use status attempt. |"


def _labels(section: Section, row: Row) -> dict[str, str]:
    """Return label names, with the value where a row fixes it."""
    names = dict.fromkeys(["slab"] if row.per_class else [], "") | dict(row.labels)
    if section.name == "scrape" and row.key == "section_success":
        names["section"] = ""
    return names | dict.fromkeys((*row.dynamic, *([row.label] if row.label else [])), "")


def _unit(name: str) -> str:
    """Return the base unit that ends a metric's name; plain numbers have none."""
    last = name.removesuffix("_total").rpartition("_")[2]
    return last if last in {"seconds", "bytes", "ratio"} else ""


def _braces(labels: dict[str, str]) -> str:
    inner = ",".join(f'{name}="{value}"' if value else name for name, value in labels.items())
    return f"{{{inner}}}" if inner else ""


def _type(row: Row) -> str:
    return "gauge (info)" if row.kind is Kind.INFO else str(row.kind)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


_CHECKS_INTRODUCTION = """# Findings

Generated from the tables in exporter/health/findings by `memcached-exporter check --list`; do not
edit.

What `memcached-exporter check`, the status page and, if switched on, `memcached_finding` tell.
Numbers come from the [thresholds](thresholds.md). What a server or its host does not tell is not
judged: about workers, host and network only servers on the exporter's own host are. What is well as
it is can be left out: `findings.ignore` in the configuration, or `check --ignore`.
"""


class _Placeholders(dict[str, str]):
    """Shows a number that a check finds out as its name in capital letters."""

    def __missing__(self, name: str) -> str:
        return name.upper()


def checks_as_markdown() -> str:
    """Return docs/findings.md."""
    lines = [_CHECKS_INTRODUCTION]
    for topic, checks in TOPICS.items():
        lines.append(f"## {topic}\n")
        for check in checks:
            told = {
                "Why it matters": check.why,
                "What changes it": check.remedy.format_map(_Placeholders()),
                "When to leave it": check.leave,
            }
            if check.runbook:
                place = f"../alerts/runbooks/{check.runbook}.md"
                told["Runbook"] = f"[{check.runbook}]({place})"
            lines.append(f"### {check.name}\n")
            lines += [f"- {head}: {text}" for head, text in told.items()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"
