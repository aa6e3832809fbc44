"""The prober by itself: what it measures, what it writes, and what it makes of failures."""

import contextlib
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from exporter.addresses import parse_address
from exporter.configuration import Server
from exporter.memcached.prober import Prober, probers
from tests.memcached.support import descriptors, module
from tests.processes import Memcached, free_port
from tests.sections.support import ask
from tests.sections.wire import Tap, Wire
from tests.web.clients import eventually


class Probed:
    """A prober, and what it tells of its probes."""

    def __init__(self, address: str, canary: str = "", *, timeout: float = 0.2) -> None:
        self.seconds: list[tuple[str, float]] = []
        self.failures: Counter[str] = Counter()
        how = module(probe_interval=0.02, canary_key=canary, timeout=timeout)
        self.prober = Prober(
            Server(address=parse_address(address), module=how), self.observe, self.count_failure
        )
        self.address = address

    def observe(self, operation: str, server: str, seconds: float) -> None:
        """Take a round trip."""
        assert server == self.address
        self.seconds.append((operation, seconds))

    def count_failure(self, operation: str, server: str) -> None:
        """Take a failure."""
        assert server == self.address
        self.failures[operation] += 1

    def __call__(self, times: int = 1) -> dict[str, int]:
        """Probe, and return how many round trips of each operation there are by now."""
        for _ in range(times):
            self.prober.probe()
        return dict(Counter(operation for operation, _ in self.seconds))


@pytest.fixture
def probed() -> Iterator[Callable[..., Probed]]:
    """Make probers that do not run by themselves."""
    made: list[Probed] = []

    def make(address: str, canary: str = "", *, timeout: float = 0.2) -> Probed:
        made.append(Probed(address, canary, timeout=timeout))
        return made[-1]

    yield make
    for each in made:
        each.prober._drop()


def test_a_prober_writes_nothing(
    memcached: Callable[..., Memcached], probed: Callable[..., Probed]
) -> None:
    """Without a canary key only the no-op is measured, and no key is touched."""
    server = memcached()
    probe = probed(server.address)
    assert probe.prober.operations == ("noop",)
    assert probe(50) == {"noop": 50}
    assert all(0 < seconds < 0.2 for _, seconds in probe.seconds)
    stats = server.stats()
    assert [stats[key] for key in ("cmd_set", "cmd_get", "cmd_touch", "total_items")] == ["0"] * 4
    assert probe.failures == {}


def test_a_canary_is_stored_once(
    memcached: Callable[..., Memcached], probed: Callable[..., Probed]
) -> None:
    """The canary key is stored when it is missing, and all further gets of it are hits."""
    server = memcached()
    probe = probed(server.address, "canary:exporter")
    assert probe.prober.operations == ("noop", "get")
    assert probe(20) == {"noop": 20, "get": 20}
    stats = server.stats()
    assert (stats["cmd_set"], stats["get_hits"], stats["get_misses"]) == ("1", "19", "1")
    assert (stats["curr_items"], stats["total_items"]) == ("1", "1")
    ask(server, b"delete canary:exporter\r\n", b"DELETED\r\n")
    assert probe(10) == {"noop": 30, "get": 30}
    stats = server.stats()
    assert (stats["cmd_set"], stats["get_hits"], stats["get_misses"]) == ("2", "28", "2")


def test_a_foreign_canary_is_left_alone(
    memcached: Callable[..., Memcached], probed: Callable[..., Probed]
) -> None:
    """A key that somebody else has stored is read and never overwritten."""
    server = memcached()
    ask(server, b"set mine 5 0 3\r\nabc\r\n", b"STORED\r\n")
    assert probed(server.address, "mine")(5) == {"noop": 5, "get": 5}
    assert ask(server, b"get mine\r\n") == b"VALUE mine 5 3\r\nabc\r\nEND\r\n"
    assert server.stats()["cmd_set"] == "1"


def test_one_connection(memcached: Callable[..., Memcached], probed: Callable[..., Probed]) -> None:
    """All probes of a server go over one connection, which is opened when it is needed."""
    server = memcached()
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        probe = probed(tap.address, "canary")
        assert tap.writes == []
        assert probe(30) == {"noop": 30, "get": 30}
        (writes,) = tap.writes
    assert [text.split()[0] for text in writes] == [
        "version",
        "get",
        "set",
        *["version", "get"] * 29,
    ]


def test_a_stopped_server_counts_failures_and_recovers(
    memcached: Callable[..., Memcached], probed: Callable[..., Probed]
) -> None:
    """Probes of a server that hangs fail within their timeout; afterwards they succeed again."""
    server = memcached()
    probe = probed(server.address, "canary", timeout=0.3)
    assert probe(2) == {"noop": 2, "get": 2}
    server.freeze()
    began = time.monotonic()
    assert probe(3) == {"noop": 2, "get": 2}
    assert time.monotonic() - began < 4
    assert probe.failures == {"noop": 3, "get": 3}
    server.thaw()
    assert eventually(lambda: probe().get("get", 0) > 2)
    answered, failures = probe(0), dict(probe.failures)
    assert probe(4) == {operation: number + 4 for operation, number in answered.items()}
    assert probe.failures == failures
    assert all(seconds < 0.3 for _, seconds in probe.seconds), "a late answer was taken for a new"


