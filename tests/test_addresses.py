"""Addresses in all the ways that operators write them."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.addresses import Address, ListenAddress, parse_address, parse_listen_address
from exporter.errors import AddressError
from tests.processes import Exporter
from tests.web.clients import eventually

GOOD = {
    "localhost": "localhost:11211",
    "localhost:11211": "localhost:11211",
    "Cache-1.Example.COM:11300": "cache-1.example.com:11300",
    "under_score": "under_score:11211",
    "x--y.example.": "x--y.example.:11211",
    "1cache": "1cache:11211",
    "a:1": "a:1",
    "a:65535": "a:65535",
    "127.0.0.1": "127.0.0.1:11211",
    "127.0.0.1:11212": "127.0.0.1:11212",
    "[::1]": "[::1]:11211",
    "[::1]:11212": "[::1]:11212",
    "[2001:DB8::7]:11211": "[2001:db8::7]:11211",
    "[2001:db8:0:0:0:0:0:7]": "[2001:db8::7]:11211",
    "[0:0:0:0:0:0:0:1]:11211": "[::1]:11211",
    "[fe80::1%eth0]:11211": "[fe80::1%eth0]:11211",
    "/run/memcached.sock": "unix:/run/memcached.sock",
    "unix:/run/memcached.sock": "unix:/run/memcached.sock",
    '/run/a "b" é.sock': 'unix:/run/a "b" é.sock',
}

BAD = {
    "": "write host:port, [IPv6]:port or /path/of/socket",
    " ": "write host:port, [IPv6]:port or /path/of/socket",
    "a:1,b:2": "give each address on its own",
    "host:99999": "is not a number from 1 to 65535",
    "host:0": "is not a number from 1 to 65535",
    "host:": "is not a number from 1 to 65535",
    "host:-1": "is not a number from 1 to 65535",
    "host:+1": "is not a number from 1 to 65535",
    "host:1 ": "is not a number from 1 to 65535",
    "host:http": "is not a number from 1 to 65535",
    "host:١١٢١١": "is not a number from 1 to 65535",
    f"host:{'9' * 10000}": "is not a number from 1 to 65535",
    "tcp/11211": "write host:port or /path/of/socket",
    "“x:1”": "write host:port or /path/of/socket",
    " a:1": "write host:port or /path/of/socket",
    "a b:1": "write host:port or /path/of/socket",
    "a..b": "write host:port or /path/of/socket",
    "-a": "write host:port or /path/of/socket",
    "é": "write host:port or /path/of/socket",
    "user@host": "write host:port or /path/of/socket",
    "a" * 64: "write host:port or /path/of/socket",
    "a" * 63 + "!": "write host:port or /path/of/socket",
    "a-" * 120 + "!": "write host:port or /path/of/socket",
    "a." * 120 + "!": "write host:port or /path/of/socket",
    "a." * 127 + "a": "write host:port or /path/of/socket",
    "http://host:1": "write host:port without the scheme",
    "tcp://host:1": "write host:port without the scheme",
    ":11211": "has no host: write 127.0.0.1:11211 or name:11211",
    "::1": "write IPv6 in brackets",
    "2001:db8::7:11211": "write IPv6 in brackets",
    "host:1:2": "write IPv6 in brackets",
    "[::1": "write IPv6 as [2001:db8::7] or [2001:db8::7]:port",
    "[::1]11211": "write IPv6 as [2001:db8::7] or [2001:db8::7]:port",
    "[::1]:": "is not a number from 1 to 65535",
    "[localhost]:1": "is not an IPv6 address",
    "[127.0.0.1]:1": "is not an IPv6 address",
    "[]:1": "is not an IPv6 address",
    "1.2.3": "is not an IPv4 address of four numbers",
    "1.2.3.256": "is not an IPv4 address of four numbers",
    "11211": "is not an IPv4 address of four numbers",
    "unix:": "write the absolute path of the socket",
    "unix:run/m.sock": "write the absolute path of the socket",
    "/": "write the absolute path of the socket",
    "/run/": "write the absolute path of the socket",
    "/run/a\0b": "write the absolute path of the socket",
    "/" + "a" * 107: "longer than the 107 bytes",
    "/" + "é" * 54: "longer than the 107 bytes",
    "a:b:c\nd": "write IPv6 in brackets",
    "a\nb": "write host:port or /path/of/socket",
    "/run/\udcff": "UTF-8",
}

LISTEN = {
    ":9150": ("", 9150),
    ":0": ("", 0),
    "127.0.0.1:9150": ("127.0.0.1", 9150),
    "[::1]:9150": ("::1", 9150),
    "[::]:9150": ("::", 9150),
    "0.0.0.0:9150": ("0.0.0.0", 9150),
    "localhost:9150": ("localhost", 9150),
}

BAD_LISTEN = {
    "9150": 'write ":9150"',
    "": 'write ":9150", "127.0.0.1:9150" or "[::1]:9150"',
    "/tmp/x.sock": "is not one host and port",
    "http://a:1": "is not one host and port",
    "a:1,b:2": "is not one host and port",
    "localhost": "write localhost:9150",
    "[::1]": "write [::1]:9150",
    "::1:9150": "in brackets",
    ":99999": "is not a number from 0 to 65535",
    ":": "is not a number from 0 to 65535",
    ":http": "is not a number from 0 to 65535",
    "[::1]9150": "write IPv6 as",
    "256.0.0.1:9150": "is not an IPv4 address",
    "a b:9150": "no host name has",
    "a:b\n:1": "in brackets",
}

Parsed = TypeVar("Parsed", Address, ListenAddress)


@pytest.mark.parametrize(("text", "endpoint"), GOOD.items())
def test_a_good_address_has_its_normal_form(text: str, endpoint: str) -> None:
    """All ways to write a place have one endpoint, and the text stays as it was written."""
    address = parse_address(text)
    assert address.endpoint == endpoint
    assert address.text == text


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("db:1", Address("db:1", host="db", port=1)),
        ("[::1]:2", Address("[::1]:2", host="::1", port=2)),
        ("unix:/s", Address("unix:/s", path="/s")),
    ],
)
def test_an_address_is_taken_apart(text: str, address: Address) -> None:
    """Host, port and path are what a socket needs: no brackets, no scheme."""
    assert parse_address(text) == address


@pytest.mark.parametrize(("text", "remedy"), BAD.items(), ids=lambda text: repr(text)[:40])
def test_a_bad_address_names_value_and_remedy(text: str, remedy: str) -> None:
    """A bad address is refused with one printable line that shows the value and what to write."""
    with pytest.raises(AddressError) as caught:
        parse_address(text)
    message = str(caught.value)
    assert remedy in message
    assert (text if text.isprintable() else repr(text)) in message
    assert message.isprintable()


@pytest.mark.parametrize(("text", "expected"), LISTEN.items())
def test_a_good_place_to_listen(text: str, expected: tuple[str, int]) -> None:
    """Host and port come apart; no host means all addresses."""
    assert parse_listen_address(text) == ListenAddress(*expected)


@pytest.mark.parametrize(("text", "remedy"), BAD_LISTEN.items())
def test_a_bad_place_to_listen_names_value_and_remedy(text: str, remedy: str) -> None:
    """A bad place to listen is refused in one printable line, in no terms of memcached's (C14)."""
    with pytest.raises(AddressError) as caught:
        parse_listen_address(text)
    message = str(caught.value)
    assert remedy in message
    assert (text if text.isprintable() else repr(text)) in message
    assert message.isprintable()
    assert "11211" not in message.replace("[2001:db8::7]:11211", "")


