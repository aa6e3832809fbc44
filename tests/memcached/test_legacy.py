"""The official exporter's wrong names, for who still needs them."""

import pytest

from exporter.exposition import Format
from exporter.memcached.translation import Translator
from tests.memcached.oracle import pairs
from tests.memcached.support import (
    LABELS,
    SNAPSHOTS,
    Samples,
    Snapshot,
    parsed,
    promtool,
    reading,
    render,
    stats_reply,
)
from tests.processes import sample

TRANSLATORS = {
    (open_ended, legacy): Translator(open_ended=open_ended, legacy_names=legacy)
    for open_ended in (False, True)
    for legacy in (False, True)
}
RENAMED = {
    "proxy_backend_failed": "memcached_proxy_backend_failed",
    "proxy_backend_total": "memcached_proxy_backend_total",
    "lru_crawler_sleep": "memcached_lru_crawler_sleep",
    "hot_lru_pct": "memcached_lru_crawler_hot_percent",
    "warm_lru_pct": "memcached_lru_crawler_warm_percent",
}
MOVES = ("moves_to_cold", "moves_to_warm", "moves_within_lru")


def samples(replies: dict[str, bytes], *, labelled: bool, legacy: bool) -> Samples:
    """Return all samples of raw replies, as the text format has them."""
    result = TRANSLATORS[labelled, legacy].success(reading(replies), 0.0025)
    return parsed(render(result, Format.TEXT, LABELS if labelled else ()), Format.TEXT)


def legacy_samples(replies: dict[str, bytes], **labels: str) -> Samples:
    """Return what the official exporter makes of these replies and names wrongly."""
    stats, settings, slabs, items = (
        pairs(replies.get(section, b"")) for section in ("stats", "settings", "slabs", "items")
    )
    found = {sample("memcached_version", version=stats["version"], **labels): 1.0}
    for key, name in RENAMED.items():
        if text := (stats | settings).get(key):
            found[sample(name, **labels)] = float(text)
    hit = {"command": "set", "status": "hit"} | labels
    if "cmd_set" in stats:
        cas = sum(int(stats.get(f"cas_{how}", "0")) for how in ("hits", "misses", "badval"))
        found[sample("memcached_commands_total", **hit)] = max(0, int(stats["cmd_set"]) - cas)
    if "cmd_flush" in stats:
        flush = {"command": "flush", "status": "hit"} | labels
        found[sample("memcached_commands_total", **flush)] = float(stats["cmd_flush"])
    for key, text in slabs.items():
        slab, _, bare = key.partition(":")
        if bare == "cmd_set":
            cas = sum(int(slabs.get(f"{slab}:cas_{how}", "0")) for how in ("hits", "badval"))
            found[sample("memcached_slab_commands_total", slab=slab, **hit)] = int(text) - cas
    for key, text in items.items():
        _, slab, bare = key.split(":")
        if bare in MOVES:
            found[sample(f"memcached_slab_items_{bare}", slab=slab, **labels)] = float(text)
    return found


@pytest.mark.parametrize("labelled", [False, True], ids=["bare", "labelled"])
@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda snapshot: snapshot.name)
def test_legacy_names_come_on_top(snapshot: Snapshot, labelled: bool) -> None:
    """The page has all that it has without the flag, and the official exporter's own samples."""
    labels = dict(LABELS) if labelled else {}
    right = samples(snapshot.replies, labelled=labelled, legacy=False)
    extra = legacy_samples(snapshot.replies, **labels)
    assert not right.keys() & extra.keys()
    assert samples(snapshot.replies, labelled=labelled, legacy=True) == right | extra


def test_the_page_can_be_read_by_prometheus() -> None:
    """The linter may dislike a wrong name, but it reads the page."""
    snapshot = next(s for s in SNAPSHOTS if s.name == "new-default")
    result = TRANSLATORS[True, True].success(reading(snapshot.replies), 0.0025)
    complaints = promtool(render(result, Format.TEXT, LABELS))
    assert "parsing error" not in complaints
    assert "error while linting" not in complaints


@pytest.mark.parametrize(
    ("values", "right"),
    [
        ({"cmd_set": "10", "cas_hits": "2", "cas_misses": "3", "cas_badval": "1"}, 4),
        ({"cmd_set": "10"}, 10),
        ({"cmd_set": "1", "cas_hits": "2"}, 0),
        ({"cas_hits": "2"}, None),
        ({"cmd_set": "x"}, None),
    ],
)
def test_stores_without_cas(values: dict[str, str], right: float | None) -> None:
    """The derived number of stores never falls below zero, and needs the number of attempts."""
    found = samples({"stats": stats_reply(uptime="5", **values)}, labelled=False, legacy=True)
    assert found.get(sample("memcached_commands_total", command="set", status="hit")) == right


@pytest.mark.parametrize("text", ["1.5", "1e3", "-0", "007"])
def test_odd_numbers_of_sets_cost_no_other_sample(text: str) -> None:
    """A number that is no integer must not fail the scrape."""
    replies = {"stats": stats_reply(uptime="5", cmd_set=text, cas_hits=text)}
    assert samples(replies, labelled=False, legacy=True)[sample("memcached_uptime_seconds")] == 5
