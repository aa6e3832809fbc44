"""Findings on pages: behind a switch, with the right labels, and gone when all is well."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from exporter.observation import history
from tests.check.test_real import connected
from tests.processes import Exporter, Memcached, parse, sample

Start = Callable[..., Exporter]
Memcacheds = Callable[..., Memcached]
NAME = "memcached_finding"


@pytest.fixture
def configured(tmp_path: Path, memcached: Memcacheds) -> tuple[Memcached, str]:
    """A server whose -A is a finding, and the flag that names its configuration."""
    server = memcached("-A", "-t", "1", "-c", "100")
    path = tmp_path / "exporter.json"
    document = {
        "servers": [{"address": server.address, "labels": {"cluster": "x"}}],
        "metrics": {"findings": True},
        "modules": {"default": {"assume_no_napi_ids": True}},
    }
    path.write_text(json.dumps(document))
    return server, f"--config.file={path}"


def test_a_finding_has_the_labels_of_its_server(
    exporter: Start, configured: tuple[Memcached, str]
) -> None:
    """On /metrics with them, by /scrape without, in both formats; in the first page already."""
    server, flag = configured
    daemon = exporter(flag)
    own = {"finding": "shutdown_on", "severity": "info"}
    labels = {"server": server.address, "cluster": "x"}
    assert daemon.samples()[sample(NAME, **own, **labels)] == 1
    target = daemon.request(f"/scrape?target={server.address}")
    assert parse(target.text)[sample(NAME, **own)] == 1
    page = daemon.request("/metrics", Accept="application/openmetrics-text").text
    families = text_string_to_metric_families(page)  # type: ignore[no-untyped-call]
    (family,) = (family for family in families if family.name == NAME)
    assert {"finding": "shutdown_on", "severity": "info", **labels} in [
        one.labels for one in family.samples
    ]


def test_a_server_that_is_down_has_none(exporter: Start, configured: tuple[Memcached, str]) -> None:
    """Nothing is known of it, and memcached_up says the rest; after a restart they are back."""
    server, flag = configured
    daemon = exporter(flag)
    assert NAME in daemon.request("/metrics").text
    server.stop()
    # Points are some seconds apart at least, so that several clients make no more of them.
    eventually_without(daemon)
    assert daemon.samples()[sample("memcached_up", server=server.address, cluster="x")] == 0


def eventually_without(daemon: Exporter) -> None:
    """Scrape until the next point is due."""
    deadline = time.monotonic() + 4 * history.LEAST_SECONDS
    while NAME in daemon.request("/metrics").text:
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_severity_follows_the_server(exporter: Start, memcached: Memcacheds) -> None:
    """What is near its limit at the first scrape is a warning in that very page."""
    server = memcached("-t", "1", "-c", "1024")
    daemon = exporter(f"--memcached.address={server.address}", "--metrics.findings")
    with connected(server, 850):
        key = sample(NAME, finding="connections_high", severity="warning", server=server.address)
        assert daemon.samples()[key] == 1


def test_without_the_switch_there_is_none(exporter: Start, memcached: Memcacheds) -> None:
    """No family, and no help text for one."""
    server = memcached("-A", "-t", "1")
    daemon = exporter(f"--memcached.address={server.address}")
    assert NAME not in daemon.request("/metrics").text


def test_a_reload_keeps_what_was_found(exporter: Start, configured: tuple[Memcached, str]) -> None:
    """The page after it has the finding still, though it is not yet time to judge anew."""
    _, flag = configured
    daemon = exporter(flag, "--web.enable-lifecycle")
    assert NAME in daemon.request("/metrics").text
    assert daemon.request("/-/reload", "POST").status == 200
    assert NAME in daemon.request("/metrics").text
