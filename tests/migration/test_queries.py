"""What users of the official exporter ask Prometheus for is answered after the switch."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.memcached.oracle import pairs
from tests.processes import Exporter, Memcached, sample
from tests.sections.support import replies
from tests.sections.test_legacy_pages import OFFICIAL, OUTCOMES
from tests.sections.wire import recorded_server
from tests.test_prometheus import Prometheus
from tests.web.clients import eventually

RECORDED = ("deb1618-default", "deb1618-extstore", "new-proxy")
PLAIN, STORING, PROXY = RECORDED
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
scrape_configs:
- job_name: memcached
  static_configs: [{{targets: ['{exporter}']}}]
- job_name: targets
  metrics_path: /scrape
  static_configs: [{{targets: [{targets}]}}]
  relabel_configs:
  - {{source_labels: [__address__], target_label: __param_target}}
  - {{source_labels: [__param_target], target_label: instance}}
  - {{target_label: __address__, replacement: '{exporter}'}}
"""
MIXIN = {
    "memcached_up == 0": None,
    "(memcached_current_connections / memcached_max_connections * 100) > 80": None,
    "sum without (slab) (rate(memcached_slab_items_outofmemory_total[1m])) > 0": None,
    'sum(rate(memcached_commands_total{command="get",status="hit"}[1m]))'
    ' / sum(rate(memcached_commands_total{command="get"}[1m]))': 0.75,
    "topk(20, max by(job, instance)(memcached_current_connections / memcached_max_connections))"
    " > 0": True,
    "sum by(command,status)(rate(memcached_commands_total[1m])) > 0": True,
    "sum by(instance)(rate(memcached_items_total[1m])) > 0": True,
    "sum by(instance)(rate(memcached_items_evicted_total[1m]))": True,
    "sum by(instance)(rate(memcached_process_user_cpu_seconds_total[1m])"
    " + rate(memcached_process_system_cpu_seconds_total[1m]))": True,
    "sum by(instance)(memcached_current_bytes)": True,
    "sum by(instance)(memcached_current_items)": True,
    "min(memcached_max_connections)": True,
    "sum by(instance)(rate(memcached_read_bytes_total[1m]))"
    " + sum by(instance)(rate(memcached_written_bytes_total[1m])) > 0": True,
    "memcached_version": True,
    "memcached_uptime_seconds > 0": True,
    "memcached_current_bytes / memcached_limit_bytes": True,
}
"""Expressions of the mixin for the official exporter and of common dashboards: nothing to see when
all is well, a number, or any data."""


