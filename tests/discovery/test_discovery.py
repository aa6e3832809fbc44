"""Sources and the static list become one list, followed by a daemon while it runs."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.discovery.elasticache import announce
from tests.discovery.support import Files, listing, on_page, put, sd, sources, up
from tests.processes import Memcached, sample
from tests.resilience.support import Daemon, at_rest, count
from tests.web.clients import eventually

Start = Callable[..., Daemon]
Memcacheds = Callable[..., Memcached]


def config(*patterns: Path | str, static: str = "[]", rest: str = "") -> str:
    """Return a configuration that reads servers from files."""
    listed = ", ".join(f"'{pattern}'" for pattern in patterns)
    return f"servers: {static}\n{rest}discovery:\n  files: [{listed}]\n"


def reload(daemon: Daemon) -> None:
    """Reload; when the answer is there, it is done."""
    answer = daemon.request("/-/reload", method="POST")
    assert (answer.status, answer.text) == (200, "reloaded\n"), answer.text


LIFECYCLE = "--web.enable-lifecycle"
CONFLICT = "servers are listed twice"


def test_servers_are_there_from_the_first_page_on(
    memcached: Memcacheds, files: Files, start: Start
) -> None:
    """A daemon listens when it has looked at its files, whose servers have their labels."""
    server = memcached()
    files.put("a.yml", listing(server.address, cluster="web", __meta_x="y"))
    daemon = start(config(files.directory / "*.yml"))
    assert daemon.samples()[sample("memcached_up", server=server.address, cluster="web")] == 1
    assert on_page(daemon) == {server.address: 1}


def test_paths_are_relative_to_the_configuration(
    memcached: Memcacheds, tmp_path: Path, start: Start
) -> None:
    """As all paths in the file."""
    server = memcached()
    put(tmp_path / "cache.json", listing(server.address))
    daemon = start(config("cache.json"))
    assert on_page(daemon) == {server.address: 1}
    assert sources(daemon) == {"static": 0, f"file:{tmp_path}/cache.json": 1}


def test_the_default_server_is_not_read_beside_sources(files: Files, start: Start) -> None:
    """Without a static list there is none, where servers are found elsewhere."""
    daemon = start(f"discovery: {{files: ['{files.directory}/*']}}\n")
    assert on_page(daemon) == {}
    assert sd(daemon) == []
    assert sources(daemon)["static"] == 0


def test_static_servers_alone(memcached: Memcacheds, start: Start) -> None:
    """The list in the configuration is a source too, which never fails."""
    first, second = memcached(), memcached()
    before = time.time()
    daemon = start(f"servers: [{{address: '{first.address}'}}, {{address: '{second.address}'}}]\n")
    assert sources(daemon) == {"static": 2}
    assert sources(daemon, "failures_total") == {"static": 0}
    stamp = sources(daemon, "last_success_timestamp_seconds")["static"]
    assert before - 1 <= stamp <= time.time() + 1


def test_the_first_way_counts(memcached: Memcacheds, files: Files, start: Start) -> None:
    """A server that comes several times is read once, as the static list or first file says."""
    both, files_only, last = memcached(), memcached(), memcached()
    files.put("a.yml", listing(f"{both.address}", files_only.address, x="a"))
    files.put("b.yml", listing(files_only.address, last.address, x="b"))
    static = f"[{{address: 'localhost:1'}}, {{address: '{both.address}', labels: {{x: s}}}}]"
    daemon = start(config(files.directory / "*", static=static))
    assert list(on_page(daemon)) == [
        "localhost:1",
        both.address,
        files_only.address,
        last.address,
    ]
    assert up(daemon, both.address, x="s") == 1
    assert up(daemon, files_only.address, x="a") == 1
    assert up(daemon, last.address, x="b") == 1
    assert len(sd(daemon)) == 4
    assert sources(daemon) == {"static": 2, f"file:{files.directory}/*": 4}


def test_conflicts_are_told_once(memcached: Memcacheds, files: Files, start: Start) -> None:
    """Each set of servers with two descriptions is one warning, however often it is seen."""
    server, other = memcached(), memcached()
    files.put("a.yml", listing(server.address, x="a"))
    files.put("b.yml", listing(server.address.upper(), x="b"))
    daemon = start(config(files.directory / "*"), LIFECYCLE)
    assert daemon.log.count(CONFLICT) == 1
    (warning,) = daemon.warnings()
    assert f"servers=['{server.address}']" in warning
    files.put("c.yml", listing(other.address))
    assert eventually(lambda: other.address in on_page(daemon))
    reload(daemon)
    assert daemon.log.count(CONFLICT) == 1
    files.put("c.yml", listing(server.address, other.address, x="c"))
    assert eventually(lambda: daemon.log.count(CONFLICT) == 2)


@pytest.mark.parametrize("labels", [{"x": "a", "y": "b"}, {"y": "b", "x": "a"}])
def test_the_same_twice_is_no_conflict(
    memcached: Memcacheds, files: Files, start: Start, labels: dict[str, str]
) -> None:
    """A server that is listed twice with the same labels, in whatever order, is one."""
    server = memcached()
    files.put("a.yml", listing(server.address, x="a", y="b"))
    files.put("b.yml", listing(server.address, **labels))
    daemon = start(config(files.directory / "*"))
    assert on_page(daemon) == {server.address: 1}
    assert daemon.warnings() == []


def test_files_are_followed(memcached: Memcacheds, files: Files, start: Start) -> None:
    """Servers come and go with the files; one that stays keeps its only connection."""
    kept, removed, added = memcached(), memcached(), memcached()
    files.put("a.yml", listing(kept.address, removed.address))
    daemon = start(config(files.directory / "*.yml"))
    assert on_page(daemon) == {kept.address: 1, removed.address: 1}
    total, open_now = count(kept, "total_connections"), at_rest(removed)
    for text in (listing(kept.address), listing(added.address, kept.address)):
        files.put("a.yml", text)
        assert eventually(lambda: removed.address not in on_page(daemon))
    assert eventually(lambda: on_page(daemon) == {added.address: 1, kept.address: 1})
    assert count(kept, "total_connections") == total + 1  # that of who counts
    assert eventually(lambda: count(removed, "curr_connections") == open_now - 1)
    assert daemon.request(f"/scrape?target={removed.address}").status == 403
    assert daemon.request(f"/scrape?target={added.address}").status == 200


def test_labels_and_modules_are_followed(memcached: Memcacheds, files: Files, start: Start) -> None:
    """New labels are those of the next page, and a new module reads other sections."""
    server = memcached()
    files.put("a.yml", listing(server.address, x="old"))
    daemon = start(config(files.directory / "*", rest="modules: {brief: {sections: []}}\n"))
    slabs = sample(
        "memcached_scrape_section_success", server=server.address, x="old", section="slabs"
    )
    assert daemon.samples()[slabs] == 1
    files.put("a.yml", listing(server.address, x="new", __param_module="brief"))
    assert eventually(lambda: up(daemon, server.address, x="new") == 1)
    assert not any(dict(labels).get("section") == "slabs" for _, labels in daemon.samples())
    (group,) = sd(daemon)
    assert (group["labels"]["__param_module"], group["labels"]["x"]) == ("brief", "new")


def test_a_broken_file(memcached: Memcacheds, files: Files, start: Start) -> None:
    """It keeps its servers while others are followed; the metrics and one log line tell of it."""
    first, second, third = memcached(), memcached(), memcached()
    files.put("a.yml", listing(first.address))
    files.put("b.yml", listing(second.address))
    daemon = start(config(files.directory / "*"))
    source = f"file:{files.directory}/*"
    assert sources(daemon, "failures_total")[source] == 0
    path = files.put("a.yml", "- targets: [\n")
    files.put("b.yml", listing(third.address))
    assert eventually(lambda: on_page(daemon) == {first.address: 1, third.address: 1})
    assert eventually(lambda: sources(daemon, "failures_total")[source] >= 2)
    last = sources(daemon, "last_success_timestamp_seconds")[source]
    assert sources(daemon)[source] == 2
    assert len(sd(daemon)) == 2
    (warning,) = daemon.warnings()
    assert f"{path}:2:1: not valid YAML: " in warning
    files.put("a.yml", listing(second.address))
    assert eventually(lambda: on_page(daemon) == {second.address: 1, third.address: 1})
    assert sources(daemon, "last_success_timestamp_seconds")[source] > last
    assert "discovery works again" in daemon.log


def test_the_three_kinds_together(memcached: Memcacheds, files: Files, start: Start) -> None:
    """Each source has its own series; one that fails says nothing of the others."""
    static, listed, node, endpoint = (memcached() for _ in range(4))
    files.put("a.yml", listing(listed.address))
    announce(endpoint, node)
    text = config(files.directory / "a.yml", static=f"[{{address: '{static.address}'}}]")
    text += (
        f"  elasticache: [{{endpoint: '{endpoint.address}', refresh: 50ms}}]\n"
        "  dns: [{name: nowhere.invalid, port: 1, refresh: 50ms}]\n"
    )
    daemon = start(text)
    file, cluster = f"file:{files.directory}/a.yml", f"elasticache:{endpoint.address}"
    dns = "dns:A:nowhere.invalid:1"
    assert list(on_page(daemon)) == [static.address, listed.address, node.address]
    assert sources(daemon) == {"static": 1, file: 1, dns: 0, cluster: 1}
    assert eventually(lambda: sources(daemon, "failures_total")[dns] >= 1, 20)
    failures = sources(daemon, "failures_total")
    assert {name for name, number in failures.items() if number == 0} == {"static", file, cluster}
    stamps = sources(daemon, "last_success_timestamp_seconds")
    assert stamps[dns] == 0
    assert all(abs(time.time() - stamps[name]) < 60 for name in ("static", file, cluster))
    assert daemon.request("/sd").status == 503
