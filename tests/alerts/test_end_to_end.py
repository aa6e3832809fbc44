"""From memcached to who is told: all parts are real, and only the times are shorter.

What takes an hour in the shipped rules takes a minute here, see ``hurried``.
"""

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from exporter.health.rules.all_rules import FILES
from exporter.health.rules.render import rule_file
from exporter.health.thresholds import HitRate, Latency, Thresholds
from tests.alerts.stack import Alertmanager, Notice, Receiver
from tests.processes import Exporter, Memcached, free_port
from tests.test_prometheus import Prometheus
from tests.web.clients import eventually

HURRY = 60
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
THRESHOLDS = Thresholds(hit_rate=HitRate(warm_up=1), latency=Latency(p99=10, mean=10))
"""How fast the machine of the tests is, and what else it does, is none of them."""
GROUPING = {"group_wait": "100ms", "group_interval": "1s"}
PATIENCE = 40.0
"""Seconds in which an alert should fire and end, on a busy machine."""

SCRAPE_CONFIG = """
global: {{scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}}
rule_files: ['rules-*.yml']
alerting:
  alertmanagers:
  - static_configs: [{{targets: ['{alertmanager}']}}]
scrape_configs:
- job_name: memcached
  static_configs: [{{targets: ['{exporter}']}}]
- job_name: elsewhere
  static_configs: [{{targets: ['{mortal}']}}]
- job_name: targets
  metrics_path: /scrape
  static_configs: [{{targets: ['{killed}']}}]
  relabel_configs:
  - {{source_labels: [__address__], target_label: __param_target}}
  - {{source_labels: [__param_target], target_label: instance}}
  - {{target_label: __address__, replacement: '{exporter}'}}
"""


def hurried(duration: re.Match[str]) -> str:
    """Return a duration of Prometheus that is a sixtieth of the one given."""
    return f"{int(duration[1]) * SECONDS[duration[2]] * 1000 // HURRY}ms"


def hurried_rules(file: dict[str, Any]) -> str:
    """Return a rule file with all its times shorter, thresholds as they are."""
    duration = r"(\d+)([smhdw])"
    for rule in (rule for group in file["groups"] for rule in group["rules"]):
        rule["expr"] = re.sub(rf"(?<=\[){duration}(?=\])", hurried, rule["expr"])
        rule["expr"] = re.sub(rf"(?<=offset ){duration}\b", hurried, rule["expr"])
        assert not re.search(r"\d[smhdw][\]:]", rule["expr"]), rule["expr"]
        for name in rule.keys() & {"for", "keep_firing_for"}:
            rule[name] = re.sub(rf"^{duration}$", hurried, rule[name])
    return yaml.safe_dump(file)


