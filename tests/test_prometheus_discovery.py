"""A real Prometheus that is told nothing but where /sd is, and scrapes every server."""

import contextlib
import json
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.memcached.support import memcached_on_socket
from tests.processes import Exporter, Memcached, parse, sample
from tests.test_prometheus import Prometheus
from tests.web.clients import eventually

CONFIG = """
global: {{scrape_interval: 500ms, scrape_timeout: 500ms}}
scrape_configs:
- job_name: memcached
  http_sd_configs:
  - {{url: 'http://127.0.0.1:{port}/sd', refresh_interval: 500ms}}
"""


class World(NamedTuple):
    """Servers of which files and the configuration tell, the daemon, and Prometheus."""

    static: Memcached
    listed: Memcached
    socket: str
    spare: Memcached
    targets: Path
    exporter: Exporter
    prometheus: Prometheus

    def announce(self, *groups: tuple[str, dict[str, str]]) -> None:
        """Let the file list these servers with these labels, and no others."""
        new = self.targets.with_suffix(".new")
        text = [{"targets": [address], "labels": labels} for address, labels in groups]
        new.write_text(json.dumps(text))
        new.rename(self.targets)

    def labels(self, expression: str) -> list[dict[str, str]]:
        """Return the labels of all series with a value now, without the name."""
        found = self.prometheus.get("query", query=expression)["result"]
        sets: list[dict[str, str]] = [series["metric"] for series in found]
        return [{k: v for k, v in labels.items() if k != "__name__"} for labels in sets]

    def up(self) -> set[str]:
        """Return the instances that Prometheus scrapes and that are up, by both metrics."""
        expression = "up == 1 and on(instance) memcached_up == 1"
        return {labels["instance"] for labels in self.labels(expression)}

    def refused(self) -> float:
        """Return how often Prometheus was refused the list of servers."""
        url = f"{self.prometheus._url.removesuffix('/api/v1')}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return parse(answer.read().decode())[sample("prometheus_sd_http_failures_total")]

    def known(self) -> set[str]:
        """Return the instances that Prometheus has as targets now."""
        return {target["labels"]["instance"] for target in self.prometheus.targets()}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Start all, and wait until three servers were scraped."""
    with contextlib.ExitStack() as stack:

        def server() -> Memcached:
            made = Memcached()
            stack.callback(made.stop)
            return made

        static, listed, spare = server(), server(), server()
        path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "memcached.sock"
        stack.enter_context(memcached_on_socket(path))
        targets, configuration = tmp_path / "targets.json", tmp_path / "exporter.yml"
        configuration.write_text(
            "modules: {brief: {sections: [settings]}}\n"
            f"servers: [{{address: '{static.address}', labels: {{cluster: static}}}}]\n"
            f"discovery: {{files: ['{targets}']}}\n"
        )
        targets.write_text("[]")
        flags = f"--config.file={configuration}", "--web.enable-lifecycle"
        exporter = Exporter(tmp_path / "exporter.log", *flags)
        stack.callback(exporter.stop)
        prometheus = Prometheus(tmp_path, CONFIG.format(port=exporter.port))
        stack.callback(prometheus.stop)
        made = World(static, listed, str(path), spare, targets, exporter, prometheus)
        made.announce(
            (listed.address, {"cluster": "web", "__param_module": "brief"}), (str(path), {})
        )
        expected = {static.address, listed.address, str(path)}
        assert eventually(lambda: made.up() == expected, 30), exporter.log
        yield made


def test_all_servers_are_scraped(world: World) -> None:
    """Each is up under its own address, with its labels and module, and no exporter is."""
    assert world.known() == {world.static.address, world.listed.address, world.socket}
    expected: list[dict[str, str]] = [
        {"job": "memcached", "instance": world.static.address, "cluster": "static"},
        {"job": "memcached", "instance": world.listed.address, "cluster": "web"},
        {"job": "memcached", "instance": world.socket},
    ]
    found = world.labels("memcached_up == 1")
    assert len(found) == len(expected)
    assert all(labels in found for labels in expected)
    sections = {
        instance: {
            labels["section"]
            for labels in world.labels(f'memcached_scrape_section_success{{instance="{instance}"}}')
        }
        for instance in (world.static.address, world.listed.address)
    }
    assert sections[world.listed.address] <= {"stats", "settings"}
    assert sections[world.static.address] >= {"stats", "items", "slabs"}
    assert [target["lastError"] for target in world.prometheus.targets()] == [""] * 3
    assert {target["scrapeUrl"].split("?")[0] for target in world.prometheus.targets()} == {
        f"http://127.0.0.1:{world.exporter.port}/scrape"
    }
    assert world.labels("memcached_exporter_build_info") == []


def test_servers_come_and_go(world: World) -> None:
    """A server in the file is scraped soon, one that is gone from it no more, without a restart."""
    world.announce((world.listed.address, {}), (world.spare.address, {"cluster": "new"}))
    expected = {world.static.address, world.listed.address, world.spare.address}
    assert eventually(lambda: world.known() == expected, 30)
    assert eventually(lambda: world.up() == expected, 30)
    assert {"job": "memcached", "instance": world.spare.address, "cluster": "new"} in world.labels(
        "memcached_up"
    )
    # Prometheus ends the series of a target a moment after the target itself.
    assert eventually(lambda: world.labels(f'up{{instance="{world.socket}"}}') == [], 30)
    world.announce()
    assert eventually(lambda: world.known() == {world.static.address}, 30)
    assert world.exporter.process.poll() is None
    assert world.prometheus.process.poll() is None


def test_a_server_that_is_down_is_told(world: World) -> None:
    """It stays a target whose scrapes work and say that it is down."""
    world.listed.stop()
    down = "up == 1 and on(instance) memcached_up == 0"
    assert eventually(
        lambda: [labels["instance"] for labels in world.labels(down)] == [world.listed.address], 30
    )
    world.listed.restart()
    assert eventually(lambda: world.listed.address in world.up(), 30)


def test_prometheus_keeps_what_it_had(world: World) -> None:
    """While /sd answers with an error, all targets stay and are scraped."""
    configuration = world.targets.with_name("exporter.yml")
    text = configuration.read_text().replace(
        "discovery: {", "discovery: {elasticache: [{endpoint: '127.0.0.1:1'}], "
    )
    configuration.write_text(text)
    assert world.exporter.request("/-/reload", "POST").status == 200
    assert world.exporter.request("/sd").status == 503
    before = world.refused()
    assert eventually(lambda: world.refused() >= before + 2, 30)
    world.prometheus.wait_for_a_scrape()
    expected = {world.static.address, world.listed.address, world.socket}
    assert world.known() == expected
    assert world.up() == expected
