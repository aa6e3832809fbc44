"""The command against real servers that are driven over the thresholds."""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.check.runs import ROOT, Run, run
from tests.processes import Memcached, free_port
from tests.watch.support import SlowLink

Start = Callable[..., Memcached]
ALONE = ("--output=json", "--no-collector.host")
"""Without the host, which has other tests to run: a worker that waits for a CPU would be found."""


@contextlib.contextmanager
def load(server: Memcached, *requests: bytes) -> Iterator[None]:
    """Send requests again and again, a few hundred a second, as long as the context lasts."""
    ended = threading.Event()

    def send() -> None:
        with socket.create_connection((server.host, server.port), timeout=5) as connection:
            while not ended.wait(0.005):
                connection.sendall(b"".join(requests))
                connection.recv(1 << 20)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def looked_at(server: Memcached, before: int) -> None:
    """Wait for the first look: the connection that looks is there, and one that pings.

    ``before`` is how many connections there had been; each question here makes one more.
    """
    deadline = time.monotonic() + 20
    for asked in itertools.count(1):
        if int(server.stats()["total_connections"]) - before - asked >= 2:
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextlib.contextmanager
def connected(server: Memcached, count: int) -> Iterator[None]:
    """Hold open connections, which the server has accepted."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            one = socket.create_connection((server.host, server.port), timeout=5)
            stack.enter_context(contextlib.closing(one))
            one.sendall(b"version\r\n")
            assert one.recv(100).startswith(b"VERSION")
        yield


def test_a_server_that_is_well(memcached: Start) -> None:
    """The figures are those of its statistics, and the exit status is 0."""
    server = memcached("-t", "1")
    with load(server, b"set a 0 0 3\r\nabc\r\n", b"get a\r\n"):
        found = run(server.address, "--window=1s", "--output=json")
    document = found.json()
    (one,) = document["servers"]
    assert (found.status, document["status"], one["status"]) == (0, "ok", "ok"), found
    assert set(found.names().values()) <= {"info"}
    rates, stats = one["rates"], server.stats()
    assert rates["hit_ratio"] == 1.0
    assert rates["commands"]["set"] == pytest.approx(rates["commands"]["get"], rel=0.2)
    # As many as were counted over the time that the check says: no more than there were in all.
    assert 20 < rates["commands"]["get"] * rates["seconds"] <= int(stats["cmd_get"])
    assert one["levels"]["items"] == int(stats["curr_items"]) == 1
    assert one["levels"]["version"] == stats["version"]
    assert one["levels"]["memory_limit_bytes"] == int(stats["limit_maxbytes"])
    assert one["local"]
    assert one["pings"]["count"] > 20
    assert 0 < one["pings"]["p50"] <= one["pings"]["p99"]
    assert found.err == ""


@pytest.mark.parametrize(
    ("count", "severity", "status"), [(820, "warning", 1), (975, "critical", 2)]
)
def test_connections(memcached: Start, count: int, severity: str, status: int) -> None:
    """Above 80 and 95 per cent of what the server can take, counted with our own connections."""
    server = memcached("-t", "1", "-c", "1024")
    reserved = int(server.stats()["reserved_fds"])
    # The listener, the observer's connection and its prober's count as well.
    with connected(server, count):
        found = run(server.address, "--window=1s", "--output=json")
    used = found.json()["servers"][0]["levels"]["connections"]
    limit = 0.8 if severity == "warning" else 0.95
    assert used / (1024 - reserved) > limit
    assert found.names()["connections_high"] == severity
    assert found.status == status


def configured(tmp_path: Path, thresholds: str) -> str:
    """Return the flag for a configuration with these thresholds."""
    config = tmp_path / "exporter.yml"
    config.write_text(f"thresholds: {{{thresholds}}}\n")
    return f"--config.file={config}"


def fill(server: Memcached, evicted: int) -> None:
    """Store until so many items were evicted; they fit their chunks well."""
    with contextlib.closing(server.client()) as client:
        for number in itertools.count():
            client.set(f"first{number}", b"x" * 1100)
            if number % 100 == 0 and int(server.stats()["evictions"]) >= evicted:
                return


@contextlib.contextmanager
def newcomers(server: Memcached) -> Iterator[None]:
    """Store one new item after another, as long as the context lasts."""
    ended = threading.Event()

    def store() -> None:
        with contextlib.closing(server.client()) as client:
            for number in itertools.count():
                if ended.is_set():
                    return
                client.set(f"new{number}", b"x" * 1100, noreply=False)

    thread = threading.Thread(target=store)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_memory(memcached: Start, tmp_path: Path) -> None:
    """A full server, without evictions now, is told by its ratio alone."""
    server = memcached("-m", "8", "-t", "1")
    fill(server, 1)
    found = run(server.address, "--window=1s", *ALONE)
    stats = server.stats()
    used = int(stats["bytes"]) / int(stats["limit_maxbytes"])
    assert found.json()["servers"][0]["levels"]["memory_ratio"] == used > 0.85
    assert (found.status, found.names()["memory_high"]) == (1, "warning")
    higher = configured(tmp_path, "memory: 0.999")
    above = run(server.address, "--window=1s", *ALONE, higher)
    assert (above.status, above.names().get("memory_high")) == (0, None)


def test_evictions(memcached: Start, tmp_path: Path) -> None:
    """A server that throws out an item for each new one: how many, and for how many stores."""
    server = memcached("-m", "8", "-t", "1")
    fill(server, 100)
    higher = configured(tmp_path, "evictions: {per_hour: 1000000000, floor: 1000000}")
    with newcomers(server):
        found = run(server.address, "--window=2s", *ALONE)
        above = run(server.address, "--window=1s", *ALONE, higher)
    (one,) = found.json()["servers"]
    assert one["rates"]["evicted_per_set"] == pytest.approx(1, abs=0.05)
    assert 10_000 / 3600 < one["rates"]["evictions"] <= int(server.stats()["evictions"]) / 2
    names = found.names()
    assert (names["evictions_many"], names["evictions_per_set_high"]) == ("warning", "warning")
    # Nobody has read what goes.
    assert names["evicting_used_items"] == "warning"
    assert found.status == 1
    assert above.names().keys().isdisjoint({"evictions_many", "evictions_per_set_high"})


@pytest.mark.parametrize(
    ("seconds", "thresholds", "severity", "status"),
    [
        (0.006, "latency: {mean: 1}", "warning", 1),
        (0.012, "latency: {p99: 1}", "critical", 2),
        (0.012, "latency: {p99: 1, mean: 1}", None, 0),
    ],
)
def test_latency(  # noqa: PLR0913, PLR0917
    memcached: Start,
    tmp_path: Path,
    seconds: float,
    thresholds: str,
    severity: str | None,
    status: int,
) -> None:
    """Round trips of over 5 ms in the slowest of a hundred, and of over 10 ms in the middle."""
    server = memcached("-t", "1")
    with SlowLink(server.port, seconds) as address:
        limits = configured(tmp_path, thresholds)
        found = run(address, "--window=2s", *ALONE, limits)
    pings = found.json()["servers"][0]["pings"]
    assert pings["count"] >= 20
    assert seconds < pings["p50"] <= pings["p99"]
    assert (found.names().get("latency_high"), found.status) == (severity, status)


def test_a_low_hit_rate(memcached: Start, tmp_path: Path) -> None:
    """Judged after the warm-up, which the configuration sets; exact at one hit in four."""
    server = memcached("-t", "1")
    config = tmp_path / "exporter.yml"
    config.write_text(
        f"servers: [{{address: '{server.address}'}}]\n"
        "thresholds: {hit_rate: {warm_up: 0.5}, workers: {wait: {warning: 0.99, critical: 1}}}\n"
    )
    with contextlib.closing(server.client()) as client:
        client.set("there", "x")
    time.sleep(1)
    with load(server, b"get there\r\n" + b"get no\r\n" * 3):
        found = run(f"--config.file={config}", "--window=1s", "--output=json")
    (one,) = found.json()["servers"]
    assert one["rates"]["hit_ratio"] == pytest.approx(0.25, abs=0.01)
    assert found.names()["hit_rate_low"] == "warning"
    assert found.status == 1


def test_what_is_well_as_it_is(memcached: Start, tmp_path: Path) -> None:
    """A finding that is to be ignored decides about nothing; flags stand for the file's list."""
    server = memcached("-t", "1", "-c", "1024")
    config = tmp_path / "exporter.yml"
    config.write_text("findings: {ignore: [connections_high, descriptors_high]}\n")
    given = (server.address, "--window=0s", f"--config.file={config}")
    with connected(server, 975):
        seen = run(server.address, "--window=0s")
        by_file = run(*given, "--output=json")
        by_flag = run(*given, "--ignore=udp_on", "--ignore=huge_pages_always")
    assert (seen.status, by_file.status, by_flag.status) == (2, 0, 2)
    assert "connections_high" in seen.out
    assert "connections_high" not in by_file.names()
    assert by_file.json()["ignored"] == ["connections_high", "descriptors_high"]
    assert by_flag.out.rstrip().endswith("; ignored: huge_pages_always, udp_on")


