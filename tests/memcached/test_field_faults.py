"""Faults of servers and networks that operators ran into; the names carry the reports' ids."""

import contextlib
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.memcached.pages import DOWN, Page
from tests.memcached.support import COMMANDS, has_ipv6, memcached_on_socket
from tests.processes import Exporter, FakeMemcached, Memcached, free_port, sample
from tests.web.clients import eventually

MakePage = Callable[..., Page]


@pytest.mark.parametrize(
    ("host", "reason"), [("127.0.0.1", "refused"), ("nope.invalid", "dns")], ids=["port", "name"]
)
def test_b01_target_down(page: MakePage, host: str, reason: str) -> None:
    """A server that is not there is down, for a reason, with one line in the log."""
    found = page(f"{host}:{free_port()}", "--memcached.timeout=3s")
    for number in range(1, 4):
        found()
        assert found.get("memcached_up") == 0
        assert found.names() == DOWN
        assert found.errors(reason) == number
        assert sample("process_start_time_seconds") in found.samples
    assert len(found.warnings()) == 1
    assert f"reason={reason}" in found.warnings()[0]


def test_b02_server_accepts_but_never_answers(
    memcached: Callable[..., Memcached], page: MakePage
) -> None:
    """Scrapes of a hung server end in time, ten at once, and leave no thread or socket behind."""
    server = memcached()
    found = page(server.address, "--memcached.timeout=100ms")()
    assert found.get("memcached_up") == 1
    found()
    threads, files = found.daemon.threads(), found.daemon.descriptors()
    server.freeze()
    with ThreadPoolExecutor(10) as clients:
        began = time.monotonic()
        pages = list(clients.map(lambda _: found.daemon.samples(), range(50)))
        assert time.monotonic() - began < 30
    for samples in pages:
        assert samples[sample("memcached_up", server=server.address)] == 0
    found()
    assert found.errors("timeout") == 51
    settle(found.daemon, threads, files)
    server.thaw()
    assert found().get("memcached_up") == 1
    assert found.names() > DOWN


def test_b02_five_hundred_scrapes_of_a_hung_server(
    memcached: Callable[..., Memcached], page: MakePage
) -> None:
    """However long a server hangs, the exporter stays as small as it was."""
    server = memcached()
    found = page(server.address, "--memcached.timeout=5ms")()
    # Five milliseconds may be too few on a busy machine, but not always.
    assert eventually(lambda: found().get("memcached_up") == 1, 30)
    threads, files = found.daemon.threads(), found.daemon.descriptors()
    told = len(found.warnings())
    server.freeze()
    before = found().errors("timeout")
    for _ in range(500):
        assert found.daemon.request("/metrics").status == 200
    assert found().errors("timeout") == before + 501
    settle(found.daemon, threads, files)
    assert len(found.warnings()) == told + 1
    server.thaw()
    assert eventually(lambda: found().get("memcached_up") == 1, 30)


def settle(daemon: Exporter, threads: int, files: int) -> None:
    """Wait until the daemon has no more threads and open files than that."""
    deadline = time.monotonic() + 5
    while daemon.threads() > threads or daemon.descriptors() > files:
        assert time.monotonic() < deadline, (daemon.threads(), daemon.descriptors())
        time.sleep(0.02)


def test_b04_server_full(memcached: Callable[..., Memcached], page: MakePage) -> None:
    """A full server is told apart from a dead one, and is up again as soon as there is room."""
    server = memcached("-c", "64")
    found = page(server.address)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection((server.host, server.port)))
        for number in range(1, 6):
            found()
            assert found.get("memcached_up") == 0
            assert found.errors("connection_limit") == number
    assert "Traceback" not in found.daemon.log
    deadline = time.monotonic() + 5
    while found().get("memcached_up") != 1:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert (found.get("memcached_connections_rejected_total") or 0) >= 5


