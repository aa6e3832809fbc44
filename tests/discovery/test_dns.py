"""Servers from DNS: what records mean, and which answers are failures."""

import socket
from collections.abc import Callable
from functools import partial

import dns.rcode
import dns.resolver
import pytest

from exporter.configuration import DnsDiscovery
from exporter.discovery import dns as dns_module
from exporter.discovery.dns import dns_finder
from exporter.discovery.finding import Find
from exporter.errors import DiscoveryError
from tests.discovery.dns_server import DnsServer
from tests.discovery.support import addresses, modules

Finder = Callable[..., Find]


@pytest.fixture
def finder(nameserver: DnsServer, monkeypatch: pytest.MonkeyPatch) -> Finder:
    """Make what asks our DNS server: ``finder("cache.test", "SRV")``."""
    real = dns.resolver.Resolver

    def resolver() -> dns.resolver.Resolver:
        made = real(configure=False)
        made.nameservers, made.port = [nameserver.host], nameserver.port
        return made

    monkeypatch.setattr(dns.resolver, "Resolver", resolver)
    monkeypatch.setattr(dns_module, "_LIFETIME_SECONDS", 1.0)

    def make(name: str, kind: str, port: int = 0, module: str = "default", **labels: str) -> Find:
        return dns_finder(
            DnsDiscovery(
                record=name,
                type=kind,
                port=port,
                refresh=30.0,
                module=modules("brief")[module],
                labels=tuple(labels.items()),
            )
        )

    return make


def test_a_records(nameserver: DnsServer, finder: Finder) -> None:
    """Each address is a server at the port, with the module and labels of the source."""
    nameserver.set("cache.test", "A", "10.0.0.2", "10.0.0.10", "10.0.0.1")
    finding = finder("cache.test", "A", 11212, "brief", cluster="web")()
    assert (finding.trouble, finding.complete) == ("", True)
    assert sorted(addresses(finding)) == ["10.0.0.10:11212", "10.0.0.1:11212", "10.0.0.2:11212"]
    assert {server.module.name for server in finding.servers} == {"brief"}
    assert {server.labels for server in finding.servers} == {(("cluster", "web"),)}
    assert {server.address.port for server in finding.servers} == {11212}


def test_aaaa_records(nameserver: DnsServer, finder: Finder) -> None:
    """Addresses of IPv6 stand in brackets."""
    nameserver.set("cache.test", "AAAA", "2001:db8::1", "::1")
    finding = finder("cache.test", "AAAA", 11211)()
    assert sorted(addresses(finding)) == ["[2001:db8::1]:11211", "[::1]:11211"]
    assert {server.address.host for server in finding.servers} == {"2001:db8::1", "::1"}


def test_srv_records(nameserver: DnsServer, finder: Finder) -> None:
    """Each target is a server at the port of its record, by its name."""
    nameserver.set(
        "_memcache._tcp.cache.test",
        "SRV",
        "0 10 11211 cache-0.cache.test.",
        "0 10 11212 cache-1.cache.test.",
        "5 0 11211 Spare_1.test.",
    )
    finding = finder("_memcache._tcp.cache.test", "SRV")()
    assert sorted(addresses(finding)) == [
        "Spare_1.test:11211",
        "cache-0.cache.test:11211",
        "cache-1.cache.test:11212",
    ]


@pytest.mark.parametrize("records", [["0 0 0 ."], []])
def test_no_such_service(nameserver: DnsServer, finder: Finder, records: list[str]) -> None:
    """A target of ``.`` says that there is none, as does a name without records (RFC 2782)."""
    nameserver.set("cache.test", "SRV", *records)
    finding = finder("cache.test", "SRV")()
    assert (finding.servers, finding.trouble, finding.complete) == ((), "", True)


def test_no_records_of_this_kind(nameserver: DnsServer, finder: Finder) -> None:
    """A name that exists without addresses of the family has no servers: it was scaled to 0."""
    nameserver.set("cache.test", "A", "10.0.0.1")
    finding = finder("cache.test", "AAAA", 11211)()
    assert (finding.servers, finding.trouble, finding.complete) == ((), "", True)


def test_an_answer_in_another_order_is_the_same(nameserver: DnsServer, finder: Finder) -> None:
    """DNS servers turn their answers around, which changes nothing here."""
    find = finder("cache.test", "A", 11211)
    nameserver.set("cache.test", "A", "10.0.0.1", "10.0.0.2", "10.0.0.3")
    first = find()
    nameserver.set("cache.test", "A", "10.0.0.3", "10.0.0.1", "10.0.0.2")
    assert find() == first


