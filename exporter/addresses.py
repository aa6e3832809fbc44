"""Addresses as operators write them: memcached servers and places to listen on."""

import ipaddress
import posixpath
import re

import msgspec

from exporter.errors import AddressError

DEFAULT_PORT = 11211

_LONGEST_SOCKET_PATH = 107
HIGHEST_PORT = 65535
_LONGEST_NAME = 253
_NAME_CHARACTERS = re.compile(r"[A-Za-z0-9._-]+\Z")
_NAME_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\Z")
_LOOKS_NUMERIC = re.compile(r"[0-9.]+\Z")


class Address(msgspec.Struct, frozen=True):
    """Where a memcached server listens.

    ``text`` is the address as configured (the label ``server``); ``path`` is a unix socket, else
    ``host`` (a name, or an IP address without brackets) and ``port`` are set.
    """

    text: str
    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def endpoint(self) -> str:
        """The address in one normal form, equal for all ways to write the same place."""
        if self.path:
            return f"unix:{self.path}"
        if ":" in self.host:
            return f"[{ipaddress.ip_address(self.host)}]:{self.port}"
        return f"{self.host.lower()}:{self.port}"


class ListenAddress(msgspec.Struct, frozen=True):
    """Where the exporter listens; an empty ``host`` means all addresses, IPv4 and IPv6."""

    host: str
    port: int


def parse_address(text: str) -> Address:
    """Read ``host``, ``host:port``, ``[v6]``, ``[v6]:port``, ``/path`` or ``unix:/path``.

    The port is 11211 when it is left out. Raises AddressError with the value and the remedy.
    """
    shown = _shown(text)
    if not text.strip():
        raise AddressError(
            f"{shown} is no memcached address: write host:port, [IPv6]:port or /path/of/socket (for"
            " no server at all: `servers: []` in the configuration file)"
        )
    if not is_utf8(text):
        raise AddressError(f"{shown} is not UTF-8 text, which metrics need")
    if text.startswith(("/", "unix:")):
        return Address(text=text, path=_socket_path(text.removeprefix("unix:"), shown))
    if "," in text:
        raise AddressError(
            f"{shown} is a list: give each address on its own (repeat the flag or the list entry)"
        )
    if "://" in text:
        raise AddressError(f"{shown} is a URL: write host:port without the scheme")
    host, port = _split(text, shown)
    if not host:
        raise AddressError(f"{shown} has no host: write 127.0.0.1:11211 or name:11211")
    return Address(text=text, host=host, port=DEFAULT_PORT if port is None else port)


def parse_listen_address(text: str) -> ListenAddress:
    """Read ``:port``, ``host:port`` or ``[v6]:port``; port 0 lets the system choose.

    Raises AddressError with the value and the remedy.
    """
    shown = _shown(text)
    remedy = 'write ":9150", "127.0.0.1:9150" or "[::1]:9150"'
    if text.isdecimal():
        raise AddressError(f'{shown} is a port alone: write ":{text}"')
    if not text.strip():
        raise AddressError(f"{shown} is no place to listen: {remedy}")
    if "," in text or "/" in text or "\\" in text:
        raise AddressError(f"{shown} is not one host and port: {remedy}")
    host, port = _split(text, shown, lowest_port=0)
    if port is None:
        raise AddressError(f"{shown} has no port: write {text}:9150, or :9150 for all addresses")
    return ListenAddress(host=host, port=port)


def is_authority(text: str) -> bool:
    """Return whether a text is ``host`` or ``host:port`` as URLs and the Host header have it."""
    try:
        host, _ = _split(text, "", lowest_port=1)
    except AddressError:
        return False
    return bool(host)


def is_utf8(text: str) -> bool:
    """Return False for text with lone surrogates: bytes that were no UTF-8, or odd escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(text: str) -> str:
    """Return the value as messages show it: quoted, so that blanks and odd characters are seen."""
    return f'address "{text}"' if text.isprintable() else f"address {text!r}"


def _socket_path(path: str, shown: str) -> str:
    # One way to write each place: `..` could leave what a pattern in scrape.allow means.
    if not path.startswith("/") or "\0" in path or path != posixpath.normpath(path) or path == "/":
        raise AddressError(
            f"{shown} is no socket path: write the absolute path of the socket,"
            " without . and .., such as /run/memcached.sock"
        )
    if len(path.encode()) > _LONGEST_SOCKET_PATH:
        raise AddressError(
            f"{shown} is longer than the {_LONGEST_SOCKET_PATH} bytes that a socket path may have"
        )
    return path


def _split(text: str, shown: str, lowest_port: int = 1) -> tuple[str, int | None]:
    """Return host (without brackets, may be empty) and port (None when it is left out)."""
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise AddressError(
                f"{shown} is not understood: write IPv6 as [2001:db8::7] or [2001:db8::7]:port"
            )
        _check_ip(host, shown, "an IPv6 address", version=6)
        return host, _port(rest[1:], shown, lowest_port) if rest else None
    if text.count(":") > 1:
        raise AddressError(f"{shown} is ambiguous: write IPv6 in brackets, such as [2001:db8::7]")
    host, colon, port = text.partition(":")
    if host:
        _check_host(host, shown)
    return host, _port(port, shown, lowest_port) if colon else None


def _check_host(host: str, shown: str) -> None:
    if _LOOKS_NUMERIC.match(host):
        _check_ip(host, shown, "an IPv4 address of four numbers", version=4)
    elif not _NAME_CHARACTERS.match(host):
        raise AddressError(
            f"{shown} has a character that no host name has: write host:port or /path/of/socket"
        )
    elif len(host) > _LONGEST_NAME or not all(
        map(_NAME_LABEL.match, host.removesuffix(".").split("."))
    ):
        raise AddressError(f"{shown} has no valid host name: write host:port or /path/of/socket")


def _check_ip(host: str, shown: str, what: str, version: int) -> None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address is None or address.version != version:
        raise AddressError(f"{shown}: {host!r} is not {what}")


def _port(text: str, shown: str, lowest: int) -> int:
    # At most five digits: int() raises on thousands of them.
    if not re.fullmatch(r"[0-9]{1,5}", text) or not lowest <= int(text) <= HIGHEST_PORT:
        raise AddressError(
            f"{shown}: port {text!r} is not a number from {lowest} to {HIGHEST_PORT}"
        )
    return int(text)
