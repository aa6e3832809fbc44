"""docs/metrics.md and its JSON twin: generated from the catalogue, whole and fresh."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.catalogue import FAMILIES, SECTIONS
from exporter.catalogue.exporter import EXPORTER
from exporter.catalogue.findings import FINDINGS
from exporter.catalogue.host.collectors import (
    HOST_OWN,
    HOST_SECTIONS,
    PROCESS_OWN,
    PROCESS_SECTIONS,
)
from exporter.catalogue.legacy import LEGACY
from exporter.catalogue.row import Kind, Omission, Row, Section
from exporter.catalogue.scrape import SCRAPE
from exporter.documentation import checks_as_markdown, metrics_as_data, metrics_as_markdown
from exporter.health.findings.all_checks import CHECKS
from tests.processes import Exporter, Memcached

DOCUMENT = Path(__file__).parents[1] / "docs" / "metrics.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
ALL_SECTIONS = (
    SCRAPE,
    *SECTIONS,
    HOST_OWN,
    *HOST_SECTIONS,
    PROCESS_OWN,
    *PROCESS_SECTIONS,
    FINDINGS,
    EXPORTER,
)
ROWS = [(section, row) for section in ALL_SECTIONS for row in section.rows]
OMISSIONS = [(section, omission) for section in SECTIONS for omission in section.omissions]


def command(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program's subcommand as its users do."""
    return subprocess.run(
        [sys.executable, "-m", "exporter", "metrics", *arguments], capture_output=True, check=False
    )


def part(section: Section) -> str:
    """Return what the document says of a section."""
    found = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    titles = {
        "scrape": "What the exporter finds out about a server\n",
        "findings": "What is not as it should be\n",
        "exporter": "The exporter itself\n",
        "host_collectors": "The host: how its collectors do\n",
        "process_collectors": "The servers' processes: how their collectors do\n",
    }
    if section in (*HOST_SECTIONS, *PROCESS_SECTIONS):
        kind = "Host" if section in HOST_SECTIONS else "Process"
        titles[section.name] = f"{kind}: `{section.command}` (collector `{section.name}`"
    title = titles.get(section.name, f"`{section.command}` (section `{section.name}`)\n")
    (text,) = (text for text in found if text.startswith(title))
    return text


@pytest.mark.parametrize("arguments", [[], ["--format", "markdown"], ["--format=markdown"]])
def test_the_document_is_fresh(arguments: list[str]) -> None:
    """docs/metrics.md is what the program prints, byte for byte."""
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == DOCUMENT.read_bytes(), "run: memcached-exporter metrics > docs/metrics.md"
    assert metrics_as_markdown() == TEXT


def test_json_has_an_entry_per_row() -> None:
    """The JSON has one entry for each row of the catalogue, in the catalogue's order."""
    done = command("--format", "json")
    assert (done.returncode, done.stderr) == (0, b"")
    entries: list[dict[str, Any]] = json.loads(done.stdout)
    assert entries == metrics_as_data()
    assert [(entry["section"], entry["name"], entry["help"]) for entry in entries] == [
        (section.name, row.name, row.help) for section, row in ROWS
    ]


def test_json_says_all_of_a_row() -> None:
    """Type, labels, key, release and note of a row are in its entry."""
    for entry, (section, row) in zip(metrics_as_data(), ROWS, strict=True):
        assert entry["type"] == row.kind
        assert entry["command"] == section.command
        assert entry["key"] == (row.key if section.command else "")
        assert (entry["since"], entry["until"], entry["note"]) == (row.since, row.until, row.note)
        labels = {name: value for name, value in entry["labels"].items() if value}
        assert labels == dict(row.labels)
        free = {name for name, value in entry["labels"].items() if not value}
        assert {*row.dynamic, *([row.label] if row.label else [])} <= free
        assert ("slab" in free) is row.per_class


def test_units() -> None:
    """Each entry names the unit that its metric is in, empty for plain numbers."""
    for entry in metrics_as_data():
        parts = entry["name"].removesuffix("_total").split("_")
        units = {"seconds", "bytes", "ratio"} & set(parts)
        if parts[-1] in units:
            assert entry["unit"] == parts[-1], entry["name"]
        assert entry["unit"] in {"", "seconds", "bytes", "ratio"}