def test_items_that_are_too_large(memcached: Start) -> None:
    """A store that fails is told with the limit that it met."""
    server = memcached("-I", "8k", "-o", "slab_chunk_max=4", "-t", "1")
    value = b"x" * 9000
    with load(server, b"set big 0 0 9000\r\n" + value + b"\r\n"):
        found = run(server.address, "--window=1s", "--output=json")
    (finding,) = (
        one for one in found.json()["servers"][0]["findings"] if one["name"] == "items_too_large"
    )
    assert finding["seen"].endswith("as too large (the limit is 8 KiB).")
    assert found.status == 1


def test_one_that_is_down_and_one_that_is_well(memcached: Start) -> None:
    """The worst decides and comes first; the other has its figures."""
    server, nobody = memcached("-t", "1"), f"127.0.0.1:{free_port()}"
    found = run(server.address, nobody, "--window=0s", "--output=json")
    first, second = found.json()["servers"]
    assert found.status == 2
    assert (first["server"], first["reason"]) == (nobody, "refused")
    assert "Nobody listens there" in first["remedy"]
    assert (second["server"], second["status"]) == (server.address, "ok")
    shown = run(server.address, nobody, "--window=0s")
    assert f"{nobody}  CRITICAL  down: refused: connection refused" in shown.out
    assert shown.out.endswith("CRITICAL: servers: 1 critical, 0 warning, 1 ok\n")


