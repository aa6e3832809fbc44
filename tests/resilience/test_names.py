"""Names of servers: they move, lead to several addresses, or are not answered for."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.memcached.support import has_ipv6
from tests.processes import Memcached, free_port, sample
from tests.resilience.networks import need_namespaces, own_network, with_files
from tests.resilience.support import Watched, elapsed_below
from tests.web.clients import eventually

Start = Callable[..., Memcached]
Watch = Callable[..., Watched]


@pytest.fixture
def hosts(shared: Path) -> Path:
    """A file to take the place of /etc/hosts for a daemon."""
    need_namespaces()
    return shared / "hosts"


def test_b20_name_that_moves(memcached: Start, watch: Watch, hosts: Path) -> None:
    """The first scrape after the old server is gone is of the new one, at the new address."""
    first = memcached(host="127.0.0.1")
    second = memcached(port=first.port, host="127.0.0.2")
    hosts.write_text("127.0.0.1 cache.test\n")
    found = watch(f"cache.test:{first.port}", "{}", prefix=with_files(hosts=hosts))
    assert (found.up(), found.get("memcached_items_total")) == (1, 0)
    with contextlib.closing(second.client()) as client:
        client.set_many({f"key{i}": b"x" for i in range(7)}, noreply=False)
    hosts.write_text("127.0.0.2 cache.test\n")
    assert (found.up(), found.get("memcached_items_total")) == (1, 0)
    first.stop()
    assert (found.up(), found.get("memcached_items_total")) == (1, 7)
    assert found.errors() == {}


def test_name_that_moves_away_from_a_hung_server(
    memcached: Start, watch: Watch, hosts: Path
) -> None:
    """A server that hangs costs one scrape; the next one is of the server that replaced it."""
    first = memcached(host="127.0.0.1")
    memcached(port=first.port, host="127.0.0.2")
    hosts.write_text("127.0.0.1 cache.test\n")
    module = "{timeout: 300ms}"
    found = watch(f"cache.test:{first.port}", module, prefix=with_files(hosts=hosts))
    assert found.up() == 1
    hosts.write_text("127.0.0.2 cache.test\n")
    first.freeze()
    assert (found.up(), found.errors()) == (0, {"timeout": 1})
    assert found.up() == 1


def test_name_that_comes_and_goes(memcached: Start, watch: Watch, hosts: Path) -> None:
    """A name that is not known is `dns`, a held connection does not need it, and it may come."""
    server = memcached()
    hosts.write_text("")
    with own_network():
        found = watch(f"cache.test:{free_port()}", "{}", prefix=with_files(hosts=hosts))
        assert (found.up(), found.errors()) == (0, {"dns": 1})
        assert "cache.test" in found.daemon.warnings()[0]
    found = watch(f"cache.test:{server.port}", "{}", prefix=with_files(hosts=hosts))
    hosts.write_text("127.0.0.1 cache.test\n")
    assert found.up() == 1
    hosts.write_text("")
    assert found.up() == 1


@pytest.mark.parametrize("family", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("order", [1, -1])
def test_name_of_both_families(
    memcached: Start, watch: Watch, hosts: Path, family: str, order: int
) -> None:
    """A server that listens on one family only is up at each scrape, whichever comes first."""
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    server = memcached(host=family)
    lines = ["127.0.0.1 cache.test\n", "::1 cache.test\n"][::order]
    hosts.write_text("".join(lines))
    found = watch(f"cache.test:{server.port}", "{}", prefix=with_files(hosts=hosts))
    for _ in range(3):
        with elapsed_below(0.5):
            assert found.up() == 1
        server.restart()
    assert found.up() == 1
    assert found.errors() == {}


def test_one_of_two_addresses_is_silent(memcached: Start, watch: Watch, hosts: Path) -> None:
    """An address that answers no connect leaves time for the next one, within one deadline."""
    with socket.socket() as full:
        full.bind(("127.0.0.3", 0))
        port = full.getsockname()[1]
        full.listen(0)
        memcached(port=port, host="127.0.0.4")
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.3", port))
        hosts.write_text("127.0.0.3 cache.test\n127.0.0.4 cache.test\n")
        found = watch(f"cache.test:{port}", "{timeout: 600ms}", prefix=with_files(hosts=hosts))
        with elapsed_below(1):
            assert found.up() == 1
        with elapsed_below(0.2):
            assert found.up() == 1
        for one in waiting:
            one.close()


@pytest.fixture
def silent_resolver(shared: Path) -> Iterator[Path]:
    """In a network of its own, a DNS server that takes all questions and answers none."""
    with own_network(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.53", 53))
        path = shared / "resolv.conf"
        path.write_text("nameserver 127.0.0.53\noptions timeout:2 attempts:1\n")
        yield path


def test_dns_server_that_never_answers(
    memcached: Start, watch: Watch, silent_resolver: Path
) -> None:
    """Scrapes end at their deadlines, share one thread for the name, and leave nothing behind."""
    module = "{timeout: 100ms}"
    prefix = with_files(resolv_conf=silent_resolver)
    found = watch("cache.test:11211", module, prefix=prefix)
    with elapsed_below(0.5):
        assert found.up() == 0
    threads, files = found.daemon.threads(), found.daemon.descriptors()
    for number in range(2, 31):
        with elapsed_below(0.5):
            assert found.up() == 0
        assert found.errors() == {"dns": number}
        assert found.daemon.threads() <= threads + 1
        assert found.daemon.descriptors() <= files + 2
    (line,) = found.daemon.warnings()
    assert "no answer for the name cache.test before the deadline" in line


def test_dns_server_that_never_answers_stops_nobody_else(
    memcached: Start, watch: Watch, silent_resolver: Path
) -> None:
    """While one name is stuck, a server with an address is read, and the daemon ends in time."""
    server = memcached()
    found = watch(
        server.address,
        "{timeout: 300ms}",
        "--memcached.address=cache.test:11211",
        f"--memcached.address={server.address}",
        prefix=with_files(resolv_conf=silent_resolver),
    )
    with elapsed_below(1.5):
        assert found.up() == 1
    assert found.samples[sample("memcached_up", server="cache.test:11211")] == 0
    began = time.monotonic()
    found.daemon.process.terminate()
    assert found.daemon.process.wait(timeout=10) == 0
    assert time.monotonic() - began < 5


def test_dns_server_that_answers_again(watch: Watch, silent_resolver: Path, shared: Path) -> None:
    """When the resolver is well again, so is the next scrape that asks it anew."""
    hosts = shared / "hosts"
    hosts.write_text("")
    prefix = with_files(resolv_conf=silent_resolver, hosts=hosts)
    server = Memcached()
    try:
        found = watch(f"cache.test:{server.port}", "{timeout: 200ms}", prefix=prefix)
        assert found.up() == 0
        hosts.write_text("127.0.0.1 cache.test\n")
        assert eventually(lambda: found.up() == 1)
        assert set(found.errors()) == {"dns"}
    finally:
        server.stop()