class Traffic:
    """Asks a server for keys all the time, which it has (``good``) or has not."""

    def __init__(self, server: Memcached) -> None:
        self.good = True
        self._ended = threading.Event()
        self._client = server.client()
        self._client.set("present", b"x", noreply=False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(0.01):
            self._client.get("present" if self.good else "absent")

    def stop(self) -> None:
        """End it."""
        self._ended.set()
        self._thread.join()
        self._client.close()


class Crowd:
    """Connections that are held open."""

    def __init__(self, server: Memcached) -> None:
        self._place = server.host, server.port
        self._open: list[socket.socket] = []

    def grow(self, number: int) -> None:
        """Open further ones, which the server may refuse."""
        for _ in range(number):
            self._open.append(socket.create_connection(self._place, timeout=5))

    def stop(self) -> None:
        """Close all."""
        while self._open:
            self._open.pop().close()


class World(NamedTuple):
    """All parts; ``crowded``, ``killed`` and ``cold`` are behind one exporter."""

    crowded: Memcached
    crowd: Crowd
    killed: Memcached
    cold: Memcached
    traffic: Traffic
    mortal: Exporter
    """An exporter of its own, with a server that stays well."""
    mortal_arguments: tuple[str, ...]
    prometheus: Prometheus
    receiver: Receiver
    directory: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start all, wait until all is well, and let begin what takes long."""
    directory = tmp_path_factory.mktemp("alerts")
    with contextlib.ExitStack() as stack:

        def keep(part: Any) -> Any:
            stack.callback(part.stop)
            return part

        crowded, killed, cold, well = (
            keep(Memcached(*arguments)) for arguments in (("-c", "512", "-t", "1"), (), (), ())
        )
        servers = (crowded, killed, cold)
        addresses = [f"--memcached.address={server.address}" for server in servers]
        flags = ["--no-collector.host", *addresses]
        exporter = keep(Exporter(directory / "exporter.log", *flags))
        mortal_arguments = ("--no-collector.host", f"--memcached.address={well.address}")
        listen = f"127.0.0.1:{free_port()}"
        mortal = keep(Exporter(directory / "mortal.log", *mortal_arguments, listen=listen))
        receiver = keep(Receiver())
        alertmanager = keep(Alertmanager(directory, receiver.address, GROUPING))
        for name, groups in FILES.items():
            file = rule_file(groups, THRESHOLDS)
            (directory / f"rules-{name}.yml").write_text(hurried_rules(file))
        configuration = SCRAPE_CONFIG.format(
            alertmanager=alertmanager.address,
            exporter=f"127.0.0.1:{exporter.port}",
            mortal=listen,
            killed=killed.address,
        )
        traffic, crowd = keep(Traffic(cold)), keep(Crowd(crowded))
        prometheus = keep(Prometheus(directory, configuration))
        assert eventually(
            lambda: len(prometheus.query("server:memcached_connections_used:ratio")) == 5, 30
        )
        # Prometheus begins to scrape only some seconds after its start: long, at this speed.
        assert eventually(lambda: not prometheus.query("ALERTS"), 30), prometheus.query("ALERTS")
        receiver.notices.clear()
        crowd.grow(440)
        traffic.good = False
        yield World(
            crowded,
            crowd,
            killed,
            cold,
            traffic,
            mortal,
            mortal_arguments,
            prometheus,
            receiver,
            directory,
        )


def check(notice: Notice, receiver: str, severity: str, pattern: str, **labels: str) -> None:
    """Check where a notice went, its labels, its texts with the numbers, and its links."""
    name = notice.labels["alertname"]
    assert notice.receiver == receiver
    assert notice.labels == {"alertname": name, "severity": severity, **labels}
    assert re.fullmatch(r"[A-Z][^{}]+\.", notice.annotations["summary"])
    assert re.search(pattern, notice.annotations["description"]), notice.annotations
    assert "{{" not in notice.annotations["description"]
    assert "<no value>" not in notice.annotations["description"]
    assert notice.annotations["runbook_url"] == f"alerts/runbooks/{name}.md"
    assert notice.annotations["dashboard_url"].startswith("/d/memcached-")


def of(world: World, server: Memcached) -> dict[str, str]:
    """Return the labels of alerts about a server that is read from /metrics."""
    match = f'memcached_up{{server="{server.address}"}}'
    (series,) = world.prometheus.get("series", **{"match[]": match})
    return {name: series[name] for name in ("job", "instance", "server")}


def test_server_killed(world: World) -> None:
    """A server that is killed pages until it is back, however it is read; its restart does not."""
    labels = of(world, world.killed)
    world.killed.stop()
    page = world.receiver.wait("firing", "MemcachedDown", PATIENCE, server=labels["server"])
    text = rf"memcached on {labels['server']} has not answered"
    check(page, "page", "critical", text, **labels)
    target = {"job": "targets", "instance": world.killed.address}
    check(
        world.receiver.wait("firing", "MemcachedDown", PATIENCE, **target),
        "page",
        "critical",
        text,
        **target,
    )
    world.killed.restart()
    end = world.receiver.wait("resolved", "MemcachedDown", PATIENCE, server=labels["server"])
    assert end.labels == page.labels
    world.receiver.wait("resolved", "MemcachedDown", PATIENCE, **target)
    query = 'ALERTS{alertname="MemcachedRestarted", alertstate="firing"}'
    assert eventually(lambda: bool(world.prometheus.query(query)), PATIENCE)
    assert not world.receiver.find("firing", "MemcachedRestarted")


def test_exporter_killed(world: World) -> None:
    """An exporter that is killed pages under its own name, its servers do not (E14)."""
    world.mortal.stop()
    page = world.receiver.wait("firing", "MemcachedExporterDown", PATIENCE)
    instance = f"127.0.0.1:{world.mortal.port}"
    check(page, "page", "critical", instance, job="elsewhere", instance=instance)
    again = Exporter(world.directory / "again.log", *world.mortal_arguments, listen=instance)
    try:
        end = world.receiver.wait("resolved", "MemcachedExporterDown", PATIENCE)
    finally:
        again.stop()
    assert end.labels == page.labels
    assert not world.receiver.find("firing", "MemcachedDown", job="elsewhere")


def test_connections_to_the_limit(world: World) -> None:
    """Above 80 % there is a ticket, at the limit there are pages, though it refuses everybody."""
    labels = of(world, world.crowded)
    server = labels["server"]
    ticket = world.receiver.wait("firing", "MemcachedConnectionsHigh", PATIENCE, severity="warning")
    check(ticket, "ticket", "warning", rf"8\d\.\d+% of the connections .*{server}", **labels)
    assert not world.receiver.find("firing", "MemcachedConnectionsHigh", severity="critical")
    world.crowd.grow(100)
    page = world.receiver.wait("firing", "MemcachedConnectionsHigh", PATIENCE, severity="critical")
    check(page, "page", "critical", rf"9\d\.\d+% of the connections .*{server}", **labels)
    page = world.receiver.wait("firing", "MemcachedConnectionsRejected", PATIENCE)
    check(page, "page", "critical", rf"memcached on {server} refused \d+(\.\d+)? conn", **labels)
    world.receiver.wait("resolved", "MemcachedConnectionsHigh", PATIENCE, severity="warning")
    world.crowd.stop()
    world.receiver.wait("resolved", "MemcachedConnectionsHigh", PATIENCE, severity="critical")
    world.receiver.wait("resolved", "MemcachedConnectionsRejected", PATIENCE)
    assert not world.receiver.find("firing", "MemcachedDown", server=server)


def test_hit_rate_collapsed(world: World) -> None:
    """Under traffic that finds nothing any more there is a ticket, until keys are found again."""
    labels = of(world, world.cold)
    ticket = world.receiver.wait("firing", "MemcachedHitRateLow", PATIENCE)
    pattern = rf"^\d+(\.\d+)?% of the keys .*{labels['server']} .*less than 80 %"
    check(ticket, "ticket", "warning", pattern, **labels)
    world.traffic.good = True
    end = world.receiver.wait("resolved", "MemcachedHitRateLow", PATIENCE)
    assert end.labels == ticket.labels
    pages = {n.labels.get("server") for n in world.receiver.notices if n.receiver == "page"}
    assert world.cold.address not in pages


def test_afterwards(world: World) -> None:
    """Nobody was told of what is but information, and no rule failed in all that time."""
    told = {notice.labels["severity"] for notice in world.receiver.notices}
    assert told <= {"critical", "warning"}
    rules = [rule for group in world.prometheus.get("rules")["groups"] for rule in group["rules"]]
    assert len(rules) > 40
    assert {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"} == {}
    log = (world.directory / "prometheus.log").read_text()
    assert "rule failed" not in log
