"""Loading the configuration again: SIGHUP and POST /-/reload."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Memcached, free_port, sample
from tests.resilience.support import Daemon, at_rest, count, refused_start, servers_on
from tests.web.clients import eventually

Start = Callable[..., Memcached]
Configured = Callable[..., Daemon]

OK = sample("memcached_exporter_config_last_reload_successful")
TIME = sample("memcached_exporter_config_last_reload_success_timestamp_seconds")
LIFECYCLE = "--web.enable-lifecycle"


def listing(*servers: Memcached, more: str = "") -> str:
    """Return a configuration that reads these servers."""
    return "servers:\n" + "".join(f'  - {{address: "{s.address}"{more}}}\n' for s in servers)


def hang_up(running: Daemon) -> None:
    """Send SIGHUP, and wait until the daemon has done what it does about it."""
    before = running.log.count("configuration")
    running.process.send_signal(signal.SIGHUP)
    assert eventually(lambda: running.log.count("configuration") > before)


def reload(running: Daemon) -> None:
    """Reload over HTTP; when the answer is there, it is done."""
    answer = running.request("/-/reload", method="POST")
    assert (answer.status, answer.text) == (200, "reloaded\n"), answer.text


def test_d02_broken_file(memcached: Start, configured: Configured, shared: Path) -> None:
    """A broken file changes nothing but the gauge, a good one puts it right."""
    first, second = memcached(), memcached()
    running = configured(listing(first))
    start = running.samples()
    assert start[OK] == 1
    assert abs(start[TIME] - time.time()) < 30
    path = shared / "exporter.yml"
    for broken in ("servers: [", listing(second) + "modules: {default: {timeout: soon}}\n", "\0"):
        path.write_text(broken)
        hang_up(running)
        samples = running.samples()
        assert servers_on(samples) == {first.address}
        assert samples[sample("memcached_up", server=first.address)] == 1
        assert (samples[OK], samples[TIME]) == (0, start[TIME])
    path.unlink()
    hang_up(running)
    assert running.samples()[OK] == 0
    errors = running.warnings()
    assert len(errors) == 4
    assert all(str(path) in line for line in errors)
    path.write_text(listing(second))
    hang_up(running)
    samples = running.samples()
    assert servers_on(samples) == {second.address}
    assert samples[OK] == 1
    assert start[TIME] < samples[TIME] <= time.time()


def test_reload_over_http(memcached: Start, configured: Configured, shared: Path) -> None:
    """POST and PUT reload, and say in the answer what is wrong; GET and HEAD do not."""
    first, second = memcached(), memcached()
    running = configured(listing(first), LIFECYCLE)
    (shared / "exporter.yml").write_text(listing(second))
    for method in ("GET", "HEAD", "DELETE"):
        answer = running.request("/-/reload", method=method)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST, PUT")
    assert servers_on(running.samples()) == {first.address}
    assert running.request("/-/reload", method="PUT").status == 200
    assert servers_on(running.samples()) == {second.address}
    (shared / "exporter.yml").write_text("server: []\n")
    answer = running.request("/-/reload", method="POST")
    assert answer.status == 500
    assert answer.text.startswith(f"{shared}/exporter.yml:1: server: unknown key")
    assert len(answer.text.splitlines()) == 1
    assert running.samples()[OK] == 0
    assert servers_on(running.samples()) == {second.address}


def test_reload_over_http_is_off(memcached: Start, configured: Configured, shared: Path) -> None:
    """Unless it is switched on, nobody reloads over HTTP, and the refusal names the flag."""
    first, second = memcached(), memcached()
    running = configured(listing(first))
    (shared / "exporter.yml").write_text(listing(second))
    for method in ("POST", "PUT", "GET"):
        answer = running.request("/-/reload", method=method)
        assert (answer.status, LIFECYCLE in answer.text) == (403, True)
    assert servers_on(running.samples()) == {first.address}


def test_kept_added_and_removed_servers(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """A kept server keeps its connection; that of a removed one is closed, its series are gone."""
    kept, removed, added = memcached(), memcached(), memcached()
    running = configured(listing(kept, removed), LIFECYCLE)
    assert servers_on(running.samples()) == {kept.address, removed.address}
    total, open_now = count(kept, "total_connections"), at_rest(removed)
    (shared / "exporter.yml").write_text(listing(added, kept))
    for _ in range(3):
        reload(running)
        samples = running.samples()
        assert servers_on(samples) == {kept.address, added.address}
        assert samples[sample("memcached_up", server=added.address)] == 1
    assert count(kept, "total_connections") == total + 1  # that of who counts
    assert eventually(lambda: count(removed, "curr_connections") == open_now - 1)


def test_changed_labels(memcached: Start, configured: Configured, shared: Path) -> None:
    """New labels are on each sample of the next page, and the old series are gone."""
    server = memcached()
    running = configured(listing(server, more=", labels: {cluster: old}"), LIFECYCLE)
    assert running.samples()[sample("memcached_up", server=server.address, cluster="old")] == 1
    (shared / "exporter.yml").write_text(listing(server, more=", labels: {zone: new}"))
    reload(running)
    samples = running.samples()
    assert samples[sample("memcached_up", server=server.address, zone="new")] == 1
    assert not any("cluster" in dict(labels) for _, labels in samples)


def test_changed_module(memcached: Start, configured: Configured, shared: Path) -> None:
    """A module's new sections are read from the next scrape on, without a restart."""
    server = memcached()
    running = configured(listing(server), LIFECYCLE)
    slabs = sample("memcached_scrape_section_success", server=server.address, section="slabs")
    assert running.samples()[slabs] == 1
    (shared / "exporter.yml").write_text(
        listing(server) + "modules: {default: {sections: [stats]}}\n"
    )
    reload(running)
    samples = running.samples()
    assert slabs not in samples
    assert samples[sample("memcached_up", server=server.address)] == 1


