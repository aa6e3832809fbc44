"""Names of the official exporter: kept where they are right, replaced where they are wrong."""

from pathlib import Path

import pytest

from exporter.catalogue import FAMILIES, SECTIONS
from exporter.catalogue.row import Kind
from exporter.catalogue.scrape import SCRAPE

# The metrics of prometheus/memcached_exporter 0.16: name, type and labels.
_LINES = (Path(__file__).parent / "official.tsv").read_text().splitlines()[1:]
OFFICIAL = {
    name: (kind, set(labels[0].split(",")) if labels else set())
    for name, kind, *labels in (line.split("\t") for line in _LINES)
}

RENAMED = {
    "memcached_lru_crawler_hot_percent": "memcached_lru_hot_ratio",
    "memcached_lru_crawler_sleep": "memcached_lru_crawler_sleep_seconds",
    "memcached_lru_crawler_warm_percent": "memcached_lru_warm_ratio",
    "memcached_proxy_backend_failed": "memcached_proxy_backend_failed_total",
    "memcached_proxy_backend_total": "memcached_proxy_backends",
    "memcached_slab_items_moves_to_cold": "memcached_slab_items_moves_to_cold_total",
    "memcached_slab_items_moves_to_warm": "memcached_slab_items_moves_to_warm_total",
    "memcached_slab_items_moves_within_lru": "memcached_slab_items_moves_within_lru_total",
    "memcached_version": "memcached_version_info",
}
"""Names that say a wrong kind or unit, and what stands for them."""

RETYPED = {
    "memcached_extstore_bytes_used",
    "memcached_slab_items_evicted_time_seconds",
    "memcached_slab_mem_requested_bytes",
    "memcached_uptime_seconds",
}
"""Values that can fall, which the official exporter sells as counters: gauges here."""

KINDS = {row.name: row.kind for section in (SCRAPE, *SECTIONS) for row in section.rows}
"""The kinds of what is exported without metrics.legacy_names."""
RIGHT = sorted(OFFICIAL.keys() - RENAMED.keys() - RETYPED)


def labels(name: str) -> set[str]:
    """Return the label names of a family's samples."""
    rows = [row for section in (SCRAPE, *SECTIONS) for row in section.rows if row.name == name]
    per_class = {"slab"} if any(row.per_class for row in rows) else set()
    return per_class | {label for row in rows for label in dict(row.labels)}


def test_the_table_is_whole() -> None:
    """All names of the official exporter are accounted for."""
    assert len(OFFICIAL) == 103
    assert len(RIGHT) == 90
    assert OFFICIAL.keys() >= RENAMED.keys() | RETYPED


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_name_is_kept(name: str) -> None:
    """Dashboards and rules for the official exporter find the name, type and labels they know."""
    assert (KINDS[name], labels(name)) == OFFICIAL[name]


@pytest.mark.parametrize("name", sorted(RETYPED))
def test_a_gauge_is_no_counter(name: str) -> None:
    """What can fall keeps its name and labels and is a gauge."""
    assert OFFICIAL[name][0] == "counter"
    assert (KINDS[name], labels(name)) == (Kind.GAUGE, OFFICIAL[name][1])


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_wrong_name_is_replaced(old: str, new: str) -> None:
    """A name that lies is absent, and another stands for it, which the legacy name points to."""
    assert old not in KINDS
    assert new in KINDS
    assert f"use {new}." in next(family.help for family in FAMILIES if family.name == old)


def test_legacy_names_are_exactly_the_wrong_ones() -> None:
    """With metrics.legacy_names every official name is there, and none is made up."""
    families = {family.name: family.kind for family in FAMILIES}
    assert families.keys() - KINDS.keys() == RENAMED.keys()
    assert families.keys() >= OFFICIAL.keys()


@pytest.mark.parametrize("name", ["memcached_commands_total", "memcached_slab_commands_total"])
def test_set_and_flush_have_no_outcome(name: str) -> None:
    """No hit is computed for commands of which memcached tells no outcome."""
    found = {
        (own["command"], own["status"])
        for section in SECTIONS
        for row in section.rows
        if row.name == name and (own := dict(row.labels))
    }
    assert {status for command, status in found if command in {"set", "flush"}} == {"attempt"}
    assert {status for command, status in found if command not in {"set", "flush"}} <= {
        "hit",
        "miss",
        "badval",
    }
