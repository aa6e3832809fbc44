"""ElastiCache's configuration endpoints: both forms of the question, and answers that are wrong."""

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from exporter.configuration import Auth
from exporter.discovery import elasticache as elasticache_module
from exporter.errors import DiscoveryError
from exporter.tls import ClientTls
from tests.discovery.elasticache import (
    COMMAND,
    DOCUMENTED,
    KEY,
    OLD_COMMAND,
    announce,
    answer,
    find,
    payload,
    raw,
    tell,
)
from tests.discovery.support import addresses, modules
from tests.processes import FakeMemcached, Memcached
from tests.resilience.certificates import Authority

Fake = Callable[..., FakeMemcached]
Start = Callable[..., Memcached]

NODES = [
    "myCluster.pc4ldq.0001.use1.cache.amazonaws.com:11211",
    "myCluster.pc4ldq.0002.use1.cache.amazonaws.com:11211",
]


def test_the_documented_answer(fake: Fake, tmp_path: Path) -> None:
    """The answer of AWS' documentation has its nodes by name; one question was asked."""
    text = answer(DOCUMENTED)
    assert text.startswith("CONFIG cluster 0 136\r\n12\n")
    log = tmp_path / "log"
    endpoint = fake(*raw(tmp_path / "raw", text), "--log", str(log))
    log.write_text("")
    finding = find(endpoint.address, modules("brief")["brief"], cluster="web")()
    assert addresses(finding) == NODES
    assert (finding.trouble, finding.complete) == ("", True)
    assert {(s.module.name, s.labels) for s in finding.servers} == {
        ("brief", (("cluster", "web"),))
    }
    assert log.read_text().splitlines() == [repr(COMMAND)]


def test_an_answer_in_pieces(fake: Fake, tmp_path: Path) -> None:
    """It does not matter how the network cuts the answer."""
    flags = raw(tmp_path / "raw", answer(DOCUMENTED))
    assert addresses(find(fake(*flags, "--mode", "bytes").address)()) == NODES


def test_the_old_question(memcached: Start) -> None:
    """Engines before 1.4.14 keep the list as the value of a key, which a real server has here."""
    endpoint = memcached()
    announce(endpoint, "a.test|10.0.0.1|11211", "b.test|10.0.0.2|11212")
    look = find(endpoint.address)
    assert addresses(look()) == ["a.test:11211", "b.test:11212"]
    announce(endpoint, "c.test|10.0.0.3|11211")
    assert addresses(look()) == ["c.test:11211"]


def test_the_old_question_to_an_old_engine(fake: Fake, tmp_path: Path) -> None:
    """The second question is asked only where the first one is not known."""
    text = answer(DOCUMENTED, f"VALUE {KEY} 0")
    log = tmp_path / "log"
    endpoint = fake(*raw(tmp_path / "raw", text, OLD_COMMAND), "--log", str(log))
    log.write_text("")
    assert addresses(find(endpoint.address)()) == NODES
    assert log.read_text().splitlines() == [repr(COMMAND), repr(OLD_COMMAND)]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        (["a.test||11211"], ["a.test:11211"]),  # AWS leaves the address out while a node begins
        (["a.test|10.0.0.1|1", "a.test|10.0.0.1|2"], ["a.test:1", "a.test:2"]),
        (["10.0.0.1|10.0.0.1|65535"], ["10.0.0.1:65535"]),
        (
            [f"n{i}.test|10.0.0.1|11211" for i in range(300)],
            [f"n{i}.test:11211" for i in range(300)],
        ),
    ],
)
def test_good_lists(fake: Fake, tmp_path: Path, nodes: list[str], expected: list[str]) -> None:
    """Nodes without an address, on one host, and many of them are understood."""
    endpoint = fake(*raw(tmp_path / "raw", answer(payload(*nodes))))
    assert addresses(find(endpoint.address)()) == expected


def test_a_list_without_its_last_line_end(fake: Fake, tmp_path: Path) -> None:
    """What is compatible with ElastiCache may end the list without a line end."""
    endpoint = fake(*raw(tmp_path / "raw", answer(DOCUMENTED.rstrip("\n"))))
    assert addresses(find(endpoint.address)()) == NODES


def failure(address: str) -> str:
    """Look, and return the error after the address, which is one line."""
    with pytest.raises(DiscoveryError) as caught:
        find(address)()
    text = str(caught.value)
    assert text.isprintable()
    assert text.startswith(f"{address}: ")
    return text.removeprefix(f"{address}: ")


