"""The official exporter's families on the pages of recordings, with and without legacy names."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.exposition import OPENMETRICS_END, Format
from tests.memcached.oracle import pairs
from tests.memcached.pages import Page
from tests.memcached.support import Samples, parsed, promtool, render
from tests.processes import Exporter, Memcached, parse, sample
from tests.sections.support import LABELS, WHOLE, replies, samples, translate
from tests.sections.wire import recorded_server

_TABLE = Path(__file__).parents[1] / "catalogue" / "official.tsv"
OFFICIAL = {
    name: (kind, {*labels[0].split(",")} if labels else set())
    for name, kind, *labels in (line.split("\t") for line in _TABLE.read_text().splitlines()[1:])
}
"""Name, type and label names of the official exporter's metrics."""
NO_STORAGE = {name for name in OFFICIAL if name.startswith("memcached_extstore_")}
NO_PROXY = {name for name in OFFICIAL if name.startswith("memcached_proxy_")}
NO_TEMPORARY_LIST = {"memcached_slab_temporary_items"}
PER_CLASS = {name for name, (_, labels) in OFFICIAL.items() if "slab" in labels}
CANNOT_SHOW = {
    "deb1618-default": NO_STORAGE | NO_PROXY | NO_TEMPORARY_LIST,
    "deb1618-extstore": NO_PROXY | NO_TEMPORARY_LIST,
    "new-proxy": NO_STORAGE | PER_CLASS,
}
"""What these servers do not send: a proxy has no items, hence no slab classes."""
DEFECTIVE = {
    "memcached_lru_crawler_hot_percent",
    "memcached_lru_crawler_sleep",
    "memcached_lru_crawler_warm_percent",
    "memcached_proxy_backend_failed",
    "memcached_proxy_backend_total",
    "memcached_slab_items_moves_to_cold",
    "memcached_slab_items_moves_to_warm",
    "memcached_slab_items_moves_within_lru",
    "memcached_version",
}
OUTCOMES = {
    *((command, how) for command in ("get", "delete", "incr", "decr") for how in ("hit", "miss")),
    *(("cas", how) for how in ("hit", "miss", "badval")),
    *(("touch", how) for how in ("hit", "miss")),
    *(("set", "hit"), ("flush", "hit")),
}


def label_names(found: Samples, name: str) -> set[frozenset[str]]:
    """Return the sets of label names that the samples of a family have."""
    return {frozenset(label for label, _ in labels) for own, labels in found if own == name}


def outcomes(found: Samples, name: str) -> set[tuple[str, str]]:
    """Return command and status of the samples of a family."""
    texts = [dict(labels) for own, labels in found if own == name]
    return {(text["command"], text["status"]) for text in texts}


