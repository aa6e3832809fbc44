"""``/metrics`` with real servers: deadline, health beside it, odd labels."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.web.routes import budget
from tests.processes import Exporter, FakeMemcached, Memcached, parse, sample
from tests.web.clients import parse_openmetrics

NONSENSE = [
    "abc",
    "-1",
    "0",
    "0.0",
    "1e9",
    "inf",
    "nan",
    "",
    " ",
    "1s",
    "1,5",
    "+1",
    "0x1",
    "1 1",
    "\u0661",
    "9" * 500,
]


class Pair(NamedTuple):
    """A running server, a stopped one, and a daemon for each."""

    running: Memcached
    stopped: Memcached
    up: Exporter
    down: Exporter


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers, of which one is stopped after its first scrape."""
    directory = tmp_path_factory.mktemp("pair")
    started: list[Memcached | Exporter] = []
    try:
        servers = Memcached(), Memcached()
        started += servers
        for i, server in enumerate(servers):
            log = directory / f"{i}.log"
            started.append(Exporter(log, f"--memcached.address={server.address}"))
        pair = Pair(*started)  # type: ignore[arg-type]
        for daemon in (pair.up, pair.down):
            assert 1 in daemon.samples().values()
        pair.stopped.freeze()
        yield pair
    finally:
        for process in started:
            process.stop()


def up(server: Memcached) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the key of a server's ``memcached_up``."""
    return sample("memcached_up", server=server.address)


@pytest.mark.parametrize("seconds", ["1", "0.5", "0.2", "10", "1.000"])
def test_a_healthy_server_is_up_within_prometheus_timeout(pair: Pair, seconds: str) -> None:
    """The margin never eats the whole timeout: what takes milliseconds succeeds (B23)."""
    for _ in range(3):
        answer = pair.up.request("/metrics", X_Prometheus_Scrape_Timeout_Seconds=seconds)
        assert answer.status == 200
        if parse(answer.text)[up(pair.running)] == 1:
            return
    pytest.fail("a server that answers is never up")


@pytest.mark.parametrize("path", ["/metrics", "/scrape"])
@pytest.mark.parametrize("seconds", ["0.9", "0.5", "0.2"])
def test_a_hung_server_is_down_before_prometheus_gives_up(
    pair: Pair, path: str, seconds: str
) -> None:
    """The answer that says 0 comes before the time in the header is over (B22)."""
    fastest = 10.0
    for _ in range(3):
        began = time.monotonic()
        target = f"{path}?target={pair.stopped.address}" if path == "/scrape" else path
        answer = pair.down.request(target, X_Prometheus_Scrape_Timeout_Seconds=seconds)
        fastest = min(fastest, time.monotonic() - began)
        assert answer.status == 200
        values = {name: value for (name, _), value in parse(answer.text).items()}
        assert values["memcached_up"] == 0
    assert fastest < float(seconds)


def test_the_modules_timeout_caps_prometheus_timeout(pair: Pair) -> None:
    """A longer time in the header lets no hung server take longer than its module says (B22)."""
    began = time.monotonic()
    answer = pair.down.request("/metrics", X_Prometheus_Scrape_Timeout_Seconds="30")
    assert parse(answer.text)[up(pair.stopped)] == 0
    assert 0.9 < time.monotonic() - began < 5


@pytest.mark.parametrize("seconds", [text for text in NONSENSE if text.isascii()])
def test_a_nonsense_timeout_is_ignored(pair: Pair, seconds: str) -> None:
    """A header that is no sensible time changes nothing (B22)."""
    answer = pair.up.request("/metrics", X_Prometheus_Scrape_Timeout_Seconds=seconds)
    assert answer.status == 200
    assert parse(answer.text)[up(pair.running)] == 1


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_means_no_limit(text: str) -> None:
    """What is no sensible time is the same as no header."""
    assert budget(text) == budget("") >= 60


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("10", 9, 9.9), ("1", 0.7, 0.95), ("0.5", 0.3, 0.48), ("0.2", 0.1, 0.19), ("0.01", 0, 0.01)],
)
def test_the_margin(text: str, least: float, most: float) -> None:
    """Some of the time is kept back for the answer, most of it is left for the server."""
    assert least < budget(text) < most


@settings(deadline=None)
@given(st.one_of(st.text(), st.floats().map(str), st.decimals().map(str)))
def test_any_header_gives_a_usable_budget(text: str) -> None:
    """The budget is positive and finite for every header, and within a time that is given."""
    seconds = budget(text)
    assert 0 < seconds < 1_000_000
    if text.isascii() and text.isdecimal() and 0 < int(text) < 3600:
        assert seconds < int(text)


@pytest.mark.parametrize(("path", "text"), [("/-/healthy", "healthy\n"), ("/-/ready", "ready\n")])
def test_health_does_not_depend_on_memcached(pair: Pair, path: str, text: str) -> None:
    """Probes are answered at once while the server hangs, also during a scrape of it (D06)."""
    for _ in range(5):
        began = time.monotonic()
        answer = pair.down.request(path)
        assert (answer.status, answer.text) == (200, text)
        assert time.monotonic() - began < 0.5


def test_pages_beside_metrics_read_no_server(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """Landing page and probes send nothing to memcached, not even a connection (C02, D06)."""
    commands = tmp_path / "commands"
    server = fake("--log", str(commands))
    daemon = exporter(f"--memcached.address={server.address}")
    for path in ("/", "/-/healthy", "/-/ready", "/nope"):
        daemon.request(path)
    assert not commands.exists()
    assert daemon.request("/metrics?x=1&collect[]=y").text.count("memcached_up{") == 1
    assert commands.exists()


@pytest.mark.parametrize("accept", ["text/plain", "application/openmetrics-text"])
def test_odd_label_values_come_through(
    fake: Callable[..., FakeMemcached],
    exporter: Callable[..., Exporter],
    tmp_path: Path,
    accept: str,
) -> None:
    """Quotes, backslashes, line ends and other scripts in labels survive parsing (C07)."""
    odd = 'a "b" \\n \\\\ \n é 漢 {x="y"}, 1 # \\'
    server = fake("--set", 'version 1.6 "q\\z')
    socket_path = '/run/a "b" {c}\\n é.sock'
    config = tmp_path / "exporter.yml"
    servers = [
        {"address": server.address, "labels": {"odd": odd, "empty": ""}},
        {"address": socket_path},
    ]
    config.write_text(json.dumps({"servers": servers}))
    page = exporter(f"--config.file={config}").request("/metrics", Accept=accept).text
    found = parse_openmetrics(page) if "openmetrics" in accept else parse(page)
    ours = {"server": server.address, "odd": odd, "empty": ""}
    assert found[sample("memcached_up", **ours)] == 1
    assert found[sample("memcached_up", server=socket_path)] == 0
    version = sample("memcached_version_info", version='1.6 "q\\z', pointer_size="64", **ours)
    assert found[version] == 1
