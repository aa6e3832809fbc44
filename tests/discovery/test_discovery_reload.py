"""Reloading while servers are found elsewhere: what stays, what goes, and what must not grow."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.discovery.elasticache import announce, tell
from tests.discovery.support import Files, listing, on_page, sd, sources, up
from tests.discovery.test_discovery import LIFECYCLE, config, reload
from tests.processes import Memcached, sample
from tests.resilience.support import Daemon, at_rest, count, settle
from tests.web.clients import eventually

Start = Callable[..., Daemon]
Memcacheds = Callable[..., Memcached]


def rewrite(tmp_path: Path, text: str) -> None:
    """Write the daemon's configuration anew."""
    (tmp_path / "exporter.yml").write_text(text)


def test_unchanged_sources_keep_their_lists(
    memcached: Memcacheds, files: Files, start: Start, tmp_path: Path
) -> None:
    """A source that cannot be read now but is configured as before keeps what it has found."""
    endpoint, node, static = memcached(), memcached(), memcached()
    announce(endpoint, node)
    cluster = f"  elasticache: [{{endpoint: '{endpoint.address}', refresh: 50ms}}]\n"
    daemon = start(config(files.directory / "*") + cluster, LIFECYCLE)
    source = f"elasticache:{endpoint.address}"
    assert on_page(daemon) == {node.address: 1}
    total = count(node, "total_connections")
    tell(endpoint, "")
    assert eventually(lambda: sources(daemon, "failures_total")[source] >= 1)
    failures = sources(daemon, "failures_total")[source]
    files.put("a.yml", listing("127.0.0.1:1"))
    rewrite(
        tmp_path,
        config(files.directory / "*.json", static=f"[{{address: '{static.address}'}}]") + cluster,
    )
    reload(daemon)
    assert on_page(daemon) == {static.address: 1, node.address: 1}
    assert sources(daemon) == {"static": 1, f"file:{files.directory}/*.json": 0, source: 1}
    assert sources(daemon, "failures_total")[source] >= failures
    assert count(node, "total_connections") == total + 1  # that of who counts
    assert len(sd(daemon)) == 2


def test_removed_sources_go_with_their_series(
    memcached: Memcacheds, files: Files, start: Start, tmp_path: Path
) -> None:
    """Servers, connections and series of a source end with it, and come back with it."""
    kept, removed = memcached(), memcached()
    files.put("a.yml", listing(kept.address))
    files.put("b.yml", listing(removed.address))
    first, second = files.directory / "a.yml", files.directory / "b.yml"
    daemon = start(config(first, second), LIFECYCLE)
    assert on_page(daemon) == {kept.address: 1, removed.address: 1}
    total, open_now = count(kept, "total_connections"), at_rest(removed)
    for _ in range(3):
        rewrite(tmp_path, config(first))
        reload(daemon)
        assert on_page(daemon) == {kept.address: 1}
        for family in ("servers", "failures_total", "last_success_timestamp_seconds"):
            assert set(sources(daemon, family)) == {"static", f"file:{first}"}
        assert eventually(lambda: count(removed, "curr_connections") == open_now - 1)
        rewrite(tmp_path, config(second, first))
        reload(daemon)
        assert list(on_page(daemon)) == [removed.address, kept.address]
        assert sources(daemon) == {"static": 0, f"file:{first}": 1, f"file:{second}": 1}
    assert count(kept, "total_connections") == total + 1  # that of who counts


def test_a_changed_source_is_read_anew(
    memcached: Memcacheds, files: Files, start: Start, tmp_path: Path
) -> None:
    """New labels and modules of a source are those of the page after the reload."""
    endpoint, node = memcached(), memcached()
    announce(endpoint, node)

    def text(label: str) -> str:
        entry = f"{{endpoint: '{endpoint.address}', labels: {{x: {label}}}}}"
        return f"discovery: {{elasticache: [{entry}]}}\n"

    daemon = start(text("old"), LIFECYCLE)
    assert up(daemon, node.address, x="old") == 1
    rewrite(tmp_path, text("new"))
    reload(daemon)
    assert up(daemon, node.address, x="new") == 1
    assert up(daemon, node.address, x="old") is None
    assert sources(daemon) == {"static": 0, f"elasticache:{endpoint.address}": 1}


def test_a_bad_configuration_changes_nothing(
    memcached: Memcacheds, files: Files, start: Start, tmp_path: Path
) -> None:
    """After a refused reload the sources of before are still followed."""
    first, second = memcached(), memcached()
    files.put("a.yml", listing(first.address))
    daemon = start(config(files.directory / "*"), LIFECYCLE)
    rewrite(tmp_path, "discovery: {dns: [{name: x, type: SRV, port: 1}]}\n")
    answer = daemon.request("/-/reload", method="POST")
    assert (answer.status, "remove port" in answer.text) == (500, True)
    files.put("a.yml", listing(second.address))
    assert eventually(lambda: on_page(daemon) == {second.address: 1})


