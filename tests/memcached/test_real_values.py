"""Every value of a busy real server, and what a scrape costs on the wire."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.catalogue.scrape import SCRAPE
from exporter.exposition import Format
from tests.memcached.oracle import expected
from tests.memcached.support import (
    COMMANDS,
    LABELS,
    Samples,
    events,
    parsed,
    reader,
    render,
    scrape,
    settled,
    store,
    translate,
    value,
)
from tests.processes import Exporter, FakeMemcached, Memcached, sample

MOVING = {
    "memcached_uptime_seconds",
    "memcached_time_seconds",
    "memcached_process_user_cpu_seconds_total",
    "memcached_process_system_cpu_seconds_total",
    "memcached_connections_total",
    "memcached_connection_structures",
    "memcached_read_bytes_total",
    "memcached_written_bytes_total",
    "memcached_lru_maintainer_juggles_total",
    "memcached_lru_crawler_starts_total",
    "memcached_slab_hot_age_seconds",
    "memcached_slab_warm_age_seconds",
    "memcached_slab_items_age_seconds",
}
"""What grows on a server that nobody uses: clocks, and the work and traffic of being asked."""

ABOUT_THE_SCRAPE = {row.name for row in SCRAPE.rows}


@pytest.fixture
def busy(memcached: Callable[..., Memcached]) -> Memcached:
    """Run a server whose items fill 38 slab classes and more, with every kind of traffic."""
    server = memcached("-m", "96", "-o", "no_lru_crawler")
    sizes = [int(60 * 1.2**step) for step in range(52)]
    store(server, {f"size-{size}": b"x" * size for size in sizes})
    store(server, {"number": b"10"})
    with contextlib.closing(server.client()) as client:
        for size in sizes:
            assert client.get(f"size-{size}") == b"x" * size
        client.get_many(["number", "nobody", "nothing"])
        client.incr("number", 5)
        client.incr("nobody", 5)
        client.decr("number", 1)
        client.touch("number", 100)
        client.touch("nobody", 100)
        _, token = client.gets("number")
        client.cas("number", b"1", token)
        client.cas("number", b"2", token)
        client.delete("number")
        client.delete("nobody")
        with contextlib.suppress(Exception):
            client.set("large", b"x" * 2**21, noreply=False)
    assert int(server.stats("slabs")["active_slabs"]) >= 38
    return server


def truth(server: Memcached) -> Samples:
    """Return what the server itself says, by the catalogue."""
    replies = {name: server.stats(*command.split()[1:]) for name, command in COMMANDS.items()}
    return expected(replies, server=server.address)


def test_every_value_is_the_servers_own(busy: Memcached, exporter: Callable[..., Exporter]) -> None:
    """The page of a busy server holds what it says when asked directly, and nothing else."""
    daemon = exporter(f"--memcached.address={busy.address}", "--no-collector.host")
    daemon.samples()
    before = truth(busy)
    page = daemon.samples()
    after = truth(busy)
    found = {
        key: number
        for key, number in page.items()
        if ("server", busy.address) in key[1] and key[0] not in ABOUT_THE_SCRAPE
    }
    assert set(found) == set(before) == set(after)
    wrong = {
        key: (before[key], number, after[key])
        for key, number in found.items()
        if not (before[key] <= number <= after[key] if key[0] in MOVING else before[key] == number)
    }
    # The connection that asked for `before` may be closed, or not yet, when the daemon asks.
    for name in ("memcached_current_connections", "memcached_response_objects"):
        wrong.pop(sample(name, server=busy.address), None)
    assert wrong == {}
    assert len(found) > 1000


def test_the_traffic_is_counted_by_command_and_outcome(busy: Memcached) -> None:
    """The numbers of the traffic that was made come out under its commands."""
    with reader(busy.address) as held:
        found = parsed(render(translate(scrape(held)), Format.TEXT), Format.TEXT)
    right = {
        ("get", "hit"): 54,
        ("get", "miss"): 2,
        ("set", "attempt"): 55,
        ("incr", "hit"): 1,
        ("incr", "miss"): 1,
        ("decr", "hit"): 1,
        ("decr", "miss"): 0,
        ("touch", "hit"): 1,
        ("touch", "miss"): 1,
        ("cas", "hit"): 1,
        ("cas", "badval"): 1,
        ("cas", "miss"): 0,
        ("delete", "hit"): 1,
        ("delete", "miss"): 1,
        ("flush", "attempt"): 0,
    }
    for (command, status), number in right.items():
        assert found[sample("memcached_commands_total", command=command, status=status)] == number
    assert found[sample("memcached_item_too_large_total")] == 1
    assert found[sample("memcached_current_items")] == 52


def test_a_steady_scrape_is_two_writes_on_the_held_connection(
    fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """First all is learnt on one connection; from then on a scrape is one write and a ping."""
    trace = tmp_path / "trace"
    server = fake("--set", "version 1.6.45", "--trace", str(trace))
    with reader(server.address) as held:
        for _ in range(3):
            assert sorted(scrape(held).bodies) == ["items", "settings", "slabs", "stats"]
        lines = events(trace)
    ping = "2 received b'version\\r\\n'"
    first, *others = (f"{command}\\r\\n" for command in COMMANDS.values())
    assert lines == [
        "2 open",
        "2 received b'version\\r\\nstats\\r\\n'",
        f"2 received b'{''.join(others)}'",
        ping,
        *[f"2 received b'{first}{''.join(others)}'", ping] * 2,
    ]


def test_scrapes_open_no_connections(memcached: Callable[..., Memcached]) -> None:
    """A real server sees one connection and no client command, however often it is scraped."""
    server = memcached()
    with reader(server.address) as held:
        reads = [settled(held), *(scrape(held) for _ in range(10))]
    for key in ("total_connections", "cmd_get", "cmd_set", "cmd_meta", "cmd_flush"):
        assert {value(read, key) for read in reads} == {value(reads[0], key)}
    assert all(read.ping_seconds > 0 for read in reads)
    assert {read.dialled for read in reads} == {server.address}


def test_only_the_wanted_sections_are_asked_for(
    fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """A module that wants less sends less, and the page has nothing of the rest."""
    log = tmp_path / "log"
    server = fake("--set", "version 1.6.45", "--log", str(log))
    with reader(server.address, sections=("stats", "slabs")) as held:
        read = [scrape(held) for _ in range(2)][-1]
    assert log.read_text().splitlines() == [
        "'version'",
        "'stats'",
        "'stats slabs'",
        "'version'",
        "'stats'",
        "'stats slabs'",
        "'version'",
    ]
    assert (sorted(read.bodies), read.left_out) == (["slabs", "stats"], {})
    found = parsed(render(translate(read, labelled=True), Format.TEXT, LABELS), Format.TEXT)
    sections = {
        dict(own)["section"] for name, own in found if name == "memcached_scrape_section_success"
    }
    assert sections == {"stats", "slabs"}