def test_a_server_that_hangs(memcached: Start) -> None:
    """It costs its timeout, and the others nothing."""
    hung, server = memcached(), memcached("-t", "1")
    hung.freeze()
    found = run(
        hung.address, server.address, "--window=0s", "--memcached.timeout=300ms", "--output=json"
    )
    hung.thaw()
    first, second = found.json()["servers"]
    assert (first["reason"], second["status"]) == ("timeout", "ok")
    assert found.status == 2


def test_a_restart_in_the_window(memcached: Start) -> None:
    """Counters that began anew give no rates, and no wrong ones."""
    server = memcached("-t", "1")
    client = server.client()
    for _ in range(500):
        client.get("a")
    client.close()
    before = int(server.stats()["total_connections"])
    process = subprocess.Popen(
        [*(sys.executable, "-m", "exporter", "check", server.address, "--window=5s")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    looked_at(server, before)
    time.sleep(1)  # the longest time for a look
    server.restart()
    out, _ = process.communicate(timeout=30)
    assert "It was started anew, or its counters were reset, during the check." in out
    assert "-" in next(line for line in out.splitlines() if line.startswith("  commands"))


def test_a_server_that_comes_back_in_the_window(memcached: Start) -> None:
    """It is well now, and was down a moment ago: that is no OK, and the reason is told."""
    port = free_port()
    ran: list[Run] = []
    thread = threading.Thread(
        target=lambda: ran.append(run(f"127.0.0.1:{port}", "--window=6s", *ALONE))
    )
    thread.start()
    time.sleep(3)  # it needs less to start and look
    memcached("-t", "1", port=port)
    thread.join()
    (one,) = ran[0].json()["servers"]
    assert (ran[0].status, one["status"]) == (1, "warning")
    assert one["missed"] == "refused: connection refused"
    assert (one["reason"], one["restarted"], one["rates"]) == ("", False, None)
    assert one["levels"]["version"]


def test_sockets_and_ipv6(memcached: Start) -> None:
    """All forms of addresses are taken; one that is given twice is looked at once."""
    server = memcached("-t", "1", host="::1")
    directory = tempfile.mkdtemp()
    Path(directory).chmod(0o777)
    path = Path(directory) / "m.sock"
    unix = subprocess.Popen(["memcached", "-s", str(path), "-u", "nobody", "-t", "1"])
    try:
        deadline = time.monotonic() + 10
        while not path.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        addresses = (server.address, f"unix:{path}", server.address)
        found = run(*addresses, "--window=0s", "--output=json")
    finally:
        unix.kill()
        unix.wait()
        shutil.rmtree(directory)
    assert {one["server"] for one in found.json()["servers"]} == {server.address, f"unix:{path}"}
    assert found.status == 0


def test_servers_are_read_as_they_are_configured(memcached: Start, tmp_path: Path) -> None:
    """An address that a source lists has its module; one look at the sources is enough."""
    server = memcached("-t", "1")
    (tmp_path / "found.yml").write_text(f"- targets: ['{server.address}']\n")
    config = tmp_path / "exporter.yml"
    config.write_text(
        "servers: []\n"
        "modules: {default: {sections: [stats]}, few: {sections: [stats, slabs]}}\n"
        "discovery: {files: ['found.yml']}\n"
    )
    both = (f"--config.file={config}", "--window=0s", "--output=json")
    for arguments in (both, (*both, server.address)):
        found = run(*arguments)
        assert [one["server"] for one in found.json()["servers"]] == [server.address]
        assert found.status == 0


def test_a_source_that_cannot_be_read(tmp_path: Path) -> None:
    """Nobody knows whether all is well, then."""
    config = tmp_path / "exporter.yml"
    (tmp_path / "found.yml").write_text("- targets: 5\n")
    config.write_text("servers: []\ndiscovery: {files: ['found.yml']}\n")
    found = run(f"--config.file={config}", "--window=0s")
    assert found.status == 3
    assert f"UNKNOWN  file:{tmp_path}/found.yml: no servers could be read from it" in found.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--nonsense"],
            "unrecognized arguments: --nonsense (see memcached-exporter check --help)",
        ),
        (["a b"], 'ADDRESS: address "a b" has a character that no host name has'),
        (["--window=5"], '--window: "5" is no duration'),
        (["--window=25h"], "--window: must be from 0s to 1h"),
        (["--outptu=json"], "--outptu=json: did you mean --output?"),
        (["--ignore=udp_on,swapping"], '"udp_on,swapping" is no finding: give each on its own'),
        (["--output=xml"], "--output: invalid choice: 'xml'"),
        (["--ignore=memory"], '--ignore: "memory" is no finding: did you mean memory_high?'),
        (["--config.file=/nowhere.yml"], "/nowhere.yml"),
    ],
)
def test_wrong_usage(arguments: list[str], text: str) -> None:
    """One line, and the status for unknown: a plugin that is set up wrongly is not critical."""
    found = run(*arguments)
    assert found.status == 3
    assert found.out == ""
    assert len(found.err.splitlines()) == 1
    assert text in found.err


