"""A real Prometheus scrapes the daemon: in both formats, and target by target."""

import http.server
import json
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest

from exporter.catalogue import HOST_FAMILIES
from tests.processes import Exporter, Memcached, free_port, wait_for_port
from tests.web.clients import eventually

Key = tuple[str, frozenset[tuple[str, str]]]

SCRAPE_CONFIG = """
global: {{scrape_interval: 700ms, scrape_timeout: 700ms}}
scrape_configs:
- job_name: openmetrics
  static_configs: [{{targets: ['{exporter}']}}]
- job_name: text
  static_configs: [{{targets: ['{proxy}']}}]
- job_name: targets
  metrics_path: /scrape
  static_configs: [{{targets: ['{first}', '{second}']}}]
  relabel_configs:
  - {{source_labels: [__address__], target_label: __param_target}}
  - {{source_labels: [__param_target], target_label: instance}}
  - {{target_label: __address__, replacement: '{exporter}'}}
"""


class TextOnly:
    """Passes scrapes on, but asks for the text format whatever Prometheus would take."""

    def __init__(self, upstream: Exporter) -> None:
        types: set[str] = set()
        self.types = types

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Pass one scrape on."""
                answer = upstream.request(self.path, Accept="text/plain;version=0.0.4")
                types.add(answer.headers["Content-Type"])
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


class Prometheus:
    """A Prometheus of our own on a loopback port."""

    def __init__(self, directory: Path, configuration: str) -> None:
        config = directory / "prometheus.yml"
        config.write_text(configuration)
        port = free_port()
        self._url = f"http://127.0.0.1:{port}/api/v1"
        with (directory / "prometheus.log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={directory / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stderr=log,
                stdout=log,
                cwd=directory,
            )
        wait_for_port(port)
        assert eventually(self._ready, 30)

    def _ready(self) -> bool:
        try:
            return bool(self.get("status/runtimeinfo"))
        except urllib.error.HTTPError:
            return False

    def get(self, path: str, **parameters: str) -> Any:
        """Ask the API."""
        url = f"{self._url}/{path}?{urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> dict[Key, float]:
        """Return the value now of each series, without the labels that Prometheus adds."""
        found = {}
        for series in self.get("query", query=expression)["result"]:
            labels = dict(series["metric"])
            name = labels.pop("__name__", "")
            if labels.pop("job", "") == "targets":
                labels["target"] = labels["instance"]
            labels.pop("instance", "")
            found[name, frozenset(labels.items())] = float(series["value"][1])
        return found

    def targets(self) -> list[dict[str, Any]]:
        """Return what Prometheus says of its targets."""
        found: list[dict[str, Any]] = self.get("targets", state="active")["activeTargets"]
        return found

    def wait_for_a_scrape(self) -> None:
        """Wait until each target has been scraped wholly after now."""
        # A scrape that ends now may have begun before now.
        for _ in range(2):
            before = {target["scrapeUrl"]: target["lastScrape"] for target in self.targets()}
            assert eventually(partial(self._scraped_since, before), 20)

    def _scraped_since(self, before: dict[str, str]) -> bool:
        return all(t["lastScrape"] > before[t["scrapeUrl"]] for t in self.targets())

    def stop(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()


class World(NamedTuple):
    """Two servers, the daemon that reads them, and Prometheus."""

    first: Memcached
    second: Memcached
    exporter: Exporter
    proxy: TextOnly
    prometheus: Prometheus


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start all, and wait until everything was scraped twice."""
    directory = tmp_path_factory.mktemp("prometheus")
    started: list[Any] = []

    def keep(process: Any) -> Any:
        started.append(process)
        return process

    try:
        first, second = keep(Memcached()), keep(Memcached())
        config = directory / "exporter.yml"
        config.write_text(
            f"servers:\n- address: '{first.address}'\n"
            "  labels: {cluster: 'a \"b\" \\ c'}\n"
            f"- address: '{second.address}'\n"
        )
        exporter = keep(Exporter(directory / "exporter.log", f"--config.file={config}"))
        with_traffic(first)
        proxy = keep(TextOnly(exporter))
        configuration = SCRAPE_CONFIG.format(
            exporter=f"127.0.0.1:{exporter.port}",
            proxy=proxy.address,
            first=first.address,
            second=second.address,
        )
        prometheus = keep(Prometheus(directory, configuration))
        assert eventually(
            lambda: [target["health"] for target in prometheus.targets()] == ["up"] * 4, 30
        ), prometheus.targets()
        prometheus.wait_for_a_scrape()
        yield World(first, second, exporter, proxy, prometheus)
    finally:
        for process in reversed(started):
            process.stop()


