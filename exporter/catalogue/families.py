"""Metric families: the rows grouped by name, in the order of the page."""

from collections.abc import Iterable

import msgspec

from exporter.catalogue.findings import FINDINGS
from exporter.catalogue.host.collectors import (
    HOST_OWN,
    HOST_SECTIONS,
    PROCESS_OWN,
    PROCESS_SECTIONS,
)
from exporter.catalogue.legacy import LEGACY
from exporter.catalogue.row import Kind, Row, Section
from exporter.catalogue.scrape import SCRAPE
from exporter.catalogue.sections import SECTIONS


class Family(msgspec.Struct, frozen=True):
    """All samples that share one metric name."""

    index: int
    """Position on the page."""
    name: str
    kind: Kind
    help: str
    """HELP text, which ends with the stat keys that the family comes from."""


def _group(sections: Iterable[Section]) -> tuple[Family, ...]:
    rows: dict[str, list[tuple[str, Row]]] = {}
    for section in sections:
        for row in (*section.rows, *LEGACY.get(section.name, ())):
            rows.setdefault(row.name, []).append((section.command, row))
    return tuple(
        Family(index, name, members[0][1].kind, members[0][1].help + _sources(members))
        for index, (name, members) in enumerate(rows.items())
    )


def _sources(members: list[tuple[str, Row]]) -> str:
    """Return the stat keys of a family as HELP shows them: ``(stats slabs: get_hits, ...)``."""
    keys: dict[str, list[str]] = {}
    for command, row in members:
        if command and row.key not in keys.setdefault(command, []):
            keys[command].append(row.key)
    shown = "; ".join(f"{command}: {', '.join(found)}" for command, found in keys.items())
    return f" ({shown})" if shown else ""


FAMILIES = _group((SCRAPE, *SECTIONS))
"""Every family, in the order of the page."""

HOST_FAMILIES = {
    family.name: family
    for family in _group((HOST_OWN, *HOST_SECTIONS, PROCESS_OWN, *PROCESS_SECTIONS))
}
"""The families about the host and the servers' processes, by name in the order of the page."""

LABEL_NAMES = frozenset({"server", "section", "slab"}).union(
    *(
        {row.label, *dict(row.labels), *row.dynamic} - {""}
        for section in (SCRAPE, *SECTIONS, PROCESS_OWN, *PROCESS_SECTIONS, FINDINGS)
        for row in section.rows
    )
)
"""Labels that the exporter sets, which configured labels may not take."""
