"""``make demo`` for real: every part runs, alerts reach who is told, and nothing is left behind."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode

import pytest
from PIL import Image

from demo.load import CROWDED, HEALTHY, SHAPES, TOO_SMALL
from demo.stack import DemoError, ports
from grafana.preview.__main__ import main as preview
from grafana.preview.board import DASHBOARDS, WIDTH, View, draw, height, load
from grafana.preview.prometheus import Prometheus
from tests.processes import free_port
from tests.web.clients import eventually


class Demo:
    """A running demo, started as a user starts it."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        self.temporary = directory / "temporary"
        self.temporary.mkdir()
        self._said = directory / "said"
        with self._said.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "demo", "--port=0", "--interval=1", *arguments],
                stdout=output,
                stderr=output,
                env=os.environ | {"TMPDIR": str(self.temporary)},
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """All that it has printed."""
        return self._said.read_text()

    def wait_until_it_says(self, words: str) -> None:
        """Wait for words in what it prints."""
        assert eventually(lambda: words in self.said or self.process.poll() is not None, 60)
        assert words in self.said

    def place(self, name: str) -> str:
        """Return what it says of where a part is."""
        found = re.search(rf"{re.escape(name)}: +(http://127\.0\.0\.1:\d+)/", self.said)
        assert found, self.said
        return found[1]

    def server(self, name: str) -> str:
        """Return the address of one of its servers."""
        found = re.search(rf"memcached: +(127\.0\.0\.1:\d+), process \d+, {name}: ", self.said)
        assert found, self.said
        return found[1]

    def ask(self, path: str, **parameters: str) -> Any:
        """Ask the API of its Prometheus."""
        url = f"{self.place('Prometheus')}/api/v1/{path}?{urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def values(self, expr: str) -> dict[str, float]:
        """Return what an expression is now, by server."""
        found = self.ask("query", query=expr)["result"]
        return {one["metric"].get("server", ""): float(one["value"][1]) for one in found}

    @property
    def ready(self) -> bool:
        """Whether its Prometheus answers queries: it listens a little earlier."""
        with contextlib.suppress(HTTPError):
            return bool(self.ask("status/runtimeinfo"))
        return False

    def children(self) -> list[int]:
        """Return the processes that it has started."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        texts = [path.read_text() for path in tasks.glob("*/children")]
        return [int(pid) for text in texts for pid in text.split()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Start a demo, and end it if the test has not."""
    made = Demo(tmp_path_factory.mktemp("demo"), "--fast")
    try:
        made.wait_until_it_says("Stop with Ctrl-C.")
        assert eventually(lambda: made.ready, 30)
        yield made
    finally:
        if made.process.poll() is None:
            made.process.terminate()
            made.process.wait(60)


def test_all_servers_are_read(demo: Demo) -> None:
    """Prometheus has all three servers, and each of them answers."""
    wanted = {demo.server(shape.name): 1.0 for shape in SHAPES}
    assert eventually(lambda: demo.values("memcached_up") == wanted, 30)


def test_the_traffic_is_bounded(demo: Demo) -> None:
    """The load generator asks all servers, and none for more than its shape says."""
    expr = 'sum by (server) (rate(memcached_commands_total{command="get"}[10s]))'
    assert eventually(lambda: len(demo.values(expr)) == 3, 60)
    assert eventually(lambda: all(demo.values(expr).values()), 60)
    found = demo.values(expr)
    for shape in SHAPES:
        # At the top of a wave 1.4 times as many, and one more with some of the hits.
        assert found[demo.server(shape.name)] < shape.gets * 2 + 10, shape.name


def test_the_host_is_read(demo: Demo) -> None:
    """The processes of the servers are found, with their threads."""
    workers = 'memcached_thread_cpu_seconds_total{kind="worker", mode="user"}'
    expr = f"count by (server) ({workers})"
    wanted = {demo.server(shape.name): 2.0 for shape in SHAPES}
    assert eventually(lambda: demo.values(expr) == wanted, 30)


def test_alerts_reach_who_is_told(demo: Demo) -> None:
    """Alerts fire for the two troubled servers, and Alertmanager tells of them."""
    managers = demo.ask("alertmanagers")["activeAlertmanagers"]
    assert [one["url"].split("/api/")[0] for one in managers] == [demo.place("Alertmanager")]
    small, crowded = demo.server(TOO_SMALL.name), demo.server(CROWDED.name)
    demo.wait_until_it_says(f"ticket: firing, MemcachedConnectionsHigh of {crowded}")
    demo.wait_until_it_says(f"ticket: firing, MemcachedEvictionsPerSetHigh of {small}")
    firing = 'ALERTS{{alertstate="firing", alertname="Memcached{}"}}'
    assert demo.values(firing.format("ConnectionsHigh")) == {crowded: 1.0}
    assert demo.values(firing.format("EvictionsPerSetHigh")) == {small: 1.0}