def test_the_table_has_all_columns() -> None:
    """Metric, type, unit, stat key, first release and meaning have a column each."""
    heads = re.findall(r"^\| metric .*$", TEXT, re.MULTILINE)
    assert len(heads) == len(ALL_SECTIONS) + 1
    assert all("| unit |" in head for head in heads[:-1])


@pytest.mark.parametrize("arguments", [["--format", "xml"], ["extra"], ["--form", "json"]])
def test_wrong_usage(arguments: list[str]) -> None:
    """A format that is none is an error in one line, with status 2."""
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"memcached-exporter: ")


@pytest.mark.parametrize(
    ("section", "row"), ROWS, ids=lambda item: getattr(item, "key", getattr(item, "name", ""))
)
def test_every_row_has_a_line(section: Section, row: Row) -> None:
    """A row stands once in its section's table, with its key, its release and its meaning."""
    lines = [
        line
        for line in part(section).splitlines()
        if re.match(rf"\| `{re.escape(row.name)}[{{`]", line)
        and (not section.command or f" `{row.key}` " in line)
        and all(f'{name}="{value}"' in line for name, value in row.labels)
    ]
    assert len(lines) == 1
    assert row.help in lines[0]
    assert row.note in lines[0]
    assert row.since in lines[0]
    assert row.until in lines[0]


@pytest.mark.parametrize(("section", "omission"), OMISSIONS, ids=lambda item: item.__class__)
def test_every_omission_has_its_reason(section: Section, omission: Omission) -> None:
    """What is not exported is named in its section, with the reason."""
    assert f"- `{omission.key}`: {omission.reason}\n" in part(section)


def test_every_family_is_documented() -> None:
    """No family that a page can have is missing, legacy names included."""
    for family in FAMILIES:
        assert re.search(rf"^\| `{family.name}[{{`]", TEXT, re.MULTILINE), family.name
    legacy = TEXT.partition("## Legacy names")[2]
    for rows in LEGACY.values():
        for row in rows:
            assert f"| `{row.name}" in legacy
    for name in ("memcached_commands_total", "memcached_slab_commands_total"):
        assert f'| `{name}{{command="set",status="hit"}}` |' in legacy


@pytest.mark.parametrize("flags", [[], ["--metrics.legacy-names"]], ids=["plain", "legacy"])
def test_every_family_of_a_page_is_documented(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], flags: list[str]
) -> None:
    """Whatever a page of the daemon has, also about the exporter itself, is in the document."""
    server = memcached()
    with contextlib.closing(server.client()) as client:
        client.set("a", b"b", noreply=False)
    page = exporter(f"--memcached.address={server.address}", *flags).request("/metrics").text
    names = re.findall(r"^# TYPE (\S+) ", page, re.MULTILINE)
    assert len(names) > 150
    for name in names:
        if name.startswith(("python_", "process_")):
            assert f"`{name.partition('_')[0]}_*`" in TEXT
        else:
            assert re.search(rf"`{name}[{{`]", TEXT), name


def test_tables_are_well_formed() -> None:
    """Each line of a table has as many cells as its head, so that it can be read on the web."""
    cells = 0
    for line in TEXT.splitlines():
        if not line.startswith("|"):
            cells = 0
            continue
        found = len(re.findall(r"(?<!\\)\|", line))
        cells = cells or found
        assert found == cells, line


def test_kinds_are_named_as_prometheus_does() -> None:
    """The type column has only types that Prometheus knows."""
    known = {*(str(kind) for kind in Kind if kind is not Kind.INFO), "gauge (info)"}
    for line in TEXT.splitlines():
        if line.startswith("| `memcached_"):
            assert line.split(" | ")[1] in known, line


def test_the_findings_are_documented() -> None:
    """docs/findings.md is what `check --list` prints, and has each check once."""
    document = DOCUMENT.with_name("findings.md").read_text(encoding="utf-8")
    assert document == checks_as_markdown()
    assert re.findall(r"^### (\w+)$", document, re.MULTILINE) == [check.name for check in CHECKS]
    assert "{" not in document.replace("'{print $1}'", "")