def types(page: str) -> dict[str, str]:
    """Return the types of the families of a page in the text format."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE))


@pytest.mark.parametrize("case", CANNOT_SHOW)
def test_with_legacy_names_every_official_family_is_there(case: str) -> None:
    """Each family that the server can show has its official name and exactly its labels."""
    found = samples(replies(case), legacy=True)
    for name, (_, labels) in OFFICIAL.items():
        expected = set() if name in CANNOT_SHOW[case] else {frozenset(labels)}
        assert label_names(found, name) == expected, name


def test_together_the_three_show_nearly_all() -> None:
    """Only the list of items with a short lifetime, which needs an option, is not shown."""
    assert set.intersection(*CANNOT_SHOW.values()) == NO_TEMPORARY_LIST
    assert len(OFFICIAL) == 103


@pytest.mark.parametrize("case", CANNOT_SHOW)
def test_without_them_all_but_the_defective_are(case: str) -> None:
    """Without the flag the right names are all there, and no wrong one is."""
    found = samples(replies(case))
    names = {name for name, _ in found}
    assert OFFICIAL.keys() & names == OFFICIAL.keys() - CANNOT_SHOW[case] - DEFECTIVE
    status = {frozenset({"command", "status"})}
    assert label_names(found, "memcached_commands_total") == status
    assert not {("set", "hit"), ("flush", "hit")} & outcomes(found, "memcached_commands_total")


@pytest.mark.parametrize("case", CANNOT_SHOW)
def test_types(case: str) -> None:
    """Types are the official ones, but for values that can fall and misnamed counters."""
    page = types(render(translate(replies(case), legacy=True), Format.TEXT))
    differing = {name for name, (kind, _) in OFFICIAL.items() if page.get(name, kind) != kind}
    assert differing <= {
        *("memcached_extstore_bytes_used", "memcached_slab_items_evicted_time_seconds"),
        *("memcached_slab_mem_requested_bytes", "memcached_uptime_seconds"),
        *(name for name in DEFECTIVE if "moves" in name),
    }


@pytest.mark.parametrize("case", WHOLE)
def test_stores_and_flushes(case: str) -> None:
    """`set` and `flush` have hits as the official exporter computes them, in sum and per class."""
    given = replies(case)
    stats, slabs = pairs(given["stats"]), pairs(given.get("slabs", b""))
    found = samples(given, legacy=True)
    name = "memcached_commands_total"
    cas = sum(int(stats.get(f"cas_{how}", 0)) for how in ("hits", "misses", "badval"))
    stores = int(stats["cmd_set"]) - cas
    assert found[sample(name, command="set", status="hit")] == stores >= 0
    assert found[sample(name, command="set", status="attempt")] == int(stats["cmd_set"])
    if "cmd_flush" in stats:
        assert found[sample(name, command="flush", status="hit")] == int(stats["cmd_flush"])
    for key, text in slabs.items():
        slab, _, bare = key.partition(":")
        if bare == "cmd_set":
            cas = sum(int(slabs.get(f"{slab}:cas_{how}", 0)) for how in ("hits", "badval"))
            key_of_hits = sample(
                "memcached_slab_commands_total", slab=slab, command="set", status="hit"
            )
            assert found[key_of_hits] == int(text) - cas


def test_all_outcomes() -> None:
    """The official pairs of command and status are there, and `attempt` on top."""
    found = samples(replies("deb1618-default"), legacy=True)
    attempts = {("set", "attempt"), ("flush", "attempt")}
    assert outcomes(found, "memcached_commands_total") == OUTCOMES | attempts
    per_class = {
        *((command, "hit") for command in ("get", "delete", "incr", "decr", "cas", "touch", "set")),
        *(("cas", "badval"), ("set", "attempt")),
    }
    assert outcomes(found, "memcached_slab_commands_total") == per_class


def test_the_version_is_a_label() -> None:
    """The version is where the official exporter has it, and where it belongs."""
    found = samples(replies("deb1618-default"), legacy=True)
    assert found[sample("memcached_version", version="1.6.18")] == 1
    info = {"version": "1.6.18", "libevent": "2.1.12-stable", "pointer_size": "64"}
    assert found[sample("memcached_version_info", **info)] == 1


@pytest.mark.parametrize("case", ["new-default", "new-proxy"])
def test_a_daemon_with_legacy_names_serves_text(case: str, sectioned: Callable[..., Page]) -> None:
    """Whoever prefers OpenMetrics gets the text format too, without duplicates."""
    with recorded_server(case) as server:
        page = sectioned(server.address, "--metrics.legacy-names")
        for accept in (Format.OPENMETRICS.value, Format.TEXT.value, "*/*"):
            answer = page.daemon.request("/metrics", Accept=accept)
            assert answer.headers["Content-Type"] == Format.TEXT.value
            assert OPENMETRICS_END not in answer.text
            found = parse(answer.text)
            label = {"version": "1.6.45", "server": server.address}
            assert found[sample("memcached_version", **label)] == 1
        target = page.daemon.request(
            f"/scrape?target={server.address}", Accept=Format.OPENMETRICS.value
        )
        assert target.headers["Content-Type"] == Format.TEXT.value
        assert parse(target.text)[sample("memcached_version", version="1.6.45")] == 1


def test_the_flag_and_the_file(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """The file can ask for legacy names as well; without either OpenMetrics is served."""
    server = memcached()
    file = tmp_path / "legacy.yml"
    file.write_text("metrics: {legacy_names: true}\n")
    address = f"--memcached.address={server.address}"
    old = exporter(address, f"--config.file={file}")
    assert ("memcached_version" in {name for name, _ in old.samples()}) is True
    new = exporter(address)
    assert ("memcached_version" in {name for name, _ in new.samples()}) is False
    answer = new.request("/metrics", Accept=Format.OPENMETRICS.value)
    assert answer.headers["Content-Type"] == Format.OPENMETRICS.value


@pytest.mark.parametrize("case", WHOLE)
def test_pages_without_legacy_names_please_the_linter(case: str) -> None:
    """`promtool check metrics` has no complaint about a page with all sections."""
    result = translate(replies(case), labelled=True)
    assert promtool(render(result, Format.TEXT, LABELS)) == ""


def test_a_page_of_the_daemon_pleases_the_linter(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """The linter likes the whole page, with the metrics about the exporter itself."""
    page = sectioned(
        memcached("-o", "track_sizes").address,
        top_clients=3,
        probe={"interval": "10ms", "canary_key": "canary"},
    )
    page()
    assert promtool(page().daemon.request("/metrics").text) == ""
    assert parsed(page.daemon.request("/metrics").text, Format.TEXT)