@pytest.mark.parametrize("arguments", [["--window=5"], ["--config.file=/no|where.yml"], ["a b"]])
@pytest.mark.parametrize("output", [["--output=nagios"], ["--output", "nagios"]])
def test_wrong_usage_of_a_plugin(arguments: list[str], output: list[str]) -> None:
    """Monitoring shows the first line of standard output, and nothing else."""
    found = run(*arguments, *output)
    assert (found.status, found.err) == (3, "")
    assert found.out.startswith("MEMCACHED UNKNOWN - ")
    assert len(found.out.splitlines()) == 1
    assert "|" not in found.out


def test_a_socket_that_is_not_there() -> None:
    """The remedy is about sockets."""
    found = run("/nowhere/memcached.sock", "--window=0s", "--output=json").json()["servers"][0]
    assert found["reason"] == "refused"
    assert "(-s)" in found["remedy"]
    assert "(-p)" not in found["remedy"]


def test_an_interrupt(memcached: Start) -> None:
    """Ctrl-C in the window ends it at once, in one line."""
    server = memcached("-t", "1")
    before = int(server.stats()["total_connections"])
    process = subprocess.Popen(
        [sys.executable, "-m", "exporter", "check", server.address, "--window=60s"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
        text=True,
    )
    with process:
        try:
            looked_at(server, before)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out) == (3, "")
    assert err == "memcached-exporter: interrupted before the second look\n"


def test_the_list_of_checks() -> None:
    """It needs no server."""
    found = run("--list")
    assert found.status == 0
    assert found.out == (ROOT / "docs" / "findings.md").read_text()