def test_thirty_reloads_leave_nothing(
    memcached: Memcacheds, files: Files, start: Start, tmp_path: Path
) -> None:
    """Neither threads nor files nor connections of sources that are no more pile up."""
    server = memcached()
    files.put("a.yml", listing(server.address))

    def text(number: int) -> str:
        return config(files.directory / "a.yml") + (
            "  elasticache:\n"
            "  - {endpoint: '127.0.0.1:1', refresh: 50ms}\n"
            f"  - {{endpoint: '127.0.1.{number}:1', refresh: 10s}}\n"
        )

    daemon = start(text(0), LIFECYCLE)
    for _ in range(3):
        assert on_page(daemon) == {server.address: 1}
    threads, descriptors = daemon.threads(), daemon.descriptors()
    total = count(server, "total_connections")
    for number in range(1, 31):
        rewrite(tmp_path, text(number))
        reload(daemon)
        assert on_page(daemon) == {server.address: 1}
    settle(daemon, threads, descriptors, seconds=15)
    assert count(server, "total_connections") == total + 1  # that of who counts
    assert set(sources(daemon)) == {
        "static",
        f"file:{files.directory}/a.yml",
        "elasticache:127.0.0.1:1",
        "elasticache:127.0.1.30:1",
    }


def told(daemon: Daemon, address: str) -> bool:
    """Return whether /sd tells of a server."""
    return address in [group["labels"]["instance"] for group in sd(daemon)]


def test_targets_keep_their_connections(memcached: Memcacheds, files: Files, start: Start) -> None:
    """What ``/scrape`` reads by another module, or is allowed to, is not dialled anew each time."""
    kept, allowed = memcached(), memcached()
    files.put("a.yml", listing(kept.address))
    rest = "scrape: {allow: [127.0.0.1]}\nmodules: {brief: {sections: []}}\n"
    daemon = start(config(files.directory / "*", rest=rest))
    paths = [f"/scrape?target={server.address}&module=brief" for server in (kept, allowed)]
    for path in paths:
        assert daemon.samples(path)[sample("memcached_up")] == 1
    totals = [count(server, "total_connections") for server in (kept, allowed)]
    for number in range(1, 4):
        files.put("b.yml", listing(f"127.0.0.1:{number}"))
        assert eventually(partial(told, daemon, f"127.0.0.1:{number}"))
        for path in paths:
            assert daemon.samples(path)[sample("memcached_up")] == 1
    found = [count(server, "total_connections") for server in (kept, allowed)]
    assert found == [total + 1 for total in totals]  # that of who counts


def test_an_ill_source_that_is_watched_in_another_way(
    memcached: Memcacheds, files: Files, start: Start, tmp_path: Path
) -> None:
    """A reload that changes how sources are read does not lose what they last said."""
    listed, endpoint, node = memcached(), memcached(), memcached()
    announce(endpoint, node)
    files.put("a.json", listing(listed.address))
    cluster = f"  elasticache: [{{endpoint: '{endpoint.address}', refresh: 50ms}}]\n"
    text = config(files.directory / "*.json") + cluster
    daemon = start(text, LIFECYCLE)
    both = {listed.address: 1, node.address: 1}
    assert on_page(daemon) == both
    total = count(listed, "total_connections")
    files.put("a.json", "")
    tell(endpoint, "")
    rewrite(tmp_path, text.replace("50ms", "60ms") + "modules: {other: {timeout: 2s}}\n")
    reload(daemon)
    assert on_page(daemon) == both
    assert len(sd(daemon)) == 2
    assert count(listed, "total_connections") == total + 1  # that of who counts
    rewrite(tmp_path, text + "modules: {default: {timeout: 3s}}\n")
    reload(daemon)
    assert on_page(daemon) == both
    files.put("a.json", "[]")
    assert eventually(lambda: on_page(daemon) == {node.address: 1})


def test_a_file_that_is_new_and_bad_changes_nothing_for_prometheus(
    memcached: Memcacheds, files: Files, start: Start
) -> None:
    """The list was whole once; a file beside it that never was good does not take it away."""
    first, second = memcached(), memcached()
    files.put("a.json", listing(first.address))
    daemon = start(config(files.directory / "*.json"))
    assert len(sd(daemon)) == 1
    files.put("b.json", "[null]")
    assert eventually(
        lambda: sources(daemon, "failures_total")[f"file:{files.directory}/*.json"] >= 1
    )
    assert len(sd(daemon)) == 1
    files.put("a.json", listing(first.address, second.address))
    assert eventually(lambda: len(sd(daemon)) == 2)
