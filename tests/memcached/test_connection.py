"""Ways to a server: names, address families, refusals, and addresses that do not answer."""

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from exporter.addresses import parse_address
from exporter.errors import ForbiddenTargetError, ReadError, Reason
from exporter.memcached.connection import connect, first_words, read_error
from exporter.memcached.resolution import interleave, resolve
from exporter.memcached.server import Server
from tests.memcached.support import COMMANDS, failure, has_ipv6, module, reader, scrape
from tests.processes import FakeMemcached, Memcached, free_port

needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Let the resolver know these names and nothing else."""
    known: dict[str, list[str]] = {}

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (
                socket.AF_INET6 if ":" in ip else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (ip, port),
            )
            for ip in known[host]
        ]

    real = socket.getaddrinfo

    def for_names(host: str, *rest: Any, **options: Any) -> list[Any]:
        numeric = ":" in host or host.replace(".", "").isdigit()
        return (real if numeric else getaddrinfo)(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", for_names)
    return known


@contextlib.contextmanager
def deaf() -> Iterator[int]:
    """Listen on a port of 127.0.0.1 that answers no attempt to connect: its queue is full."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = int(listener.getsockname()[1])
        with contextlib.suppress(TimeoutError):
            while True:
                waiting = stack.enter_context(socket.socket())
                waiting.settimeout(0.05)
                waiting.connect(("127.0.0.1", port))
        yield port


def test_a_closed_port_is_refused() -> None:
    """Nobody listens: the reason is `refused`, at once."""
    with reader(f"127.0.0.1:{free_port()}") as held:
        assert failure(held) == (Reason.REFUSED, "connection refused")


def test_a_name_that_does_not_exist_is_a_matter_of_dns(names: dict[str, list[str]]) -> None:
    """The text has the name and what the resolver said."""
    with reader("nope.invalid:11211") as held:
        assert failure(held) == (
            Reason.DNS,
            "the name nope.invalid is not found: Name or service not known",
        )


def test_the_systems_resolver_is_asked() -> None:
    """A name that cannot exist is not found by the real resolver either, within the deadline."""
    with reader("nope.invalid:11211") as held:
        began = time.monotonic()
        assert failure(held, 3.0)[0] is Reason.DNS
        assert time.monotonic() - began < 10


def test_an_address_that_does_not_answer_is_a_timeout() -> None:
    """No connection by the deadline is a timeout, not a refusal."""
    with deaf() as port, reader(f"127.0.0.1:{port}") as held:
        assert failure(held, 0.2) == (Reason.TIMEOUT, "no connection before the deadline")


def test_a_resolver_that_hangs_costs_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapes that wait for the same stuck lookup share one thread, which ends with it."""
    release = threading.Event()

    def stuck(*_: Any, **__: Any) -> list[Any]:
        release.wait(30)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure")

    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    before = threading.active_count()
    with reader("stuck.test:11211") as held:
        for _ in range(3):
            assert failure(held, 0.05) == (
                Reason.DNS,
                "no answer for the name stuck.test before the deadline",
            )
        assert threading.active_count() == before + 1
        release.set()
        deadline = time.monotonic() + 5
        while threading.active_count() > before:
            assert time.monotonic() < deadline
            time.sleep(0.001)


@needs_ipv6
def test_an_ipv6_address_is_read(memcached: Callable[..., Memcached]) -> None:
    """The address in brackets is dialled as it is, and is as local as 127.0.0.1."""
    server = memcached(host="::1")
    assert server.address == f"[::1]:{server.port}"
    with reader(server.address) as held:
        read = scrape(held)
    assert read.success == dict.fromkeys(COMMANDS, True)
    assert read.left_out == {}


@needs_ipv6
@pytest.mark.parametrize("addresses", [["::1", "127.0.0.1"], ["127.0.0.1", "::1"]])
@pytest.mark.parametrize("listens", ["127.0.0.1", "::1"])
def test_a_name_with_two_families(
    memcached: Callable[..., Memcached],
    names: dict[str, list[str]],
    addresses: list[str],
    listens: str,
) -> None:
    """A server that listens on one of its name's addresses only is read there."""
    server = memcached(host=listens)
    names["cache.test"] = addresses
    with reader(f"cache.test:{server.port}") as held:
        for _ in range(2):
            read = scrape(held)
            assert read.success == dict.fromkeys(COMMANDS, True)
            assert read.dialled == server.address


def test_an_address_that_hangs_leaves_time_for_the_next(names: dict[str, list[str]]) -> None:
    """Each address of a name gets its share of the time."""
    names["cache.test"] = ["127.0.0.1", "127.0.0.2"]
    with deaf() as port, socket.create_server(("127.0.0.2", port)):
        deadline = time.monotonic() + 1.0
        address = parse_address(f"cache.test:{port}")
        with contextlib.closing(connect(address, deadline)) as connection:
            assert connection.dialled == f"127.0.0.2:{port}"
        assert time.monotonic() < deadline


def test_the_last_address_tells_why(names: dict[str, list[str]]) -> None:
    """When no address works, the failure of the last one is the reason."""
    names["cache.test"] = ["127.0.0.1", "127.0.0.2"]
    with pytest.raises(ReadError) as caught:
        connect(parse_address(f"cache.test:{free_port()}"), time.monotonic() + 1)
    assert caught.value.reason is Reason.REFUSED


