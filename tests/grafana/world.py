"""What the boards are tried on: three servers, the exporter, and Prometheus with all rules."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.error import HTTPError

import pymemcache  # type: ignore[import-untyped]

from tests.grafana.boards import ALL, ROOT, chosen
from tests.grafana.expected import Stats, whole_numbers
from tests.processes import Exporter, Memcached, free_port
from tests.test_prometheus import Prometheus
from tests.web.clients import eventually

WINDOW = "5m"
"""Of rates: longer than all that was seen, so that they tell of all traffic; as in most rules."""
TIMES = {
    "__rate_interval": WINDOW,
    "__interval": "2s",
    "__interval_ms": "2000",
    "__range": WINDOW,
    "__range_s": "300",
    "__range_ms": "300000",
}
SHORT = {"__rate_interval": "3s"}
"""A window of few scrapes, in which there was no traffic."""
STEP = 2.0
SEEN_SECONDS = 20.0
"""How much of the past is asked for."""

EXPORTER_CONFIG = """
servers:
- address: '{busy}'
  labels: {{cluster: web}}
- address: '{calm}'
- address: '{storing}'
- address: '{dead}'
modules: {{default: {{probe: {{interval: 200ms}}}}}}
"""
SCRAPE_CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: ['memcached-*.yml']
scrape_configs:
- job_name: memcached
  static_configs: [{{targets: ['{exporter}']}}]
- job_name: targets
  metrics_path: /scrape
  static_configs: [{{targets: ['{busy}', '{calm}', '{storing}', '{dead}']}}]
  relabel_configs:
  - {{source_labels: [__address__], target_label: __param_target}}
  - {{source_labels: [__param_target], target_label: instance}}
  - {{target_label: __address__, replacement: '{exporter}'}}
"""


class World(NamedTuple):
    """All parts, after the traffic."""

    busy: Memcached
    """Full, and evicts from several slab classes."""
    calm: Memcached
    """Has room for all."""
    storing: Memcached
    """Has external storage."""
    dead: str
    """The address of a server that is not there."""
    exporter: str
    prometheus: Prometheus
    stats: dict[str, Stats]
    """What each server said of itself when everything was quiet again, by its address."""
    now: float
    """A time not long after."""

    @property
    def version(self) -> str:
        """That of the servers."""
        return self.busy.stats()["version"]

    @property
    def servers(self) -> tuple[Memcached, ...]:
        """Those that answer."""
        return self.busy, self.calm, self.storing

    def one_server(self, address: str, *, by_scrape: bool) -> dict[str, str]:
        """Return the variables when one server is chosen."""
        if by_scrape:
            return TIMES | ALL | {"job": "targets", "instance": chosen(address)}
        values = {"job": "memcached", "instance": self.exporter, "server": address}
        return TIMES | {name: chosen(value) for name, value in values.items()}

    def several(self) -> dict[str, str]:
        """Return the variables when several jobs and servers are chosen one by one."""
        addresses = [server.address for server in self.servers]
        values = {"job": ("memcached", "targets"), "server": addresses}
        values["instance"] = (self.exporter, *addresses)
        return TIMES | {name: chosen(*some) for name, some in values.items()}

    def ask(self, expr: str, *, instant: bool) -> list[tuple[dict[str, str], list[float]]]:
        """Return labels and values of each series, now or over the last seconds."""
        if instant:
            data = self._answer("query", query=expr, time=str(self.now))
            assert data["resultType"] == "vector"
            return [(one["metric"], [float(one["value"][1])]) for one in data["result"]]
        times = {"start": str(self.now - SEEN_SECONDS), "end": str(self.now), "step": str(STEP)}
        data = self._answer("query_range", query=expr, **times)
        return [(one["metric"], [float(v) for _, v in one["values"]]) for one in data["result"]]

    def _answer(self, path: str, **parameters: str) -> Any:
        try:
            return self.prometheus.get(path, **parameters)
        except HTTPError as error:
            complaint = json.loads(error.read())["error"]
        raise AssertionError(f"{complaint}: {parameters['query']}")