@pytest.mark.parametrize(
    ("listen", "answering", "silent"),
    [
        (":0", ["127.0.0.1", "127.0.0.2", "::1"], []),
        ("127.0.0.1:0", ["127.0.0.1"], ["127.0.0.2", "::1"]),
        ("[::1]:0", ["::1"], ["127.0.0.1"]),
        ("[::]:0", ["::1"], []),
        ("localhost:0", [], ["127.0.0.2"]),
    ],
)
def test_the_daemon_listens_where_it_is_told(
    exporter: Callable[..., Exporter], listen: str, answering: list[str], silent: list[str]
) -> None:
    """Each form of a listen address opens exactly the addresses that it names (C14)."""
    daemon = exporter(listen=listen)
    assert daemon.request("/-/healthy").status == 200
    for host in answering:
        socket.create_connection((host, daemon.port), timeout=5).close()
    for host in silent:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, daemon.port), timeout=5)


def test_the_daemon_listens_in_several_places(
    exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """A repeated listen address opens each of them."""
    daemon = exporter("--web.listen-address=[::1]:0")
    assert daemon.request("/-/healthy").status == 200
    assert eventually(lambda: daemon.log.count("event=listening") == 2)
    assert "address=[::1]:" in daemon.log.replace('"', "")


_TEXTS = st.one_of(
    st.text(),
    st.text(alphabet="[]:/.,%unix0123456789abf-_ \n\0é\udcff"),
    st.builds("{}:{}".format, st.text(alphabet="ab.-_0129", max_size=20), st.integers()),
    st.builds("[{}]:{}".format, st.ip_addresses(v=6), st.integers(0, 99999)),
    st.builds("unix:/{}".format, st.text(max_size=60)),
)


def result_of(parse: Callable[[str], Parsed], text: str) -> Parsed | AddressError:
    """Parse a text; nothing but an AddressError may be raised."""
    try:
        return parse(text)
    except AddressError as error:
        return error


@settings(deadline=None)
@given(_TEXTS)
def test_any_text_is_an_address_or_an_address_error(text: str) -> None:
    """Whatever is accepted leads to an endpoint that is accepted too, and is itself."""
    address = result_of(parse_address, text)
    if isinstance(address, AddressError):
        assert str(address).isprintable()
        return
    assert address.text == text
    again = parse_address(address.endpoint)
    assert again.endpoint == address.endpoint
    assert (again.port, bool(again.path)) == (address.port, bool(address.path))
    assert address.text.encode()


@settings(deadline=None)
@given(_TEXTS)
def test_any_text_is_a_place_to_listen_or_an_address_error(text: str) -> None:
    """Nothing but an AddressError comes out of a bad place to listen."""
    place = result_of(parse_listen_address, text)
    if isinstance(place, AddressError):
        assert str(place).isprintable()
    else:
        assert 0 <= place.port <= 65535
