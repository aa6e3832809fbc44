"""The rows of the catalogue, by themselves and against what real servers send."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from exporter.catalogue import FAMILIES as ALL_FAMILIES
from exporter.catalogue import LABEL_NAMES, SECTIONS, Family
from exporter.catalogue.legacy import LEGACY
from exporter.catalogue.row import Kind, Omission, Row, Scale, Section
from exporter.catalogue.scrape import SCRAPE
from exporter.catalogue.sections import DEFAULT_SECTIONS
from tests.memcached.oracle import pairs, rows_by_key, split_key, wildcard
from tests.memcached.support import SNAPSHOTS, Snapshot

ALL_SECTIONS = (SCRAPE, *SECTIONS)
_LEGACY_NAMES = {row.name for rows in LEGACY.values() for row in rows if row.help}
FAMILIES = [family for family in ALL_FAMILIES if family.name not in _LEGACY_NAMES]
"""What is exported always; the other families are wrong, which is why they are legacy."""
ROWS = [(section, row) for section in ALL_SECTIONS for row in section.rows]
OMISSIONS = [(section, omission) for section in SECTIONS for omission in section.omissions]
TAKEN_LABELS = {"job", "instance", "server", "section", "slab", "le", "quantile", "__name__"}
"""Labels of Prometheus, and those that the exporter sets next to a row's own."""


def shown(item: object) -> str:
    """Return how a row, a section or a family is named in the list of tests."""
    match item:
        case Row():
            return f"{item.key}-{item.name}"
        case Section() | Family():
            return item.name
        case Omission():
            return item.key
    return str(item)


def release(text: str) -> tuple[int, ...]:
    """Return a version as a tuple that can be compared."""
    return tuple(map(int, text.split(".")))


def members(family: Family) -> Iterator[tuple[Section, Row]]:
    """Return the rows of a family, with their sections."""
    return ((section, row) for section, row in ROWS if row.name == family.name)


@pytest.mark.parametrize("family", FAMILIES, ids=shown)
def test_rows_of_a_family_agree(family: Family) -> None:
    """Equal names mean equal kind, help and label names."""
    rows = [row for _, row in members(family)]
    assert {row.kind for row in rows} == {family.kind}
    assert len({row.help for row in rows}) == 1
    if family.kind is not Kind.INFO:
        labels = {(row.per_class, tuple(dict(row.labels)), row.dynamic) for row in rows}
        assert len(labels) == 1


@pytest.mark.parametrize("family", FAMILIES, ids=shown)
def test_samples_of_a_family_differ(family: Family) -> None:
    """No two keys of one reply become the same sample, or the same label of one."""
    places = Counter((section.name, row.labels, row.label) for section, row in members(family))
    assert places.most_common(1)[0][1] == 1


@pytest.mark.parametrize("family", FAMILIES, ids=shown)
def test_the_name_says_the_kind(family: Family) -> None:
    """Counters end in _total, infos in _info, and nothing else does."""
    assert family.name.endswith("_total") is (family.kind is Kind.COUNTER)
    assert family.name.endswith("_info") is (family.kind is Kind.INFO)
    assert re.fullmatch(r"memcached_[a-z][a-z0-9_]*[a-z0-9]", family.name)
    assert not re.search(r"_(microseconds|us|ms|kb|kib|mb|percent|pct)(_|$)", family.name)
    assert not family.name.endswith(("_created", "_bucket", "_count", "_sum"))


def test_names_do_not_clash_in_openmetrics() -> None:
    """A family's name without its suffix is no other family's name."""
    bare = [family.name.removesuffix("_total").removesuffix("_info") for family in FAMILIES]
    assert len(set(bare)) == len(bare)


@pytest.mark.parametrize(("section", "row"), ROWS, ids=shown)
def test_help_is_one_sentence(section: Section, row: Row) -> None:
    """HELP begins and ends like a sentence, on one line without odd blanks."""
    for text in (row.help, row.note):
        assert text == "" or re.fullmatch(r"\S(.*\S)?\.", text), text
        assert "  " not in text
    assert row.help[0].isupper() or row.help[0].isdigit()


