"""Connections of real servers in known states, as the daemon shows them."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from socket import socket

import pytest

from tests.memcached.pages import Page
from tests.memcached.support import has_ipv6, memcached_on_socket
from tests.processes import Memcached, free_port
from tests.sections.support import family
from tests.web.clients import eventually

OPEN = "memcached_open_connections"
CLIENTS = "memcached_client_connections"


def states(page: Page, *, without: str = "") -> dict[str, float]:
    """Scrape and return open connections by state."""
    found: Counter[str] = Counter()
    for (_, _, _, state), number in family(page().samples, OPEN).items():
        found[state] += int(number)
    del found[without]
    return dict(found)


def clients_of(page: Page) -> dict[str, float]:
    """Scrape and return open connections by client address."""
    return {client: n for (client, _), n in family(page().samples, CLIENTS).items()}


def test_states_of_connections(
    memcached: Callable[..., Memcached],
    clients: Callable[..., socket],
    sectioned: Callable[..., Page],
) -> None:
    """Idle clients, one that is sending an item, a watcher and the exporter are told apart."""
    server = memcached()
    page = sectioned(server.address)
    for _ in range(7):
        clients(server, first=b"mn\r\n").recv(16)
    clients(server, first=b"set half 0 0 10\r\n12345")
    clients(server, first=b"watch evictions\r\n").recv(16)
    expected = {
        "conn_listening": 1,
        "conn_read": 7,
        "conn_nread": 1,
        "conn_watch": 1,
        "conn_parse_cmd": 1,
    }
    assert eventually(lambda: states(page) == expected), states(page)
    listeners = {listener for _, listener, _, _ in family(page.samples, OPEN)}
    assert listeners == {f"tcp:{server.address}"}


def test_connections_end(
    memcached: Callable[..., Memcached],
    clients: Callable[..., socket],
    sectioned: Callable[..., Page],
) -> None:
    """A state that no connection is in any more is gone, not held at its last number."""
    server = memcached()
    page = sectioned(server.address)
    held = [clients(server, first=b"mn\r\n") for _ in range(3)]
    assert eventually(lambda: states(page).get("conn_read") == 3)
    for client in held:
        client.close()
    assert eventually(lambda: states(page) == {"conn_listening": 1, "conn_parse_cmd": 1})


def test_clients_by_address(
    memcached: Callable[..., Memcached],
    clients: Callable[..., socket],
    sectioned: Callable[..., Page],
) -> None:
    """Clients with most connections are named by their IP address; their sum is the total."""
    server = memcached()
    page = sectioned(server.address, top_clients=2)
    for source, count in (("127.0.0.2", 5), ("127.0.0.3", 3), ("127.0.0.4", 2)):
        for _ in range(count):
            clients(server, source, b"mn\r\n").recv(16)
    expected = {"127.0.0.2": 5, "127.0.0.3": 3, "other": 3}
    assert eventually(lambda: clients_of(page) == expected), clients_of(page)
    assert states(page, without="conn_listening") == {"conn_read": 10, "conn_parse_cmd": 1}


def test_clients_are_not_named_unasked(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Without top_clients no address of a client is on the page."""
    page = sectioned(memcached().address)
    assert clients_of(page) == {}
    assert states(page) == {"conn_listening": 1, "conn_parse_cmd": 1}


def test_idleness_grows(
    memcached: Callable[..., Memcached],
    clients: Callable[..., socket],
    sectioned: Callable[..., Page],
) -> None:
    """A client that has been silent for seconds moves to the next span."""
    server = memcached()
    page = sectioned(server.address)
    clients(server, first=b"mn\r\n").recv(16)
    deadline = time.monotonic() + 5
    idle = {"idle": "<10s", "state": "conn_read", "listener": f"tcp:{server.address}"}
    while page().get(OPEN, **idle) is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert page.get(OPEN, **idle) == 1
    assert page.get(OPEN, **(idle | {"idle": "<1s"})) is None


def test_unix_socket(tmp_path: Path, sectioned: Callable[..., Page]) -> None:
    """Connections on a unix socket come in on its path, and their client is `unix`."""
    path = tmp_path / "mc.sock"
    with memcached_on_socket(path):
        page = sectioned(f"unix:{path}", top_clients=3)
        assert clients_of(page) == {"unix": 1, "other": 0}
        listeners = {listener for _, listener, _, _ in family(page.samples, OPEN)}
        assert listeners == {f"unix:{path}"}


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
def test_ipv6(memcached: Callable[..., Memcached], sectioned: Callable[..., Page]) -> None:
    """An IPv6 client is shown without brackets and port."""
    server = memcached(host="::1")
    page = sectioned(server.address, top_clients=3)
    assert clients_of(page) == {"::1": 1, "other": 0}
    assert {listener for _, listener, _, _ in family(page.samples, OPEN)} == {
        f"tcp6:[::1]:{server.port}"
    }


def test_udp(memcached: Callable[..., Memcached], sectioned: Callable[..., Page]) -> None:
    """Each worker thread has a UDP socket, which is a listener and no client."""
    port = free_port()
    server = memcached("-t", "3", "-U", str(port))
    page = sectioned(server.address, top_clients=3)
    assert clients_of(page) == {"127.0.0.1": 1, "other": 0}
    listeners: Counter[str] = Counter()
    for (_, listener, _, _), number in family(page.samples, OPEN).items():
        listeners[listener] += int(number)
    assert listeners == {f"tcp:{server.address}": 2, f"udp:127.0.0.1:{port}": 3}
