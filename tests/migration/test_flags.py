"""The official exporter's command lines start this exporter, with the same meaning."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.addresses import ListenAddress
from exporter.errors import ExporterError
from exporter.web.inherited import inherited
from exporter.web.server import listen
from tests.processes import Answer, Exporter, Memcached, parse, sample
from tests.resilience.certificates import Authority

Memcacheds = Callable[..., Memcached]
Start = Callable[..., Exporter]
UP = sample("memcached_up")


def up(daemon: Exporter, server: Memcached) -> float:
    """Return whether the server is up."""
    return daemon.samples()[sample("memcached_up", server=server.address)]


@pytest.mark.parametrize("form", ["--memcached.address={0}", "--memcached.address {0}"])
def test_the_address(exporter: Start, memcached: Memcacheds, form: str) -> None:
    """With an equals sign or a blank."""
    server = memcached("-t", "1")
    assert up(exporter(*form.format(server.address).split()), server) == 1


def test_the_socket(exporter: Start, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A path is a unix socket."""
    directory = tmp_path_factory.mktemp("m")
    path = directory / "m.sock"
    user = ["-u", "root"] if os.geteuid() == 0 else []
    server = subprocess.Popen(["memcached", "-s", str(path), "-t", "1", *user])
    try:
        deadline = time.monotonic() + 10
        while not path.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        daemon = exporter(f"--memcached.address={path}")
        assert daemon.samples()[sample("memcached_up", server=str(path))] == 1
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("timeout", ["300ms", "0.3s", "0m0.3s", "300000us"])
def test_the_timeout(exporter: Start, memcached: Memcacheds, timeout: str) -> None:
    """In all forms of Go's durations; it is what a hung server costs."""
    server = memcached("-t", "1")
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout", timeout)
    assert up(daemon, server) == 1
    server.freeze()
    found = daemon.samples()
    server.thaw()
    assert found[sample("memcached_up", server=server.address)] == 0
    took = found[sample("memcached_scrape_duration_seconds", server=server.address)]
    assert 0.29 < took < 0.9


def test_the_pid_file(exporter: Start, memcached: Memcacheds, tmp_path: Path) -> None:
    """The metrics of the process come under their official names; an empty one is none."""
    server = memcached("-t", "1")
    file = tmp_path / "memcached.pid"
    file.write_text(f"{server.process.pid}\n")
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.pid-file", str(file))
    found = {name for name, _ in daemon.samples()}
    official = ("cpu_seconds_total", "max_fds", "open_fds", "resident_memory_bytes")
    more = ("start_time_seconds", "virtual_memory_bytes")
    assert {f"memcached_process_{name}" for name in (*official, *more)} <= found
    assert up(exporter(f"--memcached.address={server.address}", "--memcached.pid-file="), server)


def test_tls(exporter: Start, memcached: Memcacheds, tmp_path: Path) -> None:
    """All flags, and the negations that its command line knows."""
    tmp_path.chmod(0o755)
    authority = Authority(tmp_path)
    server = memcached(
        *authority.issue("DNS:cache.internal").serve(
            "ssl_verify_mode=2", f"ssl_ca_cert={authority.ca}"
        )
    )
    mine = authority.issue("DNS:monitor")
    address, tls = f"--memcached.address={server.address}", "--memcached.tls"
    files = (f"{tls}.cert-file={mine.cert}", f"{tls}.key-file={mine.key}")
    named = (f"{tls}.ca-file={authority.ca}", f"{tls}.server-name=cache.internal")
    assert up(exporter(address, f"{tls}.enable", *files, *named), server) == 1
    blind = (f"{tls}.enable", f"{tls}.insecure-skip-verify", *files)
    assert up(exporter(address, *blind), server) == 1
    sure = (f"{tls}.enable", f"--no-{tls[2:]}.insecure-skip-verify", *files, *named)
    assert up(exporter(address, *sure), server) == 1