GOOD = "a.test|10.0.0.1|11211"
WRONG = {
    "shorter than it says": f"CONFIG cluster 0 999\r\n{payload(GOOD)}\r\nEND\r\n",
    "longer than it says": f"CONFIG cluster 0 9\r\n{payload(GOOD)}\r\nEND\r\n",
    "no length": f"CONFIG cluster 0\r\n{payload(GOOD)}\r\nEND\r\n",
    "more words": answer(payload(GOOD), "CONFIG cluster 0 0"),
    "another thing": answer(payload(GOOD), "CONFIG other 0"),
    "another key": answer(payload(GOOD), "VALUE other 0"),
    "no version": answer(f"{GOOD}\n"),
    "an odd version": answer(f"v12\n{GOOD}\n"),
    "no nodes": answer("12\n\n"),
    "nothing": answer(""),
    "a line too much": answer(f"{payload(GOOD)}{GOOD}\n"),
    "two fields": answer(payload(GOOD, "a.test|11211")),
    "four fields": answer(payload(GOOD, "a.test|10.0.0.1|11211|x")),
    "no host": answer(payload(GOOD, "|10.0.0.1|11211")),
    "no port": answer(payload(GOOD, "a.test|10.0.0.1|")),
    "a port of letters": answer(payload(GOOD, "a.test|10.0.0.1|http")),
    "half a node": answer(payload(GOOD, "a.te")),
    "the end alone": "END\r\n",
    "a failure": "SERVER_ERROR out of memory\r\n",
    "statistics": "STAT pid 1\r\nEND\r\n",
    "a version": "VERSION 1.6.18\r\n",
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_answers(fake: Fake, tmp_path: Path, kind: str) -> None:
    """Whatever is not exactly a list is a failure as a whole, and the error asks the question."""
    text = failure(fake(*raw(tmp_path / "raw", WRONG[kind])).address)
    assert text.startswith("the answer is not a list of ElastiCache's: ")
    assert text.endswith(": is this the configuration endpoint?")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ("a.test|10.0.0.1|0", "port '0' is not a number from 1 to 65535"),
        ("a.test|10.0.0.1|99999", "port '99999' is not a number from 1 to 65535"),
        ("a/b|10.0.0.1|11211", "has a character that no host name has"),
        ("::1|::1|11211", "is ambiguous"),
    ],
)
def test_nodes_that_make_no_address(fake: Fake, tmp_path: Path, node: str, text: str) -> None:
    """A node that cannot be dialled makes the list a failure, and is named."""
    found = failure(fake(*raw(tmp_path / "raw", answer(payload(GOOD, node)))).address)
    assert found.startswith("a node has an odd address ")
    assert text in found


def test_an_ordinary_server(memcached: Start) -> None:
    """A memcached that is no endpoint knows neither the command nor the key."""
    text = failure(memcached().address)
    assert text.endswith("'END': is this the configuration endpoint?")


def test_error_to_both(fake: Fake) -> None:
    """A server that knows neither question says so."""
    text = failure(fake().address)
    assert text.endswith("'ERROR': is this the configuration endpoint?")


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("half", "closed"),
        ("close", "closed"),
        ("hang", "timeout"),
        ("flood", "protocol"),
        ("extra", "protocol"),
        ("full", "connection_limit"),
    ],
)
def test_broken_connections(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, reason: str
) -> None:
    """A torn, late or endless answer is a failure with the reason that a scrape would have."""
    monkeypatch.setattr(elasticache_module, "_SECONDS", 2.0 if mode == "flood" else 0.5)
    endpoint = fake(*raw(tmp_path / "raw", answer(DOCUMENTED)), "--mode", mode)
    assert failure(endpoint.address).startswith(f"{reason}: ")


def test_nobody_there() -> None:
    """An endpoint that refuses is told as such."""
    assert failure("127.0.0.1:1").startswith("refused: ")


def test_connections_are_given_back(memcached: Start) -> None:
    """Each look has a connection of its own and closes it, after failures too."""
    endpoint = memcached()
    look = find(endpoint.address)
    before = int(endpoint.stats()["curr_connections"])
    for _ in range(5):
        with pytest.raises(DiscoveryError):
            look()
        announce(endpoint, GOOD)
        look()
        tell(endpoint, "")
    assert int(endpoint.stats()["curr_connections"]) <= before + 1


def test_with_tls(memcached: Start, tmp_path: Path) -> None:
    """An endpoint with encryption in transit is asked over the TLS of the module."""
    tmp_path.chmod(0o755)
    authority = Authority(tmp_path)
    endpoint = memcached(*authority.issue().serve())
    text = payload(GOOD)
    context = ssl.create_default_context(cafile=str(authority.ca))
    plain = socket.create_connection((endpoint.host, endpoint.port), timeout=5)
    with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
        secure.sendall(f"set {KEY} 0 0 {len(text)}\r\n{text}\r\n".encode())
        assert secure.recv(100) == b"STORED\r\n"
    tls = ClientTls(ca_file=str(authority.ca))
    module = msgspec.structs.replace(modules()["default"], tls=tls)
    assert addresses(find(endpoint.address, module)()) == ["a.test:11211"]
    with pytest.raises(DiscoveryError, match=": closed: "):
        find(endpoint.address)()


def test_with_a_login(memcached: Start, shared: Path) -> None:
    """An endpoint that asks for a login gets that of the module."""
    users, password = shared / "users", shared / "password"
    users.write_text("mon:s3cret\n")
    password.write_text("s3cret\n")
    endpoint = memcached("-Y", str(users))
    text = payload(GOOD)
    with socket.create_connection((endpoint.host, endpoint.port), timeout=5) as connection:
        connection.sendall(b"set auth 0 0 10\r\nmon s3cret\r\n")
        assert connection.recv(100) == b"STORED\r\n"
        connection.sendall(f"set {KEY} 0 0 {len(text)}\r\n{text}\r\n".encode())
        assert connection.recv(100) == b"STORED\r\n"
    auth = Auth("mon", password_file=str(password))
    module = msgspec.structs.replace(modules()["default"], auth=auth)
    assert addresses(find(endpoint.address, module)()) == ["a.test:11211"]
    assert failure(endpoint.address).startswith("auth: ")
