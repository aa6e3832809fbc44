"""Samples become a page: the text format 0.0.4 and OpenMetrics 1.0.

memcached's samples and the exporter's own are written alike. The two formats differ only in the
lines that describe a family; the samples are the same text.
"""

import functools
from collections.abc import Iterable
from enum import Enum

from exporter.catalogue import FAMILIES, Family
from exporter.catalogue.row import Kind
from exporter.memcached.translation import Samples, escape
from exporter.telemetry import OwnFamily


class Format(Enum):
    """An exposition format; the value is its content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


_TEXT_KINDS = {Kind.INFO: "gauge", Kind.UNKNOWN: "untyped", Kind.GAUGE_HISTOGRAM: "histogram"}
"""What the text format calls kinds that only OpenMetrics has."""
OPENMETRICS_END = "# EOF\n"


def page(servers: Iterable[tuple[Samples, str]], form: Format) -> str:
    """Return the families of some servers, each server's samples with its labels.

    A server comes with the suffix that closes its samples' label lists (``translation.suffix``),
    empty when they are closed already. The end mark of OpenMetrics is left to the caller.
    """
    heads = _HEADS[form]
    lines: list[str] = []
    collected = list(servers)
    for family in FAMILIES:
        at = len(lines)
        for samples, suffix in collected:
            # Each sample is prefix, suffix, value: what join does with the pair.
            lines += map(suffix.join, samples[family.index].items())
        if len(lines) > at:
            lines.insert(at, heads[family.index])
    return "\n".join(lines) + "\n" if lines else ""


def own_page(families: Iterable[OwnFamily], form: Format) -> str:
    """Return the families about the exporter itself, without the end mark of OpenMetrics."""
    lines = []
    for family in families:
        lines.append(_own_head(family.name, family.kind, family.help, form))
        lines += [f"{_own_prefix(name, labels)}{value}" for name, labels, value in family.samples]
    return "\n".join(lines) + "\n"


@functools.cache
def _own_head(name: str, kind: Kind, help: str, form: Format) -> str:  # noqa: A002
    head = _text_head if form is Format.TEXT else _openmetrics_head
    return head(Family(0, name, kind, help))


@functools.lru_cache(maxsize=4096)
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