class World(NamedTuple):
    """Recorded servers of three kinds, a real one, and who reads them."""

    addresses: dict[str, str]
    """Of the recorded servers by name."""
    real: Memcached
    exporter: Exporter
    prometheus: Prometheus


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start all parts; make traffic between two scrapes."""
    directory = tmp_path_factory.mktemp("migration")
    with contextlib.ExitStack() as stack:
        servers = {case: stack.enter_context(recorded_server(case)) for case in RECORDED}
        real = Memcached("-o", "temporary_ttl=61", "-t", "1")
        stack.callback(real.stop)
        addresses = {case: server.address for case, server in servers.items()}
        given = [*addresses.values(), real.address]
        exporter = Exporter(
            directory / "exporter.log",
            *(f"--memcached.address={address}" for address in given),
            *("--memcached.assume-no-napi-ids", "--metrics.legacy-names"),
        )
        stack.callback(exporter.stop)
        quoted = ", ".join(f"'{address}'" for address in given)
        text = CONFIG.format(exporter=f"127.0.0.1:{exporter.port}", targets=quoted)
        prometheus = Prometheus(directory, text)
        stack.callback(prometheus.stop)
        assert eventually(lambda: len(prometheus.targets()) == len(given) + 1, 30)
        prometheus.wait_for_a_scrape()
        _traffic(real)
        prometheus.wait_for_a_scrape()
        yield World(addresses, real, exporter, prometheus)


def _traffic(server: Memcached) -> None:
    with contextlib.closing(server.client()) as client:
        client.set("there", b"x" * 100, noreply=False)
        for _ in range(75):
            client.get("there")
        for number in range(25):
            client.get(f"missing{number}")


@pytest.mark.parametrize("name", OFFICIAL)
def test_every_official_family_answers(world: World, name: str) -> None:
    """By its name, with its labels and no others of its own, on /metrics and by /scrape."""
    _, labels = OFFICIAL[name]
    found = world.prometheus.query(name)
    assert found
    assert all(math.isfinite(value) for value in found.values())
    for way in ("server", "target"):
        own = [dict(key[1]) for key in found if way in dict(key[1])]
        assert own, way
        assert {frozenset(one.keys() - {way}) for one in own} == {frozenset(labels)}


@pytest.mark.parametrize(("command", "status"), sorted(OUTCOMES))
def test_every_pair_of_command_and_status_answers(world: World, command: str, status: str) -> None:
    """With the number of the server's own statistics, as the official exporter computes it."""
    found = world.prometheus.query(
        f'memcached_commands_total{{command="{command}",status="{status}"}}'
    )
    stats = pairs(replies(PLAIN)["stats"])
    key = "cmd_flush" if command == "flush" else f"{command}_{_STATUS[status]}"
    if (command, status) == ("set", "hit"):
        cas = sum(int(stats[f"cas_{how}"]) for how in ("hits", "misses", "badval"))
        expected = int(stats["cmd_set"]) - cas
    else:
        expected = int(stats[key])
    for way in ("server", "target"):
        labels = {way: world.addresses[PLAIN], "command": command, "status": status}
        assert found[sample("memcached_commands_total", **labels)] == expected


_STATUS = {"hit": "hits", "miss": "misses", "badval": "badval"}


@pytest.mark.parametrize(
    ("name", "case", "key"),
    [
        ("memcached_version", PLAIN, ""),
        ("memcached_extstore_bytes_used", STORING, "extstore_bytes_used"),
        ("memcached_extstore_io_queue_depth", STORING, "extstore_io_queue"),
        ("memcached_proxy_backend_total", PROXY, "proxy_backend_total"),
        ("memcached_proxy_conn_requests_total", PROXY, "proxy_conn_requests"),
        ("memcached_current_connections", PLAIN, "curr_connections"),
        ("memcached_malloced_bytes", PLAIN, ""),
    ],
)
def test_central_values(world: World, name: str, case: str, key: str) -> None:
    """They are those of the server, in the official exporter's unit."""
    given = replies(case)
    stats, slabs = pairs(given["stats"]), pairs(given.get("slabs", b""))
    told = {
        "memcached_version": "1",
        "memcached_malloced_bytes": slabs.get("total_malloced", ""),
    }
    expected = float(told.get(name) or stats[key])
    found = world.prometheus.query(name)
    values = {v for k, v in found.items() if dict(k[1]).get("target") == world.addresses[case]}
    assert values == {expected}


@pytest.mark.parametrize("expression", MIXIN)
def test_common_expressions(world: World, expression: str) -> None:
    """Those of the mixin's alerts and boards have data, and the right numbers where one is known.

    Recorded servers stand still, so what moves is the real one.
    """
    found = world.prometheus.query(expression)
    expected = MIXIN[expression]
    if expected is None:
        assert found == {}
    elif expected is True:
        assert found
    else:
        assert list(found.values()) == [pytest.approx(expected)]


def test_up_means_the_same(world: World, tmp_path: Path) -> None:
    """Of a server that is down, `up` is 1 and memcached_up is 0, as with the official exporter."""
    assert {*world.prometheus.query("up").values()} == {1.0}
    world.real.freeze()
    try:
        world.prometheus.wait_for_a_scrape()
        found = world.prometheus.query("memcached_up == 0")
        assert sample("memcached_up", server=world.real.address) in found
        assert {*world.prometheus.query('up{job="memcached"}').values()} == {1.0}
    finally:
        world.real.thaw()
