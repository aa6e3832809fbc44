"""Real servers that restart, hang, fill up, kick or refuse the exporter."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from exporter.errors import ReadError, Reason
from exporter.memcached.server import Server
from tests.memcached.support import (
    COMMANDS,
    descriptors,
    failure,
    memcached_on_socket,
    reader,
    scrape,
    settled,
    store,
    value,
)
from tests.processes import Memcached

NOT_ASKED_IN_TIME = "no whole answer before the deadline after 0 bytes"


@contextlib.contextmanager
def stopped(server: Memcached) -> Iterator[None]:
    """Let a server hang for a while: it accepts connections and never answers."""
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@contextlib.contextmanager
def crowd(server: Memcached) -> Iterator[Callable[[], None]]:
    """Fill a server with idle connections; the function that is given takes them away."""
    with contextlib.ExitStack() as stack:
        address = (server.host, server.port)
        # Without maxconns_fast a full server does not even accept.
        with contextlib.suppress(TimeoutError):
            for _ in range(100):
                stack.enter_context(socket.create_connection(address, timeout=0.2))
        yield stack.close


def up_again(server: Server, seconds: float = 5.0) -> None:
    """Scrape until it works, within some seconds."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(ReadError):
            assert scrape(server, 1.0).success == dict.fromkeys(COMMANDS, True)
            return
        assert time.monotonic() < deadline, "the server is not up again"
        time.sleep(0.02)


def test_a_restart_does_not_cost_a_scrape(memcached: Callable[..., Memcached]) -> None:
    """The first scrape after a restart reads the new process, over a new connection."""
    server = memcached()
    store(server, {"a": b"1"})
    with reader(server.address) as held:
        before = [scrape(held) for _ in range(2)][-1]
        server.restart()
        after = scrape(held)
    assert value(before, "curr_items") == "1"
    assert value(after, "curr_items") == "0"
    assert value(after, "pid") == str(server.process.pid) != value(before, "pid")
    assert int(value(after, "uptime")) < 10
    assert after.success == dict.fromkeys(COMMANDS, True)


def test_a_server_that_is_down_is_read_once_it_is_back(
    memcached: Callable[..., Memcached],
) -> None:
    """While a server is gone it is refused; nothing is kept that would stop it from coming back."""
    server = memcached()
    with reader(server.address) as held:
        scrape(held)
        server.stop()
        for _ in range(3):
            assert failure(held)[0] is Reason.REFUSED
        server.restart()
        assert scrape(held).success == dict.fromkeys(COMMANDS, True)


def test_a_kicked_connection_does_not_cost_a_scrape(
    memcached: Callable[..., Memcached],
) -> None:
    """A server that closes idle connections is read as well as any other."""
    server = memcached("-o", "idle_timeout=1")
    with reader(server.address) as held:
        scrape(held)
        deadline = time.monotonic() + 20
        while server.stats()["idle_kicks"] == "0":
            assert time.monotonic() < deadline, "the idle connection was not kicked"
            time.sleep(0.1)
        read = scrape(held)
    assert read.success == dict.fromkeys(COMMANDS, True)
    assert int(value(read, "idle_kicks")) >= 1


@pytest.mark.parametrize("held_before", [True, False])
def test_a_hung_server_costs_its_deadline_only(
    memcached: Callable[..., Memcached], held_before: bool
) -> None:
    """Ten scrapes at once of a hung server all end at their deadline, and the next one is up."""
    server = memcached()
    with reader(server.address) as held:
        if held_before:
            scrape(held)
        started = descriptors()
        results: list[tuple[Reason, str]] = []
        with stopped(server):
            threads = [
                threading.Thread(target=lambda: results.append(failure(held, 0.3)))
                for _ in range(10)
            ]
            began = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
            assert time.monotonic() - began < 5
        assert [reason for reason, _ in results] == [Reason.TIMEOUT] * 10
        assert descriptors() <= started
        assert scrape(held).success == dict.fromkeys(COMMANDS, True)


def test_scrapes_at_once_share_one_connection(memcached: Callable[..., Memcached]) -> None:
    """Scrapes of one server from several threads take turns, and each gets the whole answer."""
    server = memcached()
    store(server, {"a": b"1"})
    with reader(server.address) as held, ThreadPoolExecutor(8) as threads:
        settled(held)
        reads = list(threads.map(lambda _: scrape(held), range(80)))
    assert all(read.success == dict.fromkeys(COMMANDS, True) for read in reads)
    assert {value(read, "curr_items") for read in reads} == {"1"}
    assert len({value(read, "total_connections") for read in reads}) == 1


def test_a_late_answer_is_never_read_as_the_next(memcached: Callable[..., Memcached]) -> None:
    """What a server says after the deadline is thrown away with its connection."""
    server = memcached()
    with reader(server.address) as held:
        scrape(held)
        with stopped(server):
            assert failure(held, 0.1)[0] is Reason.TIMEOUT
        # The answer to the first question is on its way, and says that there are no items.
        server.stats()
        store(server, {"a": b"1"})
        read = scrape(held)
    assert value(read, "curr_items") == "1"
    assert value(read, "maxconns", "settings") == "1024"