def with_traffic(server: Memcached, number: int = 10) -> None:
    """Set and get some keys."""
    client = server.client()
    for i in range(number):
        client.set(f"key-{i}", "x" * 50, noreply=False)
        client.get(f"key-{i}")
        client.get("missing")
    client.close()


def test_no_scrape_fails(world: World) -> None:
    """Each target is up, and Prometheus has no error to tell of any."""
    targets = world.prometheus.targets()
    assert len(targets) == 4
    assert [target["lastError"] for target in targets] == [""] * 4
    result = world.prometheus.get("query", query="up")["result"]
    assert [series["value"][1] for series in result] == ["1"] * 4
    assert world.proxy.types == {"text/plain; version=0.0.4; charset=utf-8"}
    assert world.exporter.process.poll() is None
    assert "Traceback" not in world.exporter.log


@pytest.mark.parametrize("job", ["openmetrics", "text"])
def test_all_samples_arrive(world: World, job: str) -> None:
    """Prometheus counts as many samples as the page has, and keeps each of them."""
    world.prometheus.wait_for_a_scrape()
    series = set(world.exporter.samples())
    for name in ("scrape_samples_scraped", "scrape_samples_post_metric_relabeling"):
        assert list(world.prometheus.query(f'{name}{{job="{job}"}}').values()) == [len(series)]
    kept = set(world.prometheus.query(f'{{job="{job}"}}'))
    assert {key for key in kept if not re.match("scrape_|up$", key[0])} == series


@pytest.mark.parametrize("server", ["first", "second"])
def test_all_samples_of_a_target_arrive(world: World, server: str) -> None:
    """A target's series have its address as instance, and are those of its own page."""
    address = getattr(world, server).address
    series = set(world.exporter.samples(f"/scrape?target={address}"))
    selector = f'{{job="targets",instance="{address}"}}'
    count = world.prometheus.query(f"scrape_samples_scraped{selector}")
    assert list(count.values()) == [len(series)]
    kept = world.prometheus.query(selector)
    assert {
        (name, labels - {("target", address)})
        for name, labels in kept
        if not re.match("scrape_|up$", name)
    } == series


@pytest.mark.parametrize("job", ["openmetrics", "text"])
def test_values_are_ours(world: World, job: str) -> None:
    """What stays the same between two pages has the same value in Prometheus between them."""
    before = world.exporter.samples()
    world.prometheus.wait_for_a_scrape()
    between = world.prometheus.query(f'{{job="{job}"}}')
    after = world.exporter.samples()
    of_servers = {key for key in before if ("server", world.first.address) in key[1]}
    # What is measured, and what the host counts, may go and come back between two pages.
    moving = HOST_FAMILIES.keys() | {"memcached_ping_seconds", "memcached_scrape_duration_seconds"}
    own = {key for key in of_servers if key[0] not in moving}
    still = {key for key in own if before[key] == after[key]}
    assert len(still) > 0.8 * len(own)
    assert {key: between[key] for key in still} == {key: before[key] for key in still}
    for key in {key for key in of_servers if key[0].endswith("_total")}:
        assert before[key] <= between[key] <= after[key]


@pytest.mark.parametrize("job", ["openmetrics", "text", "targets"])
def test_counters_rise_with_traffic(world: World, job: str) -> None:
    """Commands that clients send are seen as a rise of their counters, no more and no less."""
    if job == "targets":
        selector = f'job="targets",instance="{world.first.address}"'
    else:
        selector = f'job="{job}",server="{world.first.address}"'

    def count(status: str) -> float:
        name = "memcached_commands_total"
        found = world.prometheus.query(f'{name}{{{selector},command="get",status="{status}"}}')
        (value,) = found.values()
        return value

    world.prometheus.wait_for_a_scrape()
    hits, misses = count("hit"), count("miss")
    with_traffic(world.first, 25)
    world.prometheus.wait_for_a_scrape()
    assert (count("hit"), count("miss")) == (hits + 25, misses + 25)
    assert hits + 25 == int(world.first.stats()["get_hits"])


def test_the_types_arrive(world: World) -> None:
    """Prometheus knows counters as counters and gauges as gauges, in both formats."""
    found = world.prometheus.get("metadata", limit="10000")
    for name, kind in [
        ("memcached_commands_total", "counter"),
        ("memcached_current_items", "gauge"),
        ("memcached_up", "gauge"),
    ]:
        # OpenMetrics describes a counter under its name without the ending.
        entries = found.get(name, []) + found.get(name.removesuffix("_total"), [])
        assert {entry["type"] for entry in entries} == {kind}
        assert all(entry["help"] for entry in entries)
