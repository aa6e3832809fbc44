"""Servers that are full, or that close what rests, seen through the daemon."""

import contextlib
import http.client
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from tests.processes import Memcached
from tests.resilience.support import Daemon, Watched, elapsed_below, settle
from tests.web.clients import eventually

Start = Callable[..., Memcached]
Watch = Callable[..., Watched]

FAST, SLOW = "maxconns_fast", "no_maxconns_fast"


@contextlib.contextmanager
def crowd(server: Memcached, size: int = 100) -> Iterator[contextlib.ExitStack]:
    """Fill a server with connections that rest."""
    with contextlib.ExitStack() as stack:
        for _ in range(size):
            # A full server that lets wait soon accepts no more: those connects never end.
            connection = stack.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex((server.host, server.port))
        time.sleep(0.2)
        yield stack


@pytest.mark.parametrize("way", [FAST, SLOW])
def test_held_connection_of_a_full_server(memcached: Start, watch: Watch, way: str) -> None:
    """Twenty scrapes of a full server bring all that the scrapes before brought."""
    server = memcached("-c", "64", "-o", way)
    found = watch(server.address, "{}")
    for _ in range(2):
        assert found.up() == 1
    before = {key for key in found.samples if key[0].startswith("memcached_")}
    with crowd(server):
        for _ in range(20):
            with elapsed_below(0.5):
                assert found.up() == 1
            now = {key for key in found.samples if key[0].startswith("memcached_")}
            assert now == before
        assert found.get("memcached_max_connections") == 64
        refusals = "rejected" if way == FAST else "listener_disabled"
        assert (found.get(f"memcached_connections_{refusals}_total") or 0) > 0
    assert found.errors() == {}
    assert found.up() == 1


def test_newcomer_to_a_full_server(memcached: Start, daemon: Callable[..., Daemon]) -> None:
    """Who comes late is told why, each time; the first scrape after there is room is up."""
    server = memcached("-c", "64", "-o", FAST)
    early = Watched(daemon(f"--memcached.address={server.address}"), server.address)
    assert early.up() == 1
    with crowd(server) as stack:
        late = Watched(daemon(f"--memcached.address={server.address}"), server.address)
        for number in range(1, 21):
            assert late.up() == 0
            assert late.errors() == {"connection_limit": number}
        assert early.up() == 1
        (line,) = late.daemon.warnings()
        assert "reason=connection_limit" in line
        stack.close()
        # Of the limit the held connection tells when there is room again.
        assert eventually(
            lambda: early.up() == 1 and (early.get("memcached_current_connections") or 0) < 10
        )
        assert late.up() == 1
    assert early.up() == 1


def test_newcomer_to_a_server_that_lets_wait(
    memcached: Start, daemon: Callable[..., Daemon]
) -> None:
    """Where a full server does not accept, it is a timeout within the deadline, then up."""
    server = memcached("-c", "64", "-o", SLOW)
    flags = (f"--memcached.address={server.address}", "--memcached.timeout=300ms")
    early = Watched(daemon(*flags), server.address)
    assert early.up() == 1
    with crowd(server) as stack:
        late = Watched(daemon(*flags), server.address)
        for number in range(1, 6):
            with elapsed_below(1):
                assert late.up() == 0
            assert late.errors() == {"timeout": number}
            assert early.up() == 1
        stack.close()
        assert eventually(
            lambda: early.up() == 1 and early.get("memcached_accepting_connections") == 1
        )
        assert late.up() == 1


@pytest.mark.parametrize("way", [FAST, SLOW])
def test_a_crowd_leaves_nothing_behind(
    memcached: Start, daemon: Callable[..., Daemon], way: str
) -> None:
    """After failures at the limit the exporter has the threads and sockets of before."""
    server = memcached("-c", "64", "-o", way)
    running = daemon(f"--memcached.address={server.address}", "--memcached.timeout=100ms")
    with crowd(server):
        running.samples()
        running.samples()
        threads, files = running.threads(), running.descriptors()
        for _ in range(15):
            running.samples()
        settle(running, threads, files)


def test_server_that_closes_what_rests(memcached: Start, watch: Watch) -> None:
    """With an idle_timeout below the interval no scrape fails, and all are complete."""
    server = memcached("-o", "idle_timeout=1")
    found = watch(server.address, "{}")
    assert found.up() == 1
    before = {key for key in found.samples if key[0].startswith("memcached_")}
    for _ in range(4):
        time.sleep(1.2)
        assert found.up() == 1
        now = {key for key in found.samples if key[0].startswith("memcached_")}
        # Counters of the server's own never go; there may be more, as of a class of items.
        assert before <= now
    assert eventually(lambda: int(server.stats()["idle_kicks"]) > 0)
    assert found.up() == 1
    assert found.errors() == {}


def test_d06_health_of_a_daemon_whose_servers_hang(memcached: Start, watch: Watch) -> None:
    """Probes of an orchestrator are answered at once, however many scrapes wait."""
    server = memcached()
    found = watch(server.address, "{timeout: 2s}")
    assert found.up() == 1
    server.freeze()
    waiting = [http.client.HTTPConnection(found.daemon.host, found.daemon.port) for _ in range(10)]
    for connection in waiting:
        connection.request("GET", "/metrics")
    for path in ("/-/healthy", "/-/ready", "/"):
        with elapsed_below(0.5):
            assert found.daemon.request(path).status == 200
    server.thaw()
    for connection in waiting:
        assert connection.getresponse().status == 200
        connection.close()