def test_many_scrapes_of_a_hung_server_leave_nothing_behind(
    memcached: Callable[..., Memcached],
) -> None:
    """Threads and descriptors of this process are as before, after 200 timeouts."""
    server = memcached()
    with reader(server.address) as held:
        scrape(held)
        threads, files = threading.active_count(), descriptors()
        with stopped(server):
            for _ in range(200):
                assert failure(held, 0.005)[0] is Reason.TIMEOUT
        assert threading.active_count() == threads
        assert descriptors() <= files
        up_again(held)


@pytest.mark.parametrize(
    ("option", "reason"),
    [("maxconns_fast", Reason.CONNECTION_LIMIT), ("no_maxconns_fast", Reason.TIMEOUT)],
)
def test_a_full_server(memcached: Callable[..., Memcached], option: str, reason: Reason) -> None:
    """A held connection still reads a full server; a new one learns why not, and room is enough."""
    server = memcached("-c", "64", "-o", option)
    with reader(server.address) as held, reader(server.address) as late:
        scrape(held)
        with crowd(server) as make_room:
            for _ in range(20 if reason is Reason.CONNECTION_LIMIT else 2):
                found, text = failure(late, 0.3)
                assert found is reason, text
            if reason is Reason.CONNECTION_LIMIT:
                assert text == "ERROR Too many open connections"
            for _ in range(3):
                read = scrape(held)
                assert read.success == dict.fromkeys(COMMANDS, True)
            assert value(read, "max_connections") == "64"
            if reason is Reason.CONNECTION_LIMIT:
                assert int(value(read, "rejected_connections")) >= 20
            else:
                assert value(read, "accepting_conns") == "0"
            make_room()
            up_again(late)


def test_a_server_that_speaks_only_binary_says_nothing(
    memcached: Callable[..., Memcached],
) -> None:
    """The timeout of a server that ignores text names the likely cause."""
    with reader(memcached("-B", "binary").address) as held:
        assert failure(held, 0.2) == (
            Reason.TIMEOUT,
            f"{NOT_ASKED_IN_TIME} (a server that speaks only the binary protocol?)",
        )


def test_a_server_that_wants_a_login_says_so(
    memcached: Callable[..., Memcached], passwords: str
) -> None:
    """A server started with -Y is refused for its own reason."""
    with reader(memcached("-Y", passwords).address) as held:
        for _ in range(2):
            assert failure(held) == (
                Reason.AUTH,
                "CLIENT_ERROR unauthenticated: the server asks for a login",
            )


def test_a_unix_socket_is_read(tmp_path: Path) -> None:
    """A path works like an address, with all sections and a kept connection."""
    path = tmp_path / "m:11211 .sock"
    with memcached_on_socket(path, "-m", "48"):
        for text in (str(path), f"unix:{path}"):
            with reader(text) as held:
                reads = [settled(held), scrape(held)]
            assert value(reads[1], "limit_maxbytes") == str(48 * 2**20)
            assert value(reads[1], "domain_socket", "settings") == str(path)
            assert reads[1].dialled == str(path)
            assert reads[1].left_out == {}
            assert value(reads[0], "total_connections") == value(reads[1], "total_connections")


def test_a_socket_without_a_server_is_refused(tmp_path: Path) -> None:
    """A path that is missing, or left over, is told apart from a server that hangs."""
    path = tmp_path / "m.sock"
    with reader(str(path)) as held:
        assert failure(held) == (Reason.REFUSED, "the socket does not exist")
        with socket.socket(socket.AF_UNIX) as left_over:
            left_over.bind(str(path))
        assert failure(held) == (Reason.REFUSED, "connection refused")


def test_a_crowded_unix_socket_is_a_timeout(tmp_path: Path) -> None:
    """A server that does not accept is hung, also when its queue is full."""
    path = tmp_path / "m.sock"
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(str(path))
        with reader(str(path)) as held:
            assert failure(held, 0.2)[0] is Reason.TIMEOUT


def test_closing_in_the_last_moment_of_a_scrape(memcached: Callable[..., Memcached]) -> None:
    """A close that comes just before a scrape lets go leaves no connection behind."""
    server = memcached()

    class LateLock:
        """Is asked to close the server in the moment in which it is released."""

        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.answers: list[bool] = []

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            return self.lock.acquire(blocking, timeout)

        def release(self) -> None:
            if not self.answers:
                self.answers.append(False)
                self.answers[0] = held.close()
            self.lock.release()

    with reader(server.address) as held:
        held._lock = late = LateLock()  # type: ignore[assignment]
        assert scrape(held).success == dict.fromkeys(COMMANDS, True)
        assert late.answers == [False]
        assert held._connection is None


def test_closing_while_a_scrape_waits_for_it(memcached: Callable[..., Memcached]) -> None:
    """A server that is scraped is not closed under the scrape's feet, and is usable after."""
    server = memcached()
    with reader(server.address) as held:
        scrape(held)
        with stopped(server):
            waiting = threading.Thread(target=failure, args=(held, 0.4))
            waiting.start()
            while not held._lock.locked():
                time.sleep(0.001)
            assert not held.close()
            waiting.join()
        assert held.close()
        assert scrape(held).success == dict.fromkeys(COMMANDS, True)