def test_a_name_that_moves_is_looked_up_again(
    memcached: Callable[..., Memcached], names: dict[str, list[str]]
) -> None:
    """After the old address is gone, the next scrape dials the new one."""
    first = memcached()
    second = memcached(host="127.0.0.2", port=first.port)
    names["cache.test"] = ["127.0.0.1"]
    with reader(f"cache.test:{first.port}") as held:
        assert scrape(held).dialled == f"127.0.0.1:{first.port}"
        names["cache.test"] = ["127.0.0.2"]
        first.stop()
        assert scrape(held).dialled == f"127.0.0.2:{second.port}"


def test_only_permitted_addresses_are_dialled(names: dict[str, list[str]]) -> None:
    """What a name resolves to must be allowed, or nothing is dialled at all."""
    names["cache.test"] = ["127.0.0.1", "127.0.0.2"]
    asked: list[str] = []

    def permit(ip: str) -> bool:
        asked.append(ip)
        return ip == "127.0.0.2"

    with socket.create_server(("127.0.0.2", 0)) as listener:
        port = listener.getsockname()[1]
        address = parse_address(f"cache.test:{port}")
        with contextlib.closing(connect(address, time.monotonic() + 1, permit)) as connection:
            assert connection.dialled == f"127.0.0.2:{port}"
        assert asked == ["127.0.0.1", "127.0.0.2"]
        with pytest.raises(ForbiddenTargetError, match=r"127\.0\.0\.1, 127\.0\.0\.2"):
            connect(address, time.monotonic() + 1, lambda _ip: False)


def test_a_forbidden_address_is_never_connected_to(names: dict[str, list[str]]) -> None:
    """A server that may not be dialled sees nothing, and the scrape says so."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        address = parse_address(f"127.0.0.1:{listener.getsockname()[1]}")
        held = Server(address, module(), permit=lambda _ip: False)
        with pytest.raises(ForbiddenTargetError):
            scrape(held)
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.parametrize(
    ("found", "order"),
    [
        (["::1", "::2", "10.0.0.1", "10.0.0.2"], ["::1", "10.0.0.1", "::2", "10.0.0.2"]),
        (["10.0.0.1", "::1", "::2", "::3"], ["10.0.0.1", "::1", "::2", "::3"]),
        (["10.0.0.1", "10.0.0.1", "::1", "10.0.0.1"], ["10.0.0.1", "::1"]),
        (["10.0.0.2", "10.0.0.1"], ["10.0.0.2", "10.0.0.1"]),
        (["::1"], ["::1"]),
    ],
)
def test_families_take_turns(found: list[str], order: list[str]) -> None:
    """No family must fail wholly before the other is tried."""
    assert interleave(found) == order


@pytest.mark.parametrize(
    ("host", "ip"), [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("0:0:0:0:0:0:0:1", "::1")]
)
def test_an_ip_address_is_not_looked_up(host: str, ip: str, names: dict[str, list[str]]) -> None:
    """An address is its own answer, even when there is no time left."""
    assert resolve(host, 11211, deadline=0.0) == [ip]


@pytest.mark.parametrize("host", ["a" * 64 + ".test", "\udcff.test", "."])
def test_a_name_that_cannot_be_asked_for_is_a_matter_of_dns(host: str) -> None:
    """What the resolver refuses to encode is not found."""
    with pytest.raises(ReadError) as caught:
        resolve(host, 11211, time.monotonic() + 5)
    assert caught.value.reason is Reason.DNS


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError("timed out"), Reason.TIMEOUT),
        (OSError(errno.ETIMEDOUT, "Connection timed out"), Reason.TIMEOUT),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), Reason.REFUSED),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), Reason.REFUSED),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory"), Reason.REFUSED),
        (OSError(errno.EHOSTUNREACH, "No route to host"), Reason.UNREACHABLE),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), Reason.UNREACHABLE),
        (PermissionError(errno.EACCES, "Permission denied"), Reason.UNREACHABLE),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), Reason.CLOSED),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), Reason.CLOSED),
    ],
    ids=repr,
)
def test_the_errors_of_sockets_have_reasons(error: OSError, reason: Reason) -> None:
    """An alert can tell the causes apart, and the text is the system's own, in lower case."""
    found = read_error(error)
    assert found.reason is reason
    assert str(found)
    assert str(found) == str(found).lower()


@pytest.mark.parametrize(
    ("mode", "words"), [("full", "ERROR Too many open connections"), ("ok", ""), ("hang", "")]
)
def test_first_words(fake: Callable[..., FakeMemcached], mode: str, words: str) -> None:
    """What a server says unasked is heard; one that waits for a command says nothing."""
    address = parse_address(fake("--mode", mode).address)
    assert first_words(address, time.monotonic() + 1, None) == words


def test_first_words_of_nobody() -> None:
    """A server that is gone meanwhile says nothing, and that is no error."""
    address = parse_address(f"127.0.0.1:{free_port()}")
    assert first_words(address, time.monotonic() + 1, None) == ""