def test_b04_a_held_connection_reads_a_full_server(
    memcached: Callable[..., Memcached], page: MakePage
) -> None:
    """An exporter that was there before the crowd keeps all its metrics."""
    server = memcached("-c", "64")
    found = page(server.address)()
    names = found.names()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection((server.host, server.port)))
        for _ in range(3):
            assert found().names() == names
            assert found.get("memcached_up") == 1
    assert (found.get("memcached_connections_rejected_total") or 0) >= 30


def test_b06_restart_under_a_kept_connection(
    memcached: Callable[..., Memcached], page: MakePage
) -> None:
    """The first scrape after a restart is up, with the new process's small numbers."""
    server = memcached()
    found = page(server.address)
    for _ in range(3):
        found()
    start = found.get("memcached_start_time_seconds")
    before = found.get("memcached_read_bytes_total")
    server.restart()
    found()
    assert found.get("memcached_up") == 1
    assert (found.get("memcached_uptime_seconds") or 0) < 10
    assert (found.get("memcached_read_bytes_total") or 0) < (before or 0)
    assert (found.get("memcached_start_time_seconds") or 0) >= (start or 0)


@pytest.mark.parametrize("command", ["version", *COMMANDS.values()])
def test_b09_answer_cut_off(
    fake: Callable[..., FakeMemcached], page: MakePage, command: str
) -> None:
    """Half an answer, of whichever section, is no answer: no number of it is on the page."""
    found = page(fake("--set", "version 1.6.45", "--mode", "half", "--only", command).address)
    for number in range(1, 4):
        found()
        assert found.names() == DOWN
        assert found.get("memcached_up") == 0
        assert found.errors("closed") == number


def test_b11_no_trailing_space(
    fake: Callable[..., FakeMemcached], page: MakePage, tmp_path: Path
) -> None:
    """The commands are sent as they are written in the protocol, without a blank at the end."""
    log = tmp_path / "commands"
    found = page(fake("--set", "version 1.6.45", "--log", str(log)).address)
    found()
    found()
    sent = set(log.read_text().splitlines())
    assert sent == {repr(command) for command in ("version", *COMMANDS.values())}


@pytest.mark.parametrize("form", ["{}", "unix:{}"])
def test_b12_unix_socket(page: MakePage, tmp_path: Path, form: str) -> None:
    """A path is a target like any other, on both endpoints, and is the label as it was given."""
    path = tmp_path / "m:1 'x'.sock"
    address = form.format(path)
    with memcached_on_socket(path):
        found = page(address)()
        assert found.get("memcached_up") == 1
        assert found.names() > DOWN
        target = found.daemon.samples(f"/scrape?target={quote(address)}")
        assert target[sample("memcached_up")] == 1


def test_b14_ipv6(page: MakePage, memcached: Callable[..., Memcached]) -> None:
    """The brackets stay in the label, and the address works on both endpoints."""
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    server = memcached(host="::1")
    found = page(f"[::1]:{server.port}")()
    assert found.get("memcached_up") == 1
    target = found.daemon.samples(f"/scrape?target=[::1]:{server.port}")
    assert target[sample("memcached_up")] == 1
    assert found.daemon.request("/scrape?target=::1").status == 400


def test_b16_login_wanted(
    memcached: Callable[..., Memcached], page: MakePage, passwords: str
) -> None:
    """A server that wants a login is down for that reason."""
    found = page(memcached("-Y", passwords).address)()
    assert (found.get("memcached_up"), found.errors("auth")) == (0, 1)
    assert "the server asks for a login" in found.warnings()[0]


def test_b17_binary_only(memcached: Callable[..., Memcached], page: MakePage) -> None:
    """A server that does not speak text is a timeout whose log line names the likely cause."""
    found = page(memcached("-B", "binary").address, "--memcached.timeout=200ms")()
    assert (found.get("memcached_up"), found.errors("timeout")) == (0, 1)
    assert "binary protocol" in found.warnings()[0]
