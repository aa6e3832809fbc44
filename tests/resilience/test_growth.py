"""What is asked for once and never again must not stay in memory (field report G04)."""

import http.client
from collections.abc import Callable

from tests.resilience.support import Daemon

TARGETS = 600
GROWTH_BYTES = 5 * 2**20


def test_g04_many_targets(configured: Callable[..., Daemon]) -> None:
    """Three thousand scrapes of six hundred targets leave memory and descriptors as they were."""
    running = configured("servers: []\nscrape: {allow: [127.0.0.0/8]}\n")
    connection = http.client.HTTPConnection(running.host, running.port, timeout=30)

    def scrape(number: int) -> None:
        connection.request("GET", f"/scrape?target=127.1.{number // 200}.{number % 200 + 1}:1")
        answer = connection.getresponse()
        assert answer.status == 200
        assert b"memcached_up 0\n" in answer.read()

    for number in range(TARGETS):
        scrape(number)
    before, files, threads = running.resident(), running.descriptors(), running.threads()
    for number in range(5 * TARGETS):
        scrape(number % TARGETS)
    assert running.resident() - before < GROWTH_BYTES
    assert (running.descriptors(), running.threads()) == (files, threads)
    for number in range(TARGETS, 2 * TARGETS):
        scrape(number)
    assert running.resident() - before < GROWTH_BYTES
    assert running.descriptors() == files
    connection.close()


def test_g04_pages_that_do_not_exist(configured: Callable[..., Daemon]) -> None:
    """Names that clients make up, of paths, modules and targets, are not remembered."""
    running = configured("servers: []\n")
    connection = http.client.HTTPConnection(running.host, running.port, timeout=30)

    def ask(number: int) -> None:
        for path in (
            f"/nope{number}?x={number}",
            f"/scrape?target=a&module=m{number}",
            f"/scrape?target=host{number}.invalid",
        ):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status in {400, 403, 404}
            answer.read()

    for number in range(200):
        ask(number)
    before, series = running.resident(), len(running.samples())
    for number in range(200, 1200):
        ask(number)
    assert running.resident() - before < GROWTH_BYTES
    assert len(running.samples()) == series
    connection.close()
