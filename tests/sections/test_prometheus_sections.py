"""A real Prometheus scrapes a page with all sections, in both formats, and computes with it."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.processes import Exporter, Memcached
from tests.sections.support import ALL, ask, configured
from tests.test_prometheus import Prometheus, TextOnly
from tests.web.clients import eventually

SCRAPE_CONFIG = """
global: {{scrape_interval: 700ms, scrape_timeout: 700ms}}
scrape_configs:
- job_name: openmetrics
  static_configs: [{{targets: ['{exporter}']}}]
- job_name: text
  static_configs: [{{targets: ['{text}']}}]
"""
JOBS = ("openmetrics", "text")


class World(NamedTuple):
    """A server with everything switched on, the daemon, and Prometheus."""

    server: Memcached
    exporter: Exporter
    prometheus: Prometheus

    def value(self, expression: str) -> float:
        """Return the one value of a query."""
        (number,) = self.prometheus.query(expression).values()
        return number


def filled() -> Memcached:
    """Start a server that tracks sizes and counts per prefix, and store items of known sizes."""
    server = Memcached("-o", "track_sizes")
    assert ask(server, b"stats detail on\r\n", b"OK\r\n")
    with contextlib.closing(server.client()) as client:
        for number in range(100):  # items of some 110 bytes, and of some 960
            client.set(f"a:{number:02}", b"x" * 50, noreply=False)
            client.set(f"user:{number:03}", b"x" * 900, noreply=False)
        client.get("user:001")
    return server


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start all, and wait until both formats were scraped twice."""
    directory: Path = tmp_path_factory.mktemp("prometheus-sections")
    with contextlib.ExitStack() as stack:

        def keep(process: Any) -> Any:
            stack.callback(process.stop)
            return process

        server = keep(filled())
        module = {
            "sections": list(ALL),
            "top_clients": 5,
            "probe": {"interval": "20ms", "canary_key": "canary:key"},
        }
        flag = configured(
            directory, modules={"default": module}, servers=[{"address": server.address}]
        )
        exporter = keep(Exporter(directory / "exporter.log", flag))
        text = keep(TextOnly(exporter))
        addresses = {"exporter": f"127.0.0.1:{exporter.port}", "text": text.address}
        prometheus = keep(Prometheus(directory, SCRAPE_CONFIG.format(**addresses)))
        assert eventually(
            lambda: [target["health"] for target in prometheus.targets()] == ["up"] * 2, 30
        ), prometheus.targets()
        prometheus.wait_for_a_scrape()
        yield World(server, exporter, prometheus)


def test_no_scrape_fails(watched: World) -> None:
    """Prometheus has no error to tell of either format."""
    targets = watched.prometheus.targets()
    assert [target["lastError"] for target in targets] == ["", ""]
    assert "Traceback" not in watched.exporter.log


@pytest.mark.parametrize("job", JOBS)
def test_all_series_arrive(watched: World, job: str) -> None:
    """Each sample of the page is a series in Prometheus, those of all sections included."""
    watched.prometheus.wait_for_a_scrape()
    series = set(watched.exporter.samples())
    kept = set(watched.prometheus.query(f'{{job="{job}",__name__=~"memcached_.*"}}'))
    ours = {key for key in series if key[0].startswith("memcached_")}
    # The idle time of clients changes the labels of a few connections between two scrapes.
    moving = {key for key in kept ^ ours if key[0] == "memcached_open_connections"}
    assert kept ^ ours == moving
    names = {name for name, _ in kept}
    assert {"memcached_client_connections", "memcached_item_size_bytes_bucket"} <= names
    assert {"memcached_prefix_sets_total", "memcached_probe_duration_seconds_count"} <= names


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(("quantile", "right"), [(0.25, 96.0), (0.75, 768.0), (1.0, 1024.0)])
def test_quantiles_of_item_sizes(watched: World, job: str, quantile: float, right: float) -> None:
    """Without a sum, and without rate, histogram_quantile gives sizes between the buckets."""
    expression = f'histogram_quantile({quantile}, memcached_item_size_bytes_bucket{{job="{job}"}})'
    assert watched.value(expression) == pytest.approx(right, rel=0.03)


@pytest.mark.parametrize("job", JOBS)
def test_buckets_of_item_sizes(watched: World, job: str) -> None:
    """The buckets have the numbers of items that were stored, and of the canary."""
    found = {
        dict(labels)["le"]: number
        for (_, labels), number in watched.prometheus.query(
            f'memcached_item_size_bytes_bucket{{job="{job}"}}'
        ).items()
    }
    small = found["128"]
    assert found["64"] == 0
    assert found["512"] == small
    assert found["1024"] == found["+Inf"] == small + 100


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("operation", ["noop", "get"])
def test_quantiles_of_probes(watched: World, job: str, operation: str) -> None:
    """The latency that clients see can be computed as people are used to."""
    own = f'job="{job}",operation="{operation}"'
    expression = (
        f"histogram_quantile(0.99, rate(memcached_probe_duration_seconds_bucket{{{own}}}[1m]))"
    )

    def is_there() -> bool:
        values = list(watched.prometheus.query(expression).values())
        return len(values) == 1 and not math.isnan(values[0])

    assert eventually(is_there, 20)
    assert 0 < watched.value(expression) <= 1
    mean = f"memcached_probe_duration_seconds_sum{{{own}}} / memcached_probe_duration_seconds_count"
    assert 0 < watched.value(f"{mean}{{{own}}}") < 1


@pytest.mark.parametrize("job", JOBS)
def test_sums_over_states(watched: World, job: str) -> None:
    """Open connections add up to what the server itself calls its current connections."""
    watched.prometheus.wait_for_a_scrape()
    total = f'sum(memcached_open_connections{{job="{job}",state!="conn_listening"}})'
    current = f'sum(memcached_current_connections{{job="{job}"}})'
    assert eventually(lambda: watched.value(total) == watched.value(current), 20)
    clients = f'sum(memcached_client_connections{{job="{job}"}})'
    assert eventually(lambda: watched.value(clients) == watched.value(total), 20)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("memcached_item_size_bytes", {"histogram", "gaugehistogram"}),
        ("memcached_probe_duration_seconds", {"histogram"}),
        ("memcached_open_connections", {"gauge"}),
        ("memcached_version_info", {"gauge", "info"}),
    ],
)
def test_types_arrive(watched: World, name: str, kinds: set[str]) -> None:
    """Prometheus is told the types, those of distributions included."""
    found = watched.prometheus.get("metadata", limit="10000")
    entries = found.get(name, []) + found.get(name.removesuffix("_info"), [])
    assert {entry["type"] for entry in entries} == kinds
