"""Scrapes of targets side by side: one for each server of a Prometheus that found them at /sd."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.processes import Answer, Exporter, Memcached, parse, sample
from tests.resilience.support import at_rest, count
from tests.web.clients import eventually, threads_at_rest

Configure = Callable[[str], str]
Start = Callable[..., Exporter]
Memcacheds = Callable[..., Memcached]


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads that ask."""
    with ThreadPoolExecutor(40) as made:
        yield made


def patient(*servers: Memcached) -> str:
    """Return a configuration that gives servers a long time."""
    lines = "".join(f"- {{address: '{server.address}'}}\n" for server in servers)
    return f"modules: {{default: {{timeout: 50s}}}}\nservers:\n{lines}"


def up(answer: Answer) -> float:
    """Return whether the server is up, by a page of its own."""
    assert answer.status == 200, answer.text
    return parse(answer.text)[sample("memcached_up")]


def scrape(daemon: Exporter, server: Memcached, timeout: str = "50") -> Answer:
    """Scrape one server as Prometheus does."""
    path = f"/scrape?target={server.address}&module=default"
    return daemon.request(path, timeout=55, X_Prometheus_Scrape_Timeout_Seconds=timeout)


def waiting(daemon: Exporter, job: Future[Answer], threads: int) -> None:
    """Wait until a scrape is under way, which has a thread of its own."""
    assert eventually(lambda: daemon.threads() >= threads)
    assert not job.done()


def test_nobody_waits_for_a_frozen_server(
    exporter: Start, memcached: Memcacheds, config_file: Configure, pool: ThreadPoolExecutor
) -> None:
    """While the scrapes of one server hang, all others are answered, and then so is that one."""
    frozen, *others = (memcached() for _ in range(4))
    daemon = exporter(config_file(patient(frozen, *others)))
    for server in (frozen, *others):
        assert up(scrape(daemon, server)) == 1
    threads = threads_at_rest(daemon)
    frozen.freeze()
    stuck = [pool.submit(scrape, daemon, frozen) for _ in range(3)]
    assert eventually(lambda: daemon.threads() >= threads + len(stuck))
    for _ in range(3):
        jobs = [pool.submit(scrape, daemon, server) for server in others]
        assert [up(job.result(timeout=30)) for job in jobs] == [1] * len(others)
        assert not any(job.done() for job in stuck)
    frozen.thaw()
    assert [up(job.result(timeout=30)) for job in stuck] == [1, 1, 1]


def test_scrapes_of_one_server_share_its_connection(
    exporter: Start, memcached: Memcacheds, config_file: Configure, pool: ThreadPoolExecutor
) -> None:
    """However many ask for a server at once, /metrics included, they take turns on one."""
    server = memcached()
    daemon = exporter(config_file(patient(server)))
    assert up(scrape(daemon, server)) == 1
    open_now = at_rest(server)
    total = count(server, "total_connections")
    begin = threading.Barrier(30)

    def ask(number: int) -> float:
        begin.wait(timeout=30)
        if number % 3:
            return up(scrape(daemon, server))
        return daemon.samples()[sample("memcached_up", server=server.address)]

    assert list(pool.map(ask, range(30))) == [1] * 30
    assert count(server, "total_connections") == total + 1  # that of who counts
    assert at_rest(server) == open_now


def test_the_queue_ends_at_the_deadline(
    exporter: Start, memcached: Memcacheds, config_file: Configure, pool: ThreadPoolExecutor
) -> None:
    """Who waits for another scrape of a frozen server is answered in time, and makes no more."""
    server = memcached()
    daemon = exporter(config_file(patient(server)))
    assert up(scrape(daemon, server)) == 1
    total, threads = count(server, "total_connections"), threads_at_rest(daemon)
    server.freeze()
    first = pool.submit(scrape, daemon, server)
    waiting(daemon, first, threads + 1)
    short = [pool.submit(scrape, daemon, server, "0.5") for _ in range(5)]
    answers = [job.result(timeout=30) for job in short]
    assert [up(answer) for answer in answers] == [0] * 5
    assert not first.done()
    late = daemon.request(
        f"/scrape?target={server.address}&debug=true", X_Prometheus_Scrape_Timeout_Seconds="0.5"
    )
    assert "down: timeout: another scrape of this server still waits for it" in late.text
    server.thaw()
    assert up(first.result(timeout=30)) == 1
    assert up(scrape(daemon, server)) == 1
    assert count(server, "total_connections") == total + 1  # that of who counts


def test_one_module_does_not_wait_for_another(
    exporter: Start, memcached: Memcacheds, config_file: Configure
) -> None:
    """Each module of a server has its own held connection, which later scrapes use again."""
    server = memcached()
    text = patient(server).replace("modules: {", "modules: {brief: {sections: []}, ")
    daemon = exporter(config_file(text))
    path = f"/scrape?target={server.address}&module="
    before = count(server, "total_connections")
    for _ in range(3):
        assert up(daemon.request(f"{path}default")) == up(daemon.request(f"{path}brief")) == 1
    assert count(server, "total_connections") == before + 3  # one each, and that of who counts