@contextlib.contextmanager
def running(directory: Path) -> Iterator[World]:
    """Start all, send traffic when the first scrapes are over, and wait until it was seen.

    So what rates show is all that the servers have counted.
    """
    with contextlib.ExitStack() as stack:

        def keep(part: Any) -> Any:
            stack.callback(part.stop)
            return part

        busy = keep(Memcached("-m", "4", "-t", "2", "-I", "512k", "-o", "slab_automove=0"))
        calm = keep(Memcached("-c", "128", "-o", "idle_timeout=300"))
        # memcached gives its privileges up, and nobody may enter what pytest makes.
        storage = Path(stack.enter_context(TemporaryDirectory()))
        storage.chmod(0o777)
        options = f"ext_page_size=8,ext_wbuf_size=4,ext_path={storage}/pages:64M,ext_item_age=1"
        storing = keep(Memcached("-m", "16", "-o", options))
        places = {
            "busy": busy.address,
            "calm": calm.address,
            "storing": storing.address,
            "dead": f"127.0.0.1:{free_port()}",
        }
        config = directory / "exporter.yml"
        config.write_text(EXPORTER_CONFIG.format(**places))
        daemon = keep(Exporter(directory / "exporter.log", f"--config.file={config}"))
        place = f"127.0.0.1:{daemon.port}"
        for path in (ROOT / "alerts").glob("*.yml"):
            (directory / path.name).write_text(re.sub(r"\bfor: \w+", "for: 0s", path.read_text()))
        text = SCRAPE_CONFIG.format(exporter=place, **places)
        prometheus = keep(Prometheus(directory, text))
        assert eventually(lambda: len(prometheus.query("memcached_up")) == 8, 30)
        prometheus.wait_for_a_scrape()
        # Twice, as a class of slabs is counted only when it has its first item.
        for _ in range(2):
            for server, send in ((busy, crowd), (calm, mix), (storing, store)):
                with contextlib.closing(server.client()) as client:
                    send(client)
            prometheus.wait_for_a_scrape()
        stats = _settled((busy, calm, storing), prometheus)
        # The recording rules see what was scraped at their next turn.
        time.sleep(2.5)
        now = time.time()
        yield World(busy, calm, storing, places["dead"], place, prometheus, stats, now)


def _settled(servers: tuple[Memcached, ...], prometheus: Prometheus) -> dict[str, Stats]:
    """Return the statistics of servers when they, and Prometheus, come to no others."""
    before: dict[str, Stats] = {}
    for _ in range(10):
        found = {server.address: whole_numbers(server) for server in servers}
        if before and not any(_changed(before[one], found[one]) for one in found):
            break
        before = found
        prometheus.wait_for_a_scrape()
    return found


def _changed(before: Stats, after: Stats) -> bool:
    """Return whether statistics differ in what is compared with panels."""
    compared = ("bytes", "curr_connections", "curr_items", "evictions")
    return any(after[name] != before[name] for name in compared)


def crowd(client: pymemcache.Client) -> None:
    """Fill a small server with items of several sizes, some of which are read before they go."""
    for batch in range(12):
        for size in (100, 1_000, 8_000, 30_000):
            for number in range(20):
                client.set(f"{size}-{batch}-{number}", b"x" * size, noreply=False)
            client.get(f"{size}-{batch}-0")
            client.get(f"{size}-{batch}-missing")


def mix(client: pymemcache.Client) -> None:
    """Send each kind of command, with hits and misses."""
    client.set("counter", b"1", noreply=False)
    client.set("short-lived", b"x", expire=1, noreply=False)
    for number in range(100):
        client.set(f"key-{number}", b"x" * 200, noreply=False)
        client.get(f"key-{number}")
        client.get(f"key-{number}")
        client.get(f"absent-{number}")
        for key in ("counter", "absent"):
            client.incr(key, 2)
            client.decr(key, 1)
            client.touch(key, 10_000, noreply=False)
        _, token = client.gets("counter")
        client.cas("counter", b"1", token, noreply=False)
        client.delete(f"key-{number if number % 2 else 'absent'}", noreply=False)
    _until(lambda: client.get("short-lived") is None)


def store(client: pymemcache.Client) -> None:
    """Store more than fits in memory, until some of it was written to the storage, and read it."""
    for number in range(1500):
        client.set(f"large-{number}", b"x" * 10_000, noreply=False)
    _until(lambda: int(client.stats()[b"extstore_objects_written"]) > 0)
    for number in range(0, 1500, 3):
        client.get(f"large-{number}")


def _until(condition: Callable[[], bool]) -> None:
    assert eventually(condition, 20)
