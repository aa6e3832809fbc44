"""docs/migrating.md tells of each official family what becomes of it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from exporter.catalogue.families import FAMILIES, HOST_FAMILIES
from exporter.catalogue.legacy import LEGACY
from tests.sections.test_legacy_pages import OFFICIAL

DOCUMENT = Path(__file__).parents[2] / "docs" / "migrating.md"
BEGIN = "<!-- families: made by tests/migration/test_document.py -->\n"
END = "<!-- end of families -->\n"
TYPES = {family.name: family.kind for family in FAMILIES} | {
    name: family.kind for name, family in HOST_FAMILIES.items()
}
INSTEAD = {
    row.name: row.help.removeprefix("Legacy").removeprefix(": ").removeprefix(", ").rstrip(".")
    for rows in LEGACY.values()
    for row in rows
    if row.help
}
"""Official family to what to use instead of it."""
PROCESS = {
    f"memcached_process_{name}": kind
    for name, kind in {
        "cpu_seconds_total": "counter",
        "max_fds": "gauge",
        "open_fds": "gauge",
        "resident_memory_bytes": "gauge",
        "start_time_seconds": "gauge",
        "virtual_memory_bytes": "gauge",
    }.items()
}
"""What the official exporter adds with --memcached.pid-file."""


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| family | labels | what becomes of it |"
    yield "|---|---|---|"
    for name, (kind, labels) in sorted(OFFICIAL.items()):
        if name in INSTEAD:
            fate = f"legacy: {INSTEAD[name]}"
        elif TYPES[name] == kind:
            fate = "the same"
        else:
            fate = f"the same name, a {TYPES[name]}: it can fall, so it was no {kind}"
        yield f"| `{name}` | {', '.join(f'`{one}`' for one in sorted(labels))} | {fate} |"
    for name in PROCESS:
        yield f"| `{name}` | | the same; no pid file is needed for servers on this host |"


def test_the_table_is_that_of_the_catalogue() -> None:
    """REGENERATE_GOLDEN=1 writes it anew."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    whole = f"{before}{BEGIN}{chr(10).join(rows())}\n{END}{after}"
    if os.environ.get("REGENERATE_GOLDEN"):
        DOCUMENT.write_text(whole, encoding="utf-8")
    assert whole == text


def test_each_family_has_a_fate() -> None:
    """103 families and six of the process: each is there, as it was or in a better form."""
    assert len(OFFICIAL) == 103
    for name in OFFICIAL:
        assert name in TYPES, name
    for name, kind in PROCESS.items():
        assert TYPES[name] == kind
    fates = [line.rpartition(" | ")[2] for line in list(rows())[2:]]
    assert fates.count("the same |") > 80
    instead = {found for fate in fates for found in re.findall(r"use (memcached_\w+)", fate)}
    assert len(instead) >= 9
    assert instead <= TYPES.keys()