def test_records_that_change(nameserver: DnsServer, finder: Finder) -> None:
    """Each look asks anew, whatever the time to live says."""
    find = finder("cache.test", "A", 11211)
    for records in (["10.0.0.1"], ["10.0.0.1", "10.0.0.2"], ["10.0.0.3"], [], ["10.0.0.1"]):
        nameserver.set("cache.test", "A", *records)
        assert addresses(find()) == [f"{record}:11211" for record in records]


@pytest.mark.parametrize("kind", ["A", "SRV"])
def test_long_answers(nameserver: DnsServer, finder: Finder, kind: str) -> None:
    """What does not fit in a datagram is asked for over TCP, and comes whole."""
    if kind == "A":
        records = [f"10.0.{i // 250}.{i % 250 + 1}" for i in range(1000)]
        expected = {f"{record}:11211" for record in records}
    else:
        records = [f"0 0 11211 cache-{i}.cache.test." for i in range(500)]
        expected = {f"cache-{i}.cache.test:11211" for i in range(500)}
    nameserver.set("cache.test", kind, *records)
    finding = finder("cache.test", kind, 11211 if kind == "A" else 0)()
    assert set(addresses(finding)) == expected
    assert len(finding.servers) == len(expected)
    assert [transport for transport, _, _ in nameserver.questions] == ["udp", "tcp"]


def failure(find: Find) -> str:
    """Look, and return the error, which is one line."""
    with pytest.raises(DiscoveryError) as caught:
        find()
    text = str(caught.value)
    assert text.isprintable()
    assert text.startswith("cache.test: ")
    return text.removeprefix("cache.test: ")


@pytest.mark.parametrize("kind", ["A", "AAAA", "SRV"])
def test_a_name_that_does_not_exist(nameserver: DnsServer, finder: Finder, kind: str) -> None:
    """This may be a fault of the DNS, so it is a failure."""
    assert failure(finder("cache.test", kind, 11211)) == "the name does not exist"


@pytest.mark.parametrize("rcode", ["SERVFAIL", "REFUSED", "FORMERR", "NOTIMP"])
def test_a_server_that_fails(nameserver: DnsServer, finder: Finder, rcode: str) -> None:
    """An answer that says that there is none is a failure, and named."""
    nameserver.set("cache.test", "A", "10.0.0.1")
    find = finder("cache.test", "A", 11211)
    nameserver.rcode = dns.rcode.from_text(rcode)
    assert rcode in failure(find)
    nameserver.rcode = dns.rcode.NOERROR
    assert addresses(find()) == ["10.0.0.1:11211"]


def test_a_server_that_does_not_answer(nameserver: DnsServer, finder: Finder) -> None:
    """It is given up, each time with the same words, so that the log tells it once."""
    nameserver.silent = True
    find = finder("cache.test", "A", 11211)
    first = failure(find)
    assert {failure(find) for _ in range(3)} == {first}
    assert f"{nameserver.host}" in first or "no answer" in first


def test_a_server_that_is_not_there(
    nameserver: DnsServer, finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody listens is a failure too, with the same words each time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((nameserver.host, 0))
        unused = int(probe.getsockname()[1])
    monkeypatch.setattr(nameserver, "port", unused)
    find = finder("cache.test", "A", 11211)
    assert failure(find) == failure(find)


def test_records_that_make_no_address(nameserver: DnsServer, finder: Finder) -> None:
    """A list of which a part cannot be understood is a failure: half of it would mislead."""
    find = partial(failure, finder("cache.test", "SRV"))
    for target, text in (("a\\032b.test.", "address "), ("-a.test.", "no valid host name")):
        nameserver.set("cache.test", "SRV", "0 0 11211 good.test.", f"0 0 11211 {target}")
        assert text in find()
    nameserver.set("cache.test", "SRV", "0 0 0 good.test.")
    assert "port '0' is not a number from 1 to 65535" in find()


@pytest.mark.parametrize("name", ["a..b", f"{'a' * 64}.test", ".a", "a." * 127 + "test"])
def test_names_that_cannot_be(nameserver: DnsServer, finder: Finder, name: str) -> None:
    """A name that DNS does not know the like of is a failure with words, not a crash."""
    with pytest.raises(DiscoveryError, match=r"^\S+: \S+"):
        finder(name, "A", 11211)()
