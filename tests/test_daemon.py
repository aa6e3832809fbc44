"""The daemon as a whole, with real memcached servers: start, life and end."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Exporter, FakeMemcached, Memcached, free_port, sample, wait_for_port
from tests.web.clients import eventually

END_SECONDS = 5.0


def end(daemon: Exporter, number: signal.Signals) -> float:
    """Send a signal, and return the seconds until the daemon has ended well."""
    began = time.monotonic()
    daemon.process.send_signal(number)
    assert daemon.process.wait(timeout=20) == 0
    assert "Traceback" not in daemon.log
    return time.monotonic() - began


def test_a_real_server_is_up(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """A scrape of a running server says that it is up, with the server's own limit."""
    server = memcached("-m", "48")
    samples = exporter(f"--memcached.address={server.address}").samples()
    assert samples[sample("memcached_up", server=server.address)] == 1
    assert samples[sample("memcached_limit_bytes", server=server.address)] == 48 * 2**20


def test_the_exporter_may_start_first(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """A server that comes later, goes and comes again needs no restart here (D01)."""
    port = free_port()
    key = sample("memcached_up", server=f"127.0.0.1:{port}")
    daemon = exporter(f"--memcached.address=127.0.0.1:{port}")
    assert daemon.samples()[key] == 0
    server = memcached(port=port)
    assert daemon.samples()[key] == 1
    server.stop()
    assert daemon.samples()[key] == 0
    server.restart()
    assert daemon.samples()[key] == 1
    assert daemon.process.poll() is None


def test_servers_of_all_kinds_on_one_page(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """IPv4, IPv6, a name and a unix socket are read side by side, in their order."""
    path = Path("/tmp") / f"m-{os.getpid()}.sock"  # short: a socket's path has 107 bytes
    first, second = memcached(), memcached(host="::1")
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    third = subprocess.Popen(["memcached", "-s", str(path), *user], stderr=subprocess.DEVNULL)
    try:
        assert eventually(path.exists, 30), third.poll()
        addresses = [f"unix:{path}", second.address, first.address, f"localhost:{first.port}"]
        daemon = exporter(*(f"--memcached.address={address}" for address in addresses))
        page = daemon.request("/metrics").text
        ups = [line for line in page.splitlines() if line.startswith("memcached_up{")]
        assert ups == [f'memcached_up{{server="{address}"}} 1' for address in addresses]
    finally:
        third.kill()
        third.wait()
        path.unlink(missing_ok=True)


def test_each_family_is_described_once(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """With several servers, HELP and TYPE stand once, before all samples of their family."""
    servers = [memcached() for _ in range(3)]
    daemon = exporter(*(f"--memcached.address={server.address}" for server in servers))
    lines = daemon.request("/metrics").text.splitlines()
    described = [line.split(" ", 3)[2] for line in lines if line.startswith("# TYPE ")]
    assert len(described) == len(set(described))
    assert len([line for line in lines if line.startswith("# HELP ")]) == len(described)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_daemon(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], number: signal.Signals
) -> None:
    """With connections open on both sides but no request, the end comes soon, with status 0."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}")
    daemon.samples()
    kept = http.client.HTTPConnection(daemon.host, daemon.port, timeout=5)
    kept.request("GET", "/metrics")
    kept.getresponse().read()
    with socket.create_connection((daemon.host, daemon.port)):
        assert end(daemon, number) < END_SECONDS
    kept.close()
    assert "event=stopped" in daemon.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_daemon_before_its_first_request(
    exporter: Callable[..., Exporter], number: signal.Signals
) -> None:
    """A daemon that has done nothing yet ends with status 0."""
    assert end(exporter(), number) < END_SECONDS


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_daemon_that_waits_for_a_hung_server(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    number: signal.Signals,
    others: int,
) -> None:
    """A scrape that would take a minute more does not hold up the end."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        addresses = [f"127.0.0.1:{silent.getsockname()[1]}"]
        addresses += [memcached().address for _ in range(others)]
        daemon = exporter(
            *(f"--memcached.address={address}" for address in addresses),
            "--memcached.timeout=60s",
        )

        def scrape() -> None:
            with pytest.raises((OSError, http.client.HTTPException)):
                daemon.request("/metrics", timeout=20)

        waiting = threading.Thread(target=scrape)
        waiting.start()
        with silent.accept()[0]:
            assert end(daemon, number) < END_SECONDS
        waiting.join(timeout=20)
        assert not waiting.is_alive()


def test_a_scrape_under_way_is_finished(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """A page that takes more than a second is still delivered whole after the signal."""
    commands = tmp_path / "commands"
    server = fake("--mode", "trickle", "--log", str(commands))
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout=1500ms")
    statuses: list[tuple[int, bool]] = []

    def scrape() -> None:
        answer = daemon.request("/metrics")
        statuses.append((answer.status, answer.text.endswith("\n")))

    waiting = threading.Thread(target=scrape)
    waiting.start()
    assert eventually(commands.exists)
    assert end(daemon, signal.SIGTERM) < END_SECONDS
    waiting.join(timeout=20)
    assert statuses == [(200, True)]


@pytest.mark.parametrize("hang", [False, True])
def test_more_signals_change_nothing(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], hang: bool
) -> None:
    """A second and third signal, of either kind, do not spoil the end."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout=60s")
    daemon.samples()
    if hang:
        server.freeze()
        with pytest.raises(TimeoutError):
            daemon.request("/metrics", timeout=0.2)
    daemon.process.send_signal(signal.SIGTERM)
    for number in (signal.SIGINT, signal.SIGTERM):
        time.sleep(0.1)
        if daemon.process.poll() is None:
            daemon.process.send_signal(number)
    assert daemon.process.wait(timeout=END_SECONDS) == 0
    assert "Traceback" not in daemon.log


def test_a_broken_log_does_not_break_scrapes() -> None:
    """When nobody reads the log any more, lines are lost, not scrapes, and the end is good."""
    port, server = free_port(), free_port()
    command = [sys.executable, "-m", "exporter", f"--web.listen-address=127.0.0.1:{port}"]
    with subprocess.Popen(
        [*command, f"--memcached.address=127.0.0.1:{server}"], stderr=subprocess.PIPE
    ) as process:
        try:
            wait_for_port(port)
            assert process.stderr
            process.stderr.close()
            daemon = Exporter.__new__(Exporter)
            daemon.host, daemon.port = "127.0.0.1", port
            for _ in range(2):
                assert 0 in daemon.samples().values()
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=10) == 0
        finally:
            process.kill()


def test_the_port_is_free_after_the_end(exporter: Callable[..., Exporter]) -> None:
    """A new daemon takes the same port at once, although old connections linger."""
    first = exporter()
    kept = http.client.HTTPConnection(first.host, first.port, timeout=5)
    kept.request("GET", "/-/healthy")
    kept.getresponse().read()
    end(first, signal.SIGTERM)
    second = exporter(listen=f"127.0.0.1:{first.port}")
    kept.close()
    assert second.request("/-/healthy").status == 200


def test_connections_to_memcached_are_held_and_given_back(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """Many scrapes use one connection, and the end of the daemon closes it."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}")
    daemon.samples()
    before = server.stats()
    for _ in range(20):
        daemon.samples()
    after = server.stats()
    assert int(after["total_connections"]) == int(before["total_connections"]) + 1
    held = int(after["curr_connections"])
    end(daemon, signal.SIGTERM)
    assert eventually(lambda: int(server.stats()["curr_connections"]) == held - 1)


def test_many_scrapes_leave_nothing_behind(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """After two thousand targets and pages, threads and descriptors are as before (G04)."""
    server = memcached()
    config = tmp_path / "exporter.yml"
    config.write_text(
        f"servers: [{{address: '{server.address}'}}, {{address: '127.0.0.1:1'}}]\n"
        "scrape: {allow: [127.0.0.0/8]}\n"
    )
    daemon = exporter(f"--config.file={config}")
    connection = http.client.HTTPConnection(daemon.host, daemon.port, timeout=30)

    def get(path: str) -> bytes:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read()

    for i in range(10):
        get("/metrics")
        get(f"/scrape?target=127.2.0.{i + 1}:1")
    threads, descriptors = daemon.threads(), daemon.descriptors()
    for i in range(2000):
        assert b"memcached_up 0\n" in get(f"/scrape?target=127.1.{i // 250}.{i % 250 + 1}:1")
    for _ in range(200):
        get("/metrics")
    assert daemon.threads() == threads
    assert daemon.descriptors() == descriptors
    connection.close()