def test_failures_leak_nothing(
    memcached: Callable[..., Memcached], probed: Callable[..., Probed]
) -> None:
    """However often probes fail, no socket is left behind, here or at the server."""
    server = memcached()
    probe = probed(server.address, "canary", timeout=0.02)
    probe()
    before = descriptors()
    server.freeze()
    probe(10)
    server.thaw()
    probe()
    assert descriptors() <= before
    assert eventually(lambda: int(server.stats()["curr_connections"]) == 2)  # and this one


def test_a_server_that_is_away(probed: Callable[..., Probed]) -> None:
    """A refused connection is a failure of each operation."""
    probe = probed(f"127.0.0.1:{free_port()}", "canary")
    assert probe(3) == {}
    assert probe.failures == {"noop": 3, "get": 3}


def test_a_restart(memcached: Callable[..., Memcached], probed: Callable[..., Probed]) -> None:
    """After a restart the prober goes on, and stores its canary again."""
    server = memcached()
    probe = probed(server.address, "canary")
    probe(2)
    server.restart()
    probe(3)
    assert probe(1)["get"] >= 5
    assert server.stats()["cmd_set"] == "1"


class Kicking(Wire):
    """Closes each connection after one answer, as a server does whose idle_timeout is short."""

    def answer(self, client: socket.socket, data: bytes) -> bool:
        """Answer one command."""
        client.sendall(b"VERSION 1.6.18\r\n" if data == b"version\r\n" else b"END\r\n")
        return False


def test_a_kicked_connection_is_no_failure(probed: Callable[..., Probed]) -> None:
    """A server that closes idle connections between two probes answers each of them."""
    with contextlib.closing(Kicking()) as server:
        probe = probed(server.address)
        for done in range(1, 6):
            assert probe() == {"noop": done}
            time.sleep(0.02)
        assert probe.failures == {}


class Odd(Wire):
    """Answers with a text that it was given."""

    text = b""

    def answer(self, client: socket.socket, data: bytes) -> bool:
        """Answer."""
        client.sendall(self.text)
        return True


@pytest.mark.parametrize(
    "text",
    [
        b"CLIENT_ERROR unauthenticated\r\n",
        b"ERROR Too many open connections\r\n",
        b"garbage\r\n",
        b"VERSION 1\r\nVERSION 1\r\n",
        b"\xff" * 10_000,
    ],
    ids=lambda text: text[:20].decode("latin-1").strip(),
)
def test_an_answer_that_is_none_is_a_failure(text: bytes, probed: Callable[..., Probed]) -> None:
    """What is no answer to the probe counts as a failure, each time."""
    with contextlib.closing(Odd()) as server:
        server.text = text
        probe = probed(server.address, "canary")
        assert probe(3) == {}
        assert probe.failures == {"noop": 3, "get": 3}


class Trickling(Wire):
    """Answers a get byte by byte, each well within a timeout."""

    def answer(self, client: socket.socket, data: bytes) -> bool:
        """Answer one command."""
        if data == b"version\r\n":
            client.sendall(b"VERSION 1.6.18\r\n")
            return True
        for byte in b"VALUE canary 0 6\r\ncanary\r\nEND\r\n":
            client.sendall(bytes([byte]))
            time.sleep(0.05)
        return True


def test_a_trickling_answer_is_a_failure(probed: Callable[..., Probed]) -> None:
    """The timeout is for the whole answer, not for each piece of it."""
    with contextlib.closing(Trickling()) as server:
        probe = probed(server.address, "canary", timeout=0.2)
        began = time.monotonic()
        assert probe() == {"noop": 1}
        assert time.monotonic() - began < 1
        assert probe.failures == {"get": 1}


def test_it_keeps_its_pace(memcached: Callable[..., Memcached]) -> None:
    """A running prober measures each operation once per interval until it is stopped."""
    server = memcached()
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        probe = Probed(tap.address, "canary")
        probe.prober.start()
        time.sleep(0.5)
        probe.prober.stop()
        assert eventually(lambda: int(server.stats()["curr_connections"]) == 2)  # the tap's is left
        counted = Counter(operation for operation, _ in probe.seconds)
        assert 5 <= counted["noop"] <= 25
        assert abs(counted["noop"] - counted["get"]) <= 1
        assert len(tap.writes) == 1
    time.sleep(0.1)
    assert Counter(operation for operation, _ in probe.seconds) == counted


def test_only_who_is_told_to_probes() -> None:
    """A server has a prober when its module has an interval."""
    servers = tuple(
        Server(address=parse_address(f"h{n}:1"), module=module(probe_interval=interval))
        for n, interval in enumerate((0.0, 5.0, 0.0, 1.0))
    )
    made = probers(servers, lambda *_: None, lambda *_: None)
    assert [prober.server.address.text for prober in made] == ["h1:1", "h3:1"]