def test_without_tls(exporter: Start, memcached: Memcacheds) -> None:
    """Switched off in so many words, with the empty defaults of the other flags."""
    server = memcached("-t", "1")
    off = ("--no-memcached.tls.enable", "--memcached.tls.ca-file=", "--memcached.tls.cert-file=")
    assert up(exporter(f"--memcached.address={server.address}", *off), server) == 1


def test_paths(exporter: Start, memcached: Memcacheds) -> None:
    """Metrics and targets are where one wants them."""
    server = memcached("-t", "1")
    daemon = exporter(
        f"--memcached.address={server.address}",
        *("--web.telemetry-path=/other", "--web.scrape-path=/probe"),
    )
    assert sample("memcached_up", server=server.address) in parse(daemon.request("/other").text)
    target: Answer = daemon.request(f"/probe?target={server.address}")
    assert parse(target.text)[UP] == 1


def test_several_listen_addresses(memcached: Memcacheds, tmp_path: Path) -> None:
    """The flag repeats, also with IPv6 in brackets."""
    server = memcached("-t", "1")
    daemon = Exporter(
        tmp_path / "log",
        *(f"--memcached.address={server.address}", "--web.listen-address=[::1]:0"),
        *("--log.format=json", "--log.level=info"),
    )
    try:
        deadline = time.monotonic() + 10
        while daemon.log.count("listening") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert '"address": "[::1]:' in daemon.log
        assert up(daemon, server) == 1
    finally:
        daemon.stop()


@pytest.mark.parametrize("flag", ["--version", "-h", "--help"])
def test_flags_that_print(flag: str) -> None:
    """They print and end well."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", flag],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert done.stdout.startswith(
        "memcached-exporter, version " if flag == "--version" else "usage: memcached-exporter"
    )


def test_an_empty_address_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """The official exporter takes it for none; here a variable that is not set is found at once."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", "--memcached.address="],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.returncode == 2
    assert "for no server at all: `servers: []` in the configuration file" in done.stderr


def activated(*arguments: str, count: int = 1, descriptor: int) -> subprocess.Popen[str]:
    """Start the exporter as systemd does: the socket is descriptor 3, and variables say so."""
    program = (
        "import os, sys\n"
        f"os.dup2({descriptor}, 3)\n"
        f"os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='{count}')\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'exporter', *sys.argv[1:]])\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, "--web.systemd-socket", *arguments],
        pass_fds=[descriptor],
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_socket_of_systemd(memcached: Memcacheds) -> None:
    """It serves on what it was given, and listens nowhere else."""
    server = memcached("-t", "1")
    given = listen(ListenAddress("127.0.0.1", 0))
    port = given.getsockname()[1]
    process = activated(f"--memcached.address={server.address}", descriptor=given.fileno())
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.settimeout(20)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            page = client.makefile().read()
        assert f'memcached_up{{server="{server.address}"}} 1' in page
        process.terminate()
        _, log = process.communicate(timeout=20)
        assert log.count("event=listening") == 1
        assert f"address=127.0.0.1:{port}" in log
    finally:
        process.kill()
        process.wait()
        given.close()


def test_no_socket_of_systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one, or with one for another process, it says so and ends."""
    for variables in ({}, {"LISTEN_FDS": "1", "LISTEN_PID": "1"}, {"LISTEN_FDS": "x"}):
        for name in ("LISTEN_FDS", "LISTEN_PID"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ExporterError, match=r"no socket: start the exporter by a \.socket"):
            inherited()


def test_a_socket_that_is_none_of_ours() -> None:
    """A datagram socket cannot serve pages: one line names the descriptor and the remedy."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wrong:
        process = activated(descriptor=wrong.fileno())
        _, error = process.communicate(timeout=20)
    assert process.returncode == 1
    assert error == (
        "memcached-exporter: descriptor 3 is no listening TCP socket: write ListenStream= with a"
        " port in the .socket unit\n"
    )
