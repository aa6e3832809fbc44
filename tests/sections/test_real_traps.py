"""Traps that real servers can be led into, while the daemon watches."""

import socket
import time
from collections.abc import Callable

from tests.memcached.pages import Page
from tests.processes import Memcached
from tests.sections.support import ask
from tests.web.clients import eventually

COUNTERS = (
    "memcached_connections_total",
    "memcached_items_total",
    "memcached_read_bytes_total",
    "memcached_written_bytes_total",
)


def commands(page: Page) -> dict[str, float | None]:
    """Return gets and stores of the last scrape."""
    by_status = {"hit": ("get", "hit"), "miss": ("get", "miss"), "set": ("set", "attempt")}
    return {
        name: page.get("memcached_commands_total", command=command, status=status)
        for name, (command, status) in by_status.items()
    }


def hurried(server: Memcached) -> socket.socket:
    """Begin to connect: a server that does not listen lets clients wait."""
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex((server.host, server.port))
    return client


def test_the_memory_limit_changes_at_run_time(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A limit that is set while the server runs is on the next page."""
    server = memcached("-m", "64")
    page = sectioned(server.address)
    assert page().get("memcached_limit_bytes") == 64 * 2**20
    assert ask(server, b"cache_memlimit 128\r\n", b"OK\r\n") == b"OK\r\n"
    assert page().get("memcached_limit_bytes") == 128 * 2**20
    assert ask(server, b"cache_memlimit 32\r\n", b"OK\r\n") == b"OK\r\n"
    assert page().get("memcached_limit_bytes") == 32 * 2**20


def test_settings_change_at_run_time(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Settings are read at each scrape."""
    server = memcached()
    page = sectioned(server.address)
    assert page().get("memcached_settings_slab_automove_mode") == 1
    assert page.get("memcached_lru_hot_ratio") == 0.2
    assert page.get("memcached_lru_crawler_sleep_seconds") == 0.0001
    ask(server, b"slabs automove 0\r\n", b"OK\r\n")
    ask(server, b"lru tune 30 40 0.5 3\r\n", b"OK\r\n")
    ask(server, b"lru_crawler sleep 250\r\n", b"OK\r\n")
    assert page().get("memcached_settings_slab_automove_mode") == 0
    assert page.get("memcached_lru_hot_ratio") == 0.3
    assert page.get("memcached_lru_crawler_hot_max_factor") == 0.5
    assert page.get("memcached_lru_crawler_sleep_seconds") == 0.00025


def test_a_reset_is_no_restart(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """`stats reset` lets the counters fall; the start time stays, and so do the items."""
    server = memcached()
    page = sectioned(server.address)
    for number in range(20):
        ask(server, b"set k%d 0 0 1\r\nx\r\nget k%d\r\nget none\r\n" % (number, number))
    page()
    started = page.get("memcached_start_time_seconds")
    before = [page.get(name) for name in COUNTERS]
    assert commands(page) == {"hit": 20, "miss": 20, "set": 20}
    assert abs((started or 0) - time.time()) < 10
    assert ask(server, b"stats reset\r\n", b"RESET\r\n") == b"RESET\r\n"
    page()
    assert commands(page) == {"hit": 0, "miss": 0, "set": 0}
    assert page.get("memcached_items_total") == 0
    for name, old in zip(COUNTERS, before, strict=True):
        assert (page.get(name) or 0) < (old or 0)
    assert page.get("memcached_current_items") == 20
    assert page.get("memcached_start_time_seconds") == started
    time.sleep(1.1)
    assert page().get("memcached_start_time_seconds") == started


def test_a_restart_is_one(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A server that was started anew has a later start time."""
    server = memcached()
    page = sectioned(server.address)
    started = page().get("memcached_start_time_seconds")
    assert started is not None
    time.sleep(2.1)
    server.restart()
    assert page().get("memcached_up") == 1
    assert (page.get("memcached_start_time_seconds") or 0) >= started + 2


def test_response_objects_below_zero(
    memcached: Callable[..., Memcached],
    clients: Callable[..., socket.socket],
    sectioned: Callable[..., Page],
) -> None:
    """Connections that outlive a reset take the gauge below zero: dropped, counted, logged once."""
    server = memcached()
    page = sectioned(server.address)
    busy = [clients(server, first=b"set half 0 0 10\r\n12") for _ in range(3)]
    assert eventually(lambda: (page().get("memcached_response_objects") or 0) >= 3)
    ask(server, b"stats reset\r\n", b"RESET\r\n")
    for client in busy:
        client.close()
    below = "memcached_exporter_malformed_values"
    assert eventually(lambda: page().get(below) == 1), server.stats()["response_obj_count"]
    assert int(server.stats()["response_obj_count"]) > 2**63
    for _ in range(3):
        assert page().get("memcached_response_objects") is None
        assert page.get("memcached_up") == 1
    assert page.daemon.log.count("malformed values are left out") == 1


def test_time_since_1970_without_listening(
    memcached: Callable[..., Memcached],
    clients: Callable[..., socket.socket],
    sectioned: Callable[..., Page],
) -> None:
    """A reset while the server does not listen makes it send the time since 1970: dropped."""
    server = memcached("-c", "40", "-t", "2", "-o", "no_maxconns_fast")
    page = sectioned(server.address)
    seconds = "memcached_connections_listener_disabled_seconds_total"
    assert page().get("memcached_accepting_connections") == 1
    assert page.get(seconds) == 0
    other = clients(server)
    crowd = [hurried(server) for _ in range(40)]
    assert eventually(lambda: page().get("memcached_accepting_connections") == 0)
    assert page.get("memcached_connections_listener_disabled_total") == 1
    other.sendall(b"stats reset\r\n")
    assert other.recv(100) == b"RESET\r\n"
    for client in crowd:
        client.close()
    assert eventually(lambda: page().get("memcached_accepting_connections") == 1)
    assert int(server.stats()["time_in_listen_disabled_us"]) > 10**15
    assert page.get(seconds) is None
    assert page.get("memcached_exporter_malformed_values") == 1