def test_targets_follow_the_list_of_what_is_allowed(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """A target that is allowed no more is refused at once, and its connection closed."""
    server = memcached()
    running = configured("servers: []\nscrape: {allow: [127.0.0.1]}\n", LIFECYCLE)
    before = at_rest(server)
    assert running.samples(f"/scrape?target={server.address}")[sample("memcached_up")] == 1
    assert count(server, "curr_connections") == before + 1
    (shared / "exporter.yml").write_text("servers: []\n")
    reload(running)
    assert running.request(f"/scrape?target={server.address}").status == 403
    assert eventually(lambda: count(server, "curr_connections") == before)


def test_paths_and_names_follow(memcached: Start, configured: Configured, shared: Path) -> None:
    """New paths and names of metrics are those of the next request."""
    server = memcached()
    running = configured(listing(server), LIFECYCLE)
    (shared / "exporter.yml").write_text(
        listing(server) + "metrics: {legacy_names: true}\nweb: {telemetry_path: /stats}\n"
    )
    reload(running)
    assert running.request("/metrics").status == 404
    assert sample("memcached_up", server=server.address) in running.samples("/stats")


def test_flags_stay_above_the_file(memcached: Start, configured: Configured, shared: Path) -> None:
    """What a flag says is not changed by a new file."""
    first, second = memcached(), memcached()
    running = configured("{}\n", LIFECYCLE, f"--memcached.address={first.address}")
    (shared / "exporter.yml").write_text(listing(second) + "web: {enable_lifecycle: false}\n")
    reload(running)
    reload(running)
    assert servers_on(running.samples()) == {first.address}


def test_secrets_and_certificates_that_are_gone(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """A file of certificates that is missing at a reload keeps the old configuration."""
    server = memcached()
    running = configured(listing(server), LIFECYCLE)
    (shared / "exporter.yml").write_text(
        listing(server) + "modules: {x: {tls: {ca_file: gone.pem}}}\n"
    )
    answer = running.request("/-/reload", method="POST")
    assert answer.status == 500
    assert f"{shared}/gone.pem: no such file or directory" in answer.text
    assert running.samples()[sample("memcached_up", server=server.address)] == 1


@pytest.mark.parametrize("text", ["servers: [", "servers: 1\n", "nonsense", "{a: b}\n"])
def test_broken_file_at_the_start(shared: Path, text: str) -> None:
    """Without a good configuration the daemon does not start: status 2 and one line."""
    path = shared / "exporter.yml"
    path.write_text(text)
    assert f": {path}:" in refused_start(f"--config.file={path}")


def test_a_server_that_comes_back(memcached: Start, configured: Configured, shared: Path) -> None:
    """A server that was removed and is added again is read over a new connection."""
    first, second = memcached(), memcached()
    running = configured(listing(first, second), LIFECYCLE)
    running.samples()
    for text in (listing(first), listing(first, second)):
        (shared / "exporter.yml").write_text(text)
        reload(running)
    assert running.samples()[sample("memcached_up", server=second.address)] == 1
    assert running.samples()[sample("memcached_up", server=first.address)] == 1


def test_start_without_any_server_and_reload(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """A server that is refused at first and replaced by a reload leaves no trace on the page."""
    server = memcached()
    running = configured(f'servers: [{{address: "127.0.0.1:{free_port()}"}}]\n', LIFECYCLE)
    running.samples()
    (shared / "exporter.yml").write_text(listing(server))
    reload(running)
    samples = running.samples()
    assert servers_on(samples) == {server.address}
    # The counters of the exporter itself go on.
    assert samples[sample("memcached_exporter_scrape_errors_total", reason="refused")] == 1
