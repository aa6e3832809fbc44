"""What operators of memcached exporters ran into, through the daemon; the names carry the ids.

A is about statistics and values, E about their meaning; connections and faults are B, next door.
"""

import contextlib
import socket
from collections.abc import Callable

import pytest

from tests.memcached.pages import Page
from tests.memcached.support import (
    promtool,
    store,
)
from tests.processes import FakeMemcached, Memcached

Fake = Callable[..., FakeMemcached]
Real = Callable[..., Memcached]


def test_a01_version_with_a_space(fake: Fake, page: Callable[..., Page]) -> None:
    """A distributor's version keeps its blank, and costs no other metric."""
    plain = page(fake().address)()
    ubuntu = page(fake("--set", "version 1.4.14 (Ubuntu)").address)()
    version = ubuntu.get("memcached_version_info", version="1.4.14 (Ubuntu)", pointer_size="64")
    assert (version, ubuntu.get("memcached_up")) == (1, 1)
    assert ubuntu.names() >= plain.names()


def test_a03_multi_word_value_in_settings(fake: Fake, page: Callable[..., Page]) -> None:
    """A setting of several words, of a plugin that is no memcached, hides no other setting."""
    found = page(
        fake("--set", "version 5.7.1", "--set", "settings:logger standard error").address
    )()
    assert found.get("memcached_max_connections") == 1024
    assert found.get("memcached_up") == 1
    assert found.get("memcached_exporter_unknown_stats") == 1
    assert found.warnings() == []


def test_a04_old_server(fake: Fake, page: Callable[..., Page]) -> None:
    """What an old server lacks is absent: no error, no 0, no NaN, and one line in the log."""
    missing = ["cas_hits", "cas_misses", "cas_badval", "touch_hits", "touch_misses"]
    drop = [flag for key in missing for flag in ("--drop", key)]
    found = page(fake("--set", "version 1.4.5", "--err", "stats settings=ERROR", *drop).address)
    for _ in range(5):
        found()
        assert found.get("memcached_up") == 1
        assert found.get("memcached_current_items") == 10
        assert found.get("memcached_commands_total", command="get", status="hit") == 75
        commands = {
            dict(labels)["command"]
            for name, labels in found.samples
            if name == "memcached_commands_total"
        }
        assert commands == {"get", "set", "delete", "incr", "decr", "flush"}
        assert found.get("memcached_scrape_section_success", section="settings") is None
    assert "nan" not in found.daemon.request("/metrics").text.lower().split()
    assert len(found.warnings()) == 1


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ([], 650),
        (["--set", "slabs:1:mem_requested 640"], 650),
        (["--set", "slabs:1:mem_requested 640", "--drop", "items:1:mem_requested"], 640),
    ],
    ids=["items", "both", "slabs"],
)
def test_a06_mem_requested_moved(
    fake: Fake, page: Callable[..., Page], options: list[str], right: float
) -> None:
    """Wherever the key stands, and even twice, there is one gauge per slab class."""
    found = page(fake(*options).address)()
    assert found.of("memcached_slab_mem_requested_bytes") == [right]
    assert found.get("memcached_slab_mem_requested_bytes", slab="1") == right
    text = found.daemon.request("/metrics").text
    assert "# TYPE memcached_slab_mem_requested_bytes gauge\n" in text
    assert promtool(text) == ""


def test_a09_what_counts_as_a_get(memcached: Real, page: Callable[..., Page]) -> None:
    """A get counts its keys, a gat is a touch, and meta commands count as what they do."""
    server = memcached()
    store(server, {"a": b"1"})
    found = page(server.address)
    steps = [
        (b"get a b c d", {("get", "hit"): 1, ("get", "miss"): 3}),
        (b"gat 100 a", {("touch", "hit"): 1}),
        (b"gat 100 zz", {("touch", "miss"): 1}),
        (b"mg a t", {("get", "hit"): 1}),
        (b"mg zz t", {("get", "miss"): 1}),
        (b"ms q 1\r\nx", {("set", "attempt"): 1}),
    ]

    def counts() -> dict[tuple[str, str], float]:
        return {
            (dict(labels)["command"], dict(labels)["status"]): number
            for (name, labels), number in found().samples.items()
            if name == "memcached_commands_total"
        }

    with socket.create_connection((server.host, server.port), timeout=5) as client:
        for command, right in steps:
            before = counts()
            client.sendall(command + b"\r\nmn\r\n")
            answer = b""
            while not answer.endswith(b"MN\r\n"):
                answer += client.recv(4096)
            after = counts()
            changes = {key: after[key] - before[key] for key in after if after[key] != before[key]}
            assert changes == right, command
    assert found.get("memcached_meta_debug_commands_total") == 0