@pytest.mark.parametrize("family", FAMILIES, ids=shown)
def test_help_names_the_keys(family: Family) -> None:
    """HELP of a family ends with the stat keys that it comes from, by command."""
    for section, row in members(family):
        if section.command:
            assert re.search(rf"\({section.command}: |; {section.command}: ", family.help)
            assert re.search(rf"[ ,(]{re.escape(row.key)}[,;)]", family.help)


@pytest.mark.parametrize(("section", "row"), ROWS, ids=shown)
def test_labels_are_lawful(section: Section, row: Row) -> None:
    """A row's labels are none of those that others set, and configured labels cannot take them."""
    names = {*dict(row.labels), *row.dynamic} | ({row.label} if row.scale is Scale.TEXT else set())
    if row.kind is Kind.GAUGE_HISTOGRAM:
        names.remove("le")
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert not names & TAKEN_LABELS
    assert names <= LABEL_NAMES
    assert all(text for text in dict(row.labels).values())


def test_label_names_are_complete() -> None:
    """The labels that configured ones may not take include those that are set outside of rows."""
    assert {"server", "section", "slab"} <= LABEL_NAMES
    assert "" not in LABEL_NAMES


@pytest.mark.parametrize(("section", "row"), ROWS, ids=shown)
def test_a_row_is_consistent(section: Section, row: Row) -> None:
    """Kind, scale, unit and lifetime of a row fit together."""
    assert (row.scale is Scale.TEXT) is (row.kind is Kind.INFO) is bool(row.label)
    assert not (row.signed and row.kind is Kind.COUNTER)
    if row.scale in {Scale.MICROSECONDS, Scale.CPU_TIME}:
        assert "_seconds" in row.name
    if row.scale is Scale.PERCENT:
        assert row.name.endswith("_ratio")
    assert all(
        re.fullmatch(r"1\.[0-9]\.[0-9]{1,2}", text) for text in (row.since, row.until) if text
    )
    assert row.until == "" or release(row.since) <= release(row.until)


@pytest.mark.parametrize("section", SECTIONS, ids=shown)
def test_a_key_stands_once(section: Section) -> None:
    """A key is a row or an omission of its section, once, and not both."""
    rows = [(row.key, row.per_class) for row in section.rows]
    omitted = [(omission.key, omission.per_class) for omission in section.omissions]
    assert Counter(rows + omitted).most_common(1)[0][1] == 1


@pytest.mark.parametrize(("section", "omission"), OMISSIONS, ids=shown)
def test_an_omission_has_a_reason(section: Section, omission: Omission) -> None:
    """What is left out says why, in a sentence."""
    assert re.fullmatch(r"\S.{10,}\.", omission.reason)


def test_only_commands_that_read_are_sent() -> None:
    """No section changes the server, and what is costly or hurts is not asked for by default."""
    assert {section.command for section in SECTIONS} <= {
        "stats",
        "stats settings",
        "stats items",
        "stats slabs",
        "stats proxy",
        "stats proxyfuncs",
        "stats proxybe",
        "stats extstore",
        "stats conns",
        "stats sizes",
        "stats detail dump",
    }
    assert not {"extstore", "conns", "sizes", "detail"} & set(DEFAULT_SECTIONS)
    assert {"stats", "settings", "items", "slabs"} <= set(DEFAULT_SECTIONS)


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda snapshot: snapshot.name)
def test_every_recorded_key_is_known_and_of_its_time(snapshot: Snapshot) -> None:
    """No key of a real server is missing, and none comes outside of the releases of its row."""
    version = release(pairs(snapshot.replies["stats"])["version"])
    for section in SECTIONS:
        rows = rows_by_key(section)
        omitted = {(omission.key, omission.per_class) for omission in section.omissions}
        for key in pairs(snapshot.replies.get(section.name, b"")):
            slab, bare = split_key(section, key)
            place = (bare, bool(slab))
            row = rows.get(place) or wildcard(section, key)
            assert row or place in omitted, f"{section.command}: {key}"
            if row:
                assert row.since != "", key
                assert release(row.since) <= version, key
                assert row.until == "" or version <= release(row.until), key