def test_boards_are_drawn(demo: Demo, tmp_path: Path) -> None:
    """The preview draws all boards with what its Prometheus answers, to every query."""
    at = ["--prometheus", demo.place("Prometheus"), "--minutes", "1", "--interval", "1"]
    assert preview([*at, "--open", "--out", str(tmp_path)]) == 0
    names = {path.stem for path in DASHBOARDS.glob("*.json")}
    assert {path.stem for path in tmp_path.iterdir()} == names
    for name in names:
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.size == (WIDTH, height(load(DASHBOARDS / f"{name}.json"), opened=True))
    source = Prometheus(demo.place("Prometheus"))
    view = View(time.time(), 60, 1, {})
    paper = draw(load(DASHBOARDS / "memcached-fleet.json"), source, view)
    texts = [text.get_text() for text in paper.page.texts]
    assert texts[texts.index("Servers known") + 1] == "3"
    servers = texts[texts.index("Server", texts.index("Servers")) + 1 :][:3]
    # Those with alerts are on top; how many they have is a matter of the machine.
    assert set(servers) == {demo.server(shape.name) for shape in SHAPES}
    evictions = texts[texts.index("Evictions", texts.index("Servers")) :]
    assert evictions[1 + servers.index(demo.server(TOO_SMALL.name))] != "0 ops/s"
    assert evictions[1 + servers.index(demo.server(HEALTHY.name))] == "0 ops/s"


def test_a_query_that_is_refused_is_told(
    demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is no Prometheus gives no pictures, and one line says so."""
    url = f"{demo.place('Exporter')}"
    assert preview(["--prometheus", url, "--out", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: memcached-fleet: {url} refuses ALERTS{{")
    assert line.endswith(": HTTP 404")


def test_a_killed_server_is_news(demo: Demo) -> None:
    """Who kills a memcached sees who is told, and the rest goes on.

    MemcachedDown itself looks back two minutes.
    """
    line = next(line for line in demo.said.splitlines() if f", {HEALTHY.name}: " in line)
    found = re.search(r"process (\d+),", line)
    assert found
    assert int(found[1]) in demo.children()
    os.kill(int(found[1]), signal.SIGKILL)
    demo.wait_until_it_says(
        f"ticket: firing, MemcachedProbesFailing of {demo.server(HEALTHY.name)}"
    )
    small = demo.server(TOO_SMALL.name)
    assert demo.values("memcached_up") == dict.fromkeys((small, demo.server(CROWDED.name)), 1.0) | {
        demo.server(HEALTHY.name): 0.0
    }


def test_ctrl_c_leaves_nothing_behind(demo: Demo) -> None:
    """Ctrl-C, hit twice, ends all processes, closes all ports and removes what was stored."""
    children = demo.children()
    assert len(children) >= 5
    urls = [demo.place(name) for name in ("Exporter", "Prometheus", "Alertmanager")]
    assert list(demo.temporary.iterdir())
    for _ in range(2):
        os.killpg(demo.process.pid, signal.SIGINT)
    assert demo.process.wait(60) == 0
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    for url in urls:
        with pytest.raises(URLError):
            urllib.request.urlopen(url, timeout=5)
    assert list(demo.temporary.iterdir()) == []
    assert "Traceback" not in demo.said


def test_a_part_that_ends_is_told(tmp_path: Path) -> None:
    """When the exporter dies, the demo says so, ends the others and fails; alerts waited."""
    made = Demo(tmp_path)
    with contextlib.ExitStack() as stack:
        stack.callback(made.process.wait, 60)
        stack.callback(made.process.terminate)
        made.wait_until_it_says("Stop with Ctrl-C.")
        assert "--fast spares you the wait" in made.said
        assert eventually(lambda: made.ready, 30)
        groups = made.ask("rules", type="alert")["groups"]
        waits = {rule["name"]: rule["duration"] for group in groups for rule in group["rules"]}
        assert waits["MemcachedEvictionsPerSetHigh"] == 15 * 60
        victim: list[int] = []
        others: list[int] = []
        for pid in made.children():
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            (victim if b"\0exporter\0" in command else others).append(pid)
        (pid,) = victim
        os.kill(pid, signal.SIGKILL)
        assert made.process.wait(60) == 2
    assert "\ndemo: exporter has ended: " in made.said
    assert not [pid for pid in others if Path(f"/proc/{pid}").exists()]
    assert list(made.temporary.iterdir()) == []


def test_ending_it_while_it_starts(tmp_path: Path) -> None:
    """SIGTERM during the start leaves nothing behind either."""
    made = Demo(tmp_path)
    made.wait_until_it_says("memcached (healthy) runs")
    children = made.children()
    made.process.terminate()
    assert made.process.wait(60) == 0
    assert children
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
    assert list(made.temporary.iterdir()) == []


def test_a_taken_port_is_named() -> None:
    """Nothing is started, and the message names the port, what it is for, and the remedy."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        with pytest.raises(
            DemoError, match=rf"port {taken} of 127\.0\.0\.1, for exporter, .*--port"
        ):
            ports(taken)


def test_free_ports_differ() -> None:
    """With 0 each part has a free port of its own."""
    found = ports(0)
    numbers = [found.exporter, found.prometheus, found.alertmanager, found.notices, *found.servers]
    assert len(set(numbers)) == 7
    assert free_port() not in numbers


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--port=80", "'80' is not from 1024 to 65500"),
        ("--port=70000", "'70000' is not from 1024 to 65500"),
        ("--port=http", "'http' is not from 1024 to 65500"),
        ("--interval=0", "'0' is not a whole number of seconds"),
    ],
)
def test_bad_arguments(argument: str, message: str) -> None:
    """Nothing is started with what cannot be right."""
    command = [sys.executable, "-m", "demo", argument]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
