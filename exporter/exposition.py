"""Samples become a page: the text format 0.0.4 and OpenMetrics 1.0.

memcached's samples and the exporter's own are written alike. The two formats differ only in the
lines that describe a family; the samples are the same text.
"""

import functools
from collections.abc import Iterable, Iterator
from enum import Enum

from exporter.catalogue import FAMILIES, HOST_FAMILIES, Family
from exporter.catalogue.findings import FINDINGS
from exporter.catalogue.host.collectors import (
    HOST_OWN,
    HOST_SECTIONS,
    PROCESS_OWN,
    PROCESS_SECTIONS,
)
from exporter.catalogue.row import Kind, Row
from exporter.health.findings.shape import Finding
from exporter.host.host import Portion
from exporter.memcached.translation import Samples, escape
from exporter.telemetry import OwnFamily


class Format(Enum):
    """An exposition format; the value is its content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


_TEXT_KINDS = {Kind.INFO: "gauge", Kind.UNKNOWN: "untyped", Kind.GAUGE_HISTOGRAM: "histogram"}
"""What the text format calls kinds that only OpenMetrics has."""
OPENMETRICS_END = "# EOF\n"
_PIECE_LINES = 4096
"""That make a piece; one server's page is a piece."""


def page(servers: Iterable[tuple[Samples, str]], form: Format) -> str:
    """Return ``pieces`` as one text."""
    return "".join(pieces(servers, form))


def pieces(servers: Iterable[tuple[Samples, str]], form: Format) -> Iterator[str]:
    """Yield the families of some servers, each server's samples with its labels.

    In pieces, since the page of a large fleet is as large as all its samples. A server comes with
    the suffix that closes its samples' label lists (``translation.suffix``), empty when they are
    closed already. The end mark of OpenMetrics is left to the caller.
    """
    lines: list[str] = []
    collected = list(servers)
    for family in FAMILIES:
        head = _HEADS[form][family.index]
        for samples, suffix in collected:
            if own := samples[family.index]:
                if head:
                    lines.append(head)
                    head = ""
                # Each sample is prefix, suffix, value: what join does with the pair.
                lines += map(suffix.join, own.items())
                if len(lines) > _PIECE_LINES:
                    lines.append("")
                    yield "\n".join(lines)
                    lines.clear()
    if lines:
        lines.append("")
        yield "\n".join(lines)


def own_page(families: Iterable[OwnFamily], form: Format) -> str:
    """Return the families about the exporter itself, without the end mark of OpenMetrics."""
    lines = []
    for family in families:
        lines.append(_own_head(family.name, family.kind, family.help, form))
        lines += [f"{_own_prefix(name, labels)}{value}" for name, labels, value in family.samples]
    return "\n".join(lines) + "\n"


def findings_page(
    servers: Iterable[tuple[tuple[tuple[str, str], ...], Iterable[Finding]]], form: Format
) -> str:
    """Return what was found out about some servers, each with its labels."""
    (row,) = FINDINGS.rows
    lines = [
        _own_prefix(row.name, (("finding", one.name), ("severity", one.severity), *labels)) + "1"
        for labels, found in servers
        for one in found
    ]
    return "\n".join([_own_head(row.name, row.kind, row.help, form), *lines, ""]) if lines else ""


def host_page(portions: Iterable[Portion], form: Format) -> str:
    """Return the families about the host and the servers' processes, without the end mark.

    A series that a source names twice is there once, with the value that came last.
    """
    families: dict[str, dict[str, str]] = {name: {} for name in HOST_FAMILIES}
    for portion in portions:
        for row, values, number in _host_samples(portion):
            # Prometheus takes an empty label for none.
            told = (pair for pair in zip(row.dynamic, values, strict=True) if pair[1])
            own = (*row.labels, *told)
            families[row.name][_own_prefix(row.name, (*own, *portion.labels))] = repr(number)
    heads = _HOST_HEADS[form]
    lines = []
    for name, samples in families.items():
        if samples:
            lines.append(heads[name])
            lines += [prefix + number for prefix, number in samples.items()]
    return "\n".join(lines) + "\n" if lines else ""


def _host_samples(portion: Portion) -> Iterator[tuple[Row, tuple[str, ...], float]]:
    """Yield what a collector brought, and how that went."""
    gathered = portion.gathered
    of_process = gathered.section in PROCESS_SECTIONS
    own = _HOST_ROWS[PROCESS_OWN.name if of_process else HOST_OWN.name]
    yield own["duration"], (gathered.section.name,), round(gathered.seconds, 6)
    if gathered.success is not None:
        yield own["success"], (gathered.section.name,), int(gathered.success)
    rows = _HOST_ROWS[gathered.section.name]
    for key, values, number in gathered.samples:
        yield rows[key], values, number


@functools.cache
def _own_head(name: str, kind: Kind, help: str, form: Format) -> str:  # noqa: A002
    head = _text_head if form is Format.TEXT else _openmetrics_head
    return head(Family(0, name, kind, help))


@functools.lru_cache(maxsize=16384)
def _own_prefix(name: str, labels: tuple[tuple[str, str], ...]) -> str:
    inner = ",".join(f'{label}="{escape(value)}"' for label, value in labels)
    return f"{name}{{{inner}}} " if inner else f"{name} "


def _text_head(family: Family) -> str:
    kind = _TEXT_KINDS.get(family.kind, family.kind)
    described = family.help.replace("\\", "\\\\").replace("\n", "\\n")
    return f"# HELP {family.name} {described}\n# TYPE {family.name} {kind}"


def _openmetrics_head(family: Family) -> str:
    ending = {Kind.COUNTER: "_total", Kind.INFO: "_info"}.get(family.kind, "")
    name = family.name.removesuffix(ending)
    described = family.help.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f"# HELP {name} {described}\n# TYPE {name} {family.kind}"


_HEADS = {
    Format.TEXT: [_text_head(family) for family in FAMILIES],
    Format.OPENMETRICS: [_openmetrics_head(family) for family in FAMILIES],
}
_HOST_HEADS = {
    Format.TEXT: {name: _text_head(family) for name, family in HOST_FAMILIES.items()},
    Format.OPENMETRICS: {name: _openmetrics_head(family) for name, family in HOST_FAMILIES.items()},
}
_HOST_ROWS = {
    section.name: {row.key: row for row in section.rows}
    for section in (HOST_OWN, *HOST_SECTIONS, PROCESS_OWN, *PROCESS_SECTIONS)
}