def test_a12_kinds_and_names(memcached: Real, page: Callable[..., Page]) -> None:
    """Prometheus' linter finds nothing, what can fall is a gauge, and only counters are totals."""
    server = memcached("-m", "8")
    store(server, {f"{number}-{'k' * 50}": b"x" * 3000 for number in range(6000)})
    store(server, {f"{size}": b"x" * size for size in range(100, 100_000, 9000)})
    found = page(server.address)()
    assert (found.get("memcached_items_evicted_total") or 0) > 0
    text = found.daemon.request("/metrics").text
    assert promtool(text) == ""
    kinds = dict(
        line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE memcached_")
    )
    for name, kind in kinds.items():
        assert name.endswith("_total") is (kind == "counter"), name
    for name in (
        "memcached_current_connections",
        "memcached_current_items",
        "memcached_current_bytes",
        "memcached_limit_bytes",
        "memcached_slab_items_age_seconds",
        "memcached_slab_items_evicted_time_seconds",
        "memcached_slab_mem_requested_bytes",
        "memcached_slab_chunks_free",
        "memcached_slab_chunks_used",
        "memcached_accepting_connections",
        "memcached_hash_is_expanding",
        "memcached_uptime_seconds",
    ):
        assert kinds[name] == "gauge", name


@pytest.mark.parametrize("text", ["2.000005", "2:000005"])
def test_a14_cpu_time_formats(fake: Fake, page: Callable[..., Page], text: str) -> None:
    """Both ways to write seconds and microseconds are the same time."""
    found = page(fake("--set", f"rusage_user {text}").address)()
    assert found.get("memcached_process_user_cpu_seconds_total") == 2.000005
    assert found.get("memcached_process_system_cpu_seconds_total") == 2.25
    assert found.get("memcached_up") == 1


def test_a15_slab_class_listed_in_one_answer_only(fake: Fake, page: Callable[..., Page]) -> None:
    """A class that has pages and no items has the metrics of pages and not those of items."""
    keys = ["chunk_size 384", "total_pages 1", "used_chunks 0"]
    found = page(fake(*(f"--set=slabs:7:{key}" for key in keys)).address)()
    classes: dict[str, set[str]] = {"1": set(), "7": set()}
    for name, labels in found.samples:
        if slab := dict(labels).get("slab"):
            classes[slab].add(name)
    assert classes["7"] == {
        "memcached_slab_chunk_size_bytes",
        "memcached_slab_current_pages",
        "memcached_slab_chunks_used",
    }
    assert found.get("memcached_slab_chunk_size_bytes", slab="7") == 384
    assert "memcached_slab_current_items" in classes["1"]
    assert found.get("memcached_up") == 1


def test_a15_a_class_that_vanishes(memcached: Real, page: Callable[..., Page]) -> None:
    """A class that the server lists no more is gone from the next page."""
    server = memcached()
    store(server, {"small": b"x", "large": b"x" * 5000})
    found = page(server.address)()
    assert len(found.of("memcached_slab_current_items")) == 2
    with contextlib.closing(server.client()) as client:
        client.delete("large", noreply=False)
    found()
    assert found.of("memcached_slab_current_items") == [1]
    assert len(found.of("memcached_slab_current_pages")) == 2


def test_e19_out_of_memory_with_evictions_off(memcached: Real, page: Callable[..., Page]) -> None:
    """Stores that find no memory are counted, in sum and by class, and nothing is evicted."""
    server = memcached("-M", "-m", "2")
    with contextlib.closing(server.client()) as client:
        for number in range(3000):
            with contextlib.suppress(Exception):
                client.set(f"key-{number}", b"x" * 4096, noreply=False)
    failed = int(server.stats()["store_no_memory"])
    assert failed > 2000
    found = page(server.address)()
    assert found.get("memcached_item_no_memory_total") == failed
    assert sum(found.of("memcached_slab_items_outofmemory_total")) == failed
    assert found.get("memcached_items_evicted_total") == 0
    assert found.get("memcached_settings_evictions_enabled") == 0
