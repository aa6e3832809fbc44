"""Many clients, and rude ones: the next scrape works, and nothing is left behind."""

import contextlib
import random
import resource
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.processes import sample
from tests.web.clients import Site, eventually, replies, talk

GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def hang_up(connection: socket.socket) -> None:
    """Close with a reset, as a client does that is killed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.fixture(autouse=True)
def leaves_nothing_behind(site: Site) -> Iterator[None]:
    """After each crowd: threads and descriptors as before, no traceback, scrapes work."""
    site.exporter.samples()
    assert eventually(lambda: site.exporter.threads() < 30)
    threads, descriptors = site.exporter.threads(), site.exporter.descriptors()
    yield
    up = site.exporter.samples()[sample("memcached_up", server=site.address)]
    assert up == 1
    # The system's resolver and the pool may keep a thread; connections may not.
    assert eventually(lambda: site.exporter.threads() <= threads + 1), site.exporter.threads()
    assert eventually(lambda: site.exporter.descriptors() <= descriptors)
    assert "Traceback" not in site.exporter.log
    assert "level=error" not in site.exporter.log


def test_silent_connections_leave_scrapes_alone(
    site: Site, connect: Callable[[tuple[str, int]], socket.socket]
) -> None:
    """Three hundred clients that say nothing, or half a header, do not stop a scrape."""
    for i in range(300):
        connection = connect(site.place)
        if i % 2:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nX-Half: ")
    for _ in range(5):
        assert site.exporter.request("/metrics", timeout=5).status == 200
    # The limit on those who wait is what keeps threads within bounds.
    assert eventually(lambda: site.exporter.threads() < 290)


def test_kept_connections_are_not_closed_by_the_crowd(
    site: Site, connect: Callable[[tuple[str, int]], socket.socket]
) -> None:
    """Prometheus keeps a connection for each of its targets: three hundred of them stay open."""
    kept: list[socket.socket] = []
    healthy = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
    for _ in range(300):
        kept.append(connect(site.place))
        kept[-1].sendall(healthy)
        assert kept[-1].recv(4096).startswith(b"HTTP/1.1 200 ")
    for connection in kept:
        connection.sendall(healthy)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_burst_of_connections_is_served(site: Site) -> None:
    """Sixty clients that come at once all get their page."""
    ready = threading.Barrier(60)

    def scrape(_: int) -> int:
        ready.wait(timeout=30)
        (reply,) = replies(talk(site.place, LAST, timeout=60))
        assert reply.body.endswith(b"\n")
        return reply.status

    with ThreadPoolExecutor(60) as pool:
        assert list(pool.map(scrape, range(60))) == [200] * 60


@pytest.mark.parametrize("polite", [True, False])
def test_clients_that_hang_up_early(site: Site, polite: bool) -> None:
    """Those who leave before or during the answer are no news."""
    close = socket.socket.close if polite else hang_up
    for i in range(30):
        connection = socket.create_connection(site.place, timeout=5)
        connection.sendall(GET if i % 3 else GET * 20)
        if i % 2:
            connection.recv(100)
        close(connection)
        half = socket.create_connection(site.place, timeout=5)
        half.sendall(GET[: i * len(GET) // 30])
        close(half)


def test_garbage_of_all_kinds(site: Site) -> None:
    """Random bytes, with and without line ends, are answered or dropped, and forgotten."""
    choice = random.Random(4)
    for _ in range(150):
        data = choice.randbytes(choice.randint(1, 400)) + choice.choice([b"", b"\r\n\r\n"])
        with contextlib.suppress(OSError), socket.create_connection(site.place, 5) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def test_changed_requests(site: Site) -> None:
    """A good request with some bytes changed is answered or dropped, and forgotten."""
    choice = random.Random(5)
    for _ in range(150):
        data = bytearray(LAST)
        for _ in range(choice.randint(1, 3)):
            data[choice.randrange(len(data) - 4)] = choice.randrange(256)
        with contextlib.suppress(OSError), socket.create_connection(site.place, 5) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def test_running_out_of_descriptors(
    site: Site, connect: Callable[[tuple[str, int]], socket.socket]
) -> None:
    """When silent clients use all descriptors up, the longest waiting one goes, not the scrape."""
    process = site.exporter.process.pid
    before = resource.prlimit(process, resource.RLIMIT_NOFILE)
    resource.prlimit(process, resource.RLIMIT_NOFILE, (40, before[1]))
    try:
        for _ in range(100):
            connect(site.place)
        for _ in range(3):
            assert site.exporter.request("/metrics", timeout=8).status == 200
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)


def test_scrapes_go_on_while_others_misbehave(site: Site) -> None:
    """Good clients on kept connections see nothing of rude ones beside them."""
    done = threading.Event()

    def misbehave() -> None:
        while not done.is_set():
            connection = socket.create_connection(site.place, timeout=5)
            connection.sendall(GET[:30])
            hang_up(connection)

    rude = threading.Thread(target=misbehave)
    rude.start()
    try:
        found = replies(talk(site.place, GET * 40 + LAST, timeout=60))
    finally:
        done.set()
        rude.join()
    assert [reply.status for reply in found] == [200] * 41
