"""Networks that lose, refuse or hold back what is sent."""

import socket
from collections.abc import Callable, Iterator

import pytest

from tests.processes import Memcached
from tests.resilience.networks import Cable, cable, ip, own_network
from tests.resilience.support import Watched, elapsed_below, settle
from tests.web.clients import eventually

Watch = Callable[..., Watched]


@pytest.fixture
def between() -> Iterator[Cable]:
    """Run the test in a network with a cable to another one."""
    with cable() as made:
        yield made


@pytest.fixture
def far_memcached(between: Cable) -> Iterator[Memcached]:
    """Start a memcached at the other end of the cable."""
    with between.there():
        server = Memcached(host="10.9.0.2")
    yield server
    server.stop()


def test_cable_is_pulled_under_a_held_connection(
    between: Cable, far_memcached: Memcached, watch: Watch
) -> None:
    """Without a network each scrape fails in time; with it the first one is up."""
    found = watch(far_memcached.address, "{timeout: 500ms}")
    for _ in range(3):
        assert found.up() == 1
    threads, files = found.daemon.threads(), found.daemon.descriptors()
    between.pull()
    for number in range(1, 6):
        with elapsed_below(1):
            assert found.up() == 0
        assert sum(found.errors().values()) == number
    assert set(found.errors()) <= {"timeout", "unreachable"}
    assert found.errors()["timeout"] >= 1
    settle(found.daemon, threads, files)
    between.plug()
    # The link itself takes a moment; the exporter must not.
    assert eventually(lambda: reaches(far_memcached))
    assert found.up() == 1
    assert len(found.daemon.warnings()) <= 2


def reaches(server: Memcached) -> bool:
    """Return whether a connection to a server can be made now."""
    try:
        socket.create_connection((server.host, server.port), timeout=0.2).close()
    except OSError:
        return False
    return True


def test_connect_that_is_never_answered(between: Cable, watch: Watch) -> None:
    """An address where all is lost costs the deadline, leaves no socket, and is a timeout."""
    ip("neighbor", "add", "10.9.0.7", "lladdr", "02:00:00:00:00:07", "dev", "near")
    found = watch("10.9.0.7:11211", "{timeout: 200ms}")
    assert found.up() == 0
    threads, files = found.daemon.threads(), found.daemon.descriptors()
    for number in range(2, 12):
        with elapsed_below(0.6):
            assert found.up() == 0
        assert found.errors() == {"timeout": number}
    settle(found.daemon, threads, files)
    (line,) = found.daemon.warnings()
    assert "no connection before the deadline" in line


def test_the_deadline_of_prometheus_counts_here_too(between: Cable, watch: Watch) -> None:
    """A connect that is never answered ends before Prometheus gives up."""
    ip("neighbor", "add", "10.9.0.7", "lladdr", "02:00:00:00:00:07", "dev", "near")
    found = watch("10.9.0.7:11211", "{timeout: 30s}")
    with elapsed_below(0.5):
        answer = found.daemon.request("/metrics", X_Prometheus_Scrape_Timeout_Seconds="0.5")
    assert 'memcached_up{server="10.9.0.7:11211"} 0\n' in answer.text


@pytest.mark.parametrize("kind", ["unreachable", "blackhole", "prohibit"])
def test_routes_that_lead_nowhere(watch: Watch, kind: str) -> None:
    """What the system itself refuses to send is unreachable, at once."""
    with own_network():
        ip("route", "add", kind, "10.10.0.0/24")
        found = watch("10.10.0.1:11211", "{}")
        with elapsed_below(0.5):
            assert found.up() == 0
        assert found.errors() == {"unreachable": 1}


def test_no_network_at_all(watch: Watch) -> None:
    """Without any route a server is unreachable, and one line says so."""
    with own_network():
        found = watch("192.0.2.1:11211", "{}")
        for number in range(1, 4):
            assert found.up() == 0
            assert found.errors() == {"unreachable": number}
    (line,) = found.daemon.warnings()
    assert "network is unreachable" in line


def test_d05_loopback_of_another_network(watch: Watch) -> None:
    """In a container 127.0.0.1 is the container: refused, and the log has the address."""
    server = Memcached()
    try:
        with own_network():
            found = watch(server.address, "{}")
            assert (found.up(), found.errors()) == (0, {"refused": 1})
            (line,) = found.daemon.warnings()
            assert f"server={server.address}" in line
    finally:
        server.stop()
