"""A daemon whose servers come from DNS, in a network with a DNS server of our own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import dns.rcode
import pytest

from tests.discovery.dns_server import DnsServer
from tests.discovery.support import on_page, sd, sources, up
from tests.processes import Memcached
from tests.resilience.networks import own_network, with_files
from tests.resilience.support import Daemon, count
from tests.web.clients import eventually

Start = Callable[..., Daemon]
Memcacheds = Callable[..., Memcached]

A = "dns:A:cache.test:11211"
SRV = "dns:SRV:_memcache._tcp.cache.test"
CONFIG = """
discovery:
  dns:
  - {name: cache.test, port: 11211, refresh: 50ms, labels: {cluster: web}}
"""
SRV_CONFIG = """
discovery:
  dns:
  - {name: _memcache._tcp.cache.test, type: SRV, refresh: 50ms}
"""


@pytest.fixture
def world() -> Iterator[DnsServer]:
    """Run the test in a network of its own, which has a DNS server and no servers yet."""
    with own_network(), DnsServer("127.0.0.53", 53) as server:
        server.set("cache.test", "A")
        yield server


@pytest.fixture
def prefix(world: DnsServer, tmp_path: Path) -> tuple[str, ...]:
    """What makes a daemon ask our DNS server; names without a dot are looked for in ``.test``."""
    resolv_conf, hosts = tmp_path / "resolv.conf", tmp_path / "hosts"
    resolv_conf.write_text("nameserver 127.0.0.53\nsearch test\noptions timeout:1 attempts:1\n")
    hosts.write_text("")
    return with_files(resolv_conf=resolv_conf, hosts=hosts)


def test_a_headless_service(
    world: DnsServer, prefix: tuple[str, ...], memcached: Memcacheds, start: Start
) -> None:
    """Servers come and go with the records; those that stay keep their connections."""
    hosts = ("127.0.1.1", "127.0.1.2", "127.0.1.3")
    servers = [memcached(host=host, port=11211) for host in hosts]
    world.set("cache.test", "A", *hosts[:2])
    daemon = start(CONFIG, prefix=prefix)
    assert on_page(daemon) == {"127.0.1.1:11211": 1, "127.0.1.2:11211": 1}
    assert up(daemon, "127.0.1.1:11211", cluster="web") == 1
    assert sources(daemon) == {"static": 0, A: 2}
    before = count(servers[1], "total_connections")
    world.set("cache.test", "A", *hosts[1:])
    assert eventually(lambda: on_page(daemon) == {"127.0.1.2:11211": 1, "127.0.1.3:11211": 1})
    assert count(servers[1], "total_connections") == before + 1  # that of who counts
    assert [group["labels"]["instance"] for group in sd(daemon)] == [
        "127.0.1.2:11211",
        "127.0.1.3:11211",
    ]
    world.set("cache.test", "A")
    assert eventually(lambda: on_page(daemon) == {})
    assert sd(daemon) == []
    assert sources(daemon, "failures_total") == {"static": 0, A: 0}
    assert daemon.warnings() == []


def test_srv_records_lead_to_servers(
    world: DnsServer, prefix: tuple[str, ...], memcached: Memcacheds, start: Start
) -> None:
    """Names and ports of the records are dialled by way of the same DNS server."""
    first, second = memcached(host="127.0.1.1"), memcached(host="127.0.1.2")
    world.set("cache-0.cache.test", "A", "127.0.1.1")
    world.set("cache-1.cache.test", "A", "127.0.1.2")
    world.set(
        "_memcache._tcp.cache.test",
        "SRV",
        f"0 0 {first.port} cache-0.cache.test.",
        f"0 0 {second.port} cache-1.cache.test.",
    )
    daemon = start(SRV_CONFIG, prefix=prefix)
    names = {f"cache-0.cache.test:{first.port}": 1, f"cache-1.cache.test:{second.port}": 1}
    assert on_page(daemon) == names
    for name in names:
        answer = daemon.request(f"/scrape?target={name}")
        assert (answer.status, "\nmemcached_up 1\n" in answer.text) == (200, True)


def test_a_name_in_the_search_list(
    world: DnsServer, prefix: tuple[str, ...], memcached: Memcacheds, start: Start
) -> None:
    """A short name is completed as the system's resolver would do it, as in Kubernetes."""
    memcached(host="127.0.1.1", port=11211)
    world.set("cache.test", "A", "127.0.1.1")
    config = "discovery: {dns: [{name: cache, port: 11211}]}"
    assert on_page(start(config, prefix=prefix)) == {"127.0.1.1:11211": 1}


@pytest.mark.parametrize("fault", ["NXDOMAIN", "SERVFAIL"])
def test_faults_keep_the_list(
    world: DnsServer, prefix: tuple[str, ...], memcached: Memcacheds, start: Start, fault: str
) -> None:
    """Each failure is counted, the log tells it once, servers stay until DNS works again."""
    memcached(host="127.0.1.1", port=11211)
    world.set("cache.test", "A", "127.0.1.1")
    daemon = start(CONFIG, prefix=prefix)
    assert on_page(daemon) == {"127.0.1.1:11211": 1}
    if fault == "SERVFAIL":
        world.rcode = dns.rcode.SERVFAIL
    else:
        world.forget("cache.test")
    assert eventually(lambda: sources(daemon, "failures_total")[A] >= 3)
    last = sources(daemon, "last_success_timestamp_seconds")[A]
    failures = sources(daemon, "failures_total")[A]
    assert eventually(lambda: sources(daemon, "failures_total")[A] >= failures + 2)
    assert sources(daemon, "last_success_timestamp_seconds")[A] == last
    assert sources(daemon)[A] == 1
    assert on_page(daemon) == {"127.0.1.1:11211": 1}
    assert len(sd(daemon)) == 1
    (warning,) = daemon.warnings()
    assert "what was found before stays" in warning
    assert f"source={A}" in warning
    assert "servers=1" in warning
    world.rcode = dns.rcode.NOERROR
    world.set("cache.test", "A")
    assert eventually(lambda: on_page(daemon) == {})
    assert sources(daemon, "last_success_timestamp_seconds")[A] > last
    assert "discovery works again" in daemon.log


def test_a_silent_dns_server_is_told_of_once(
    world: DnsServer, prefix: tuple[str, ...], start: Start
) -> None:
    """The daemon starts without an answer, /sd waits for one, and the log says it once."""
    world.silent = True
    daemon = start(CONFIG, prefix=prefix)
    assert daemon.request("/sd").status == 503
    assert eventually(lambda: sources(daemon, "failures_total")[A] >= 2, 30)
    assert daemon.request("/sd").status == 503
    assert len(daemon.warnings()) == 1
    world.silent = False
    assert eventually(lambda: daemon.request("/sd").status == 200)
    assert sd(daemon) == []


def test_a_name_that_never_was(world: DnsServer, prefix: tuple[str, ...], start: Start) -> None:
    """Nothing is known before the first answer, so there is no list; then there is."""
    daemon = start(SRV_CONFIG, prefix=prefix)
    answer = daemon.request("/sd")
    assert (answer.status, "see the log" in answer.text) == (503, True)
    assert sources(daemon) == {"static": 0, SRV: 0}
    assert daemon.request("/metrics").status == 200
    assert "does not exist" in daemon.warnings()[0]
    world.set("_memcache._tcp.cache.test", "SRV")
    assert eventually(lambda: daemon.request("/sd").status == 200)
    assert sd(daemon) == []
