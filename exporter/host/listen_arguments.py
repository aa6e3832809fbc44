"""Where a memcached listens, by its arguments.

The sockets of a process can only be told by those who may debug it, so an exporter without
privileges cannot know them by their inodes. memcached's arguments are readable to everyone, and it
takes addresses from nowhere else. Two processes cannot listen on the same address and port unless
both ask for that (SO_REUSEPORT), which memcached does not: what listens where the arguments say
is this memcached.
"""

import re
import socket
from collections.abc import Iterable, Iterator

import msgspec

_DEFAULT_PORT = 11211
_WITH_VALUE = "aspUmclRuPfntDbBIYeoN"
"""Options of one letter that have a value, in the same argument or in the next one."""
_LONG = {"port": "p", "listen": "l", "unix-socket": "s"}
_LONG_WITH_VALUE = (
    *_LONG,
    "unix-mask",
    "udp-port",
    "memory-limit",
    "conn-limit",
    "user",
    "pidfile",
    "slab-growth-factor",
    "slab-min-size",
    "threads",
    "max-reqs-per-event",
    "listen-backlog",
    "protocol",
    "max-item-size",
    "auth-file",
    "memory-file",
    "extended",
    "napi-ids",
)
_LEAST_LONG = 2
"""Shorter beginnings of long options are ambiguous."""
_TAGS = re.compile(r"^(?:notls:)?(?:proto\[\w+\]:)?(?:tag\w*:)?")
"""What may stand before an address: ``notls:``, ``proto[ascii]:``, ``tag_name_:``."""


_ANY = frozenset({bytes(4), bytes(16)})
_LOOPBACK = frozenset({bytes((127, 0, 0, 1)), bytes(15) + b"\1"})


class Place(msgspec.Struct, frozen=True):
    """What memcached was told to listen on."""

    port: int
    ips: frozenset[bytes] = frozenset()
    """Empty when it was given a name, which may stand for any address."""


def places(arguments: Iterable[str]) -> list[Place]:
    """Return where the memcached with these arguments (of /proc/PID/cmdline) listens for TCP.

    Nothing for a unix socket, for a port that the system chose, and for TCP that is off.
    """
    port = _DEFAULT_PORT
    interfaces: list[str] = []
    for option, value in _options(list(arguments)[1:]):
        if option == "p":
            port = _number(value)
        elif option == "l":
            interfaces += re.split("[;,]", value)
        elif option == "s":
            return []
    if port == 0:
        return []
    found = [_place(interface, port) for interface in interfaces if interface]
    return [place for place in found or [Place(port, _ANY)] if place.port > 0]


def _options(arguments: list[str]) -> Iterator[tuple[str, str]]:
    """Yield options by their letter, with their value, read as getopt_long does."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return
        if argument.startswith("--"):
            name, separator, value = argument[2:].partition("=")
            known = [long for long in _LONG_WITH_VALUE if long.startswith(name)]
            if len(name) >= _LEAST_LONG and known:
                value = value if separator else next(rest, "")
                yield _LONG.get(known[0], ""), value
        elif argument.startswith("-"):
            for at, letter in enumerate(argument[1:], 2):
                if letter in _WITH_VALUE:
                    yield letter, argument[at:] or next(rest, "")
                    break


def _place(interface: str, port: int) -> Place:
    """Return what one of the comma-separated values of ``-l`` means."""
    host = _TAGS.sub("", interface.strip())
    if host.startswith("["):
        host, _, rest = host[1:].partition("]")
        port = _number(rest[1:]) if rest.startswith(":") else port
    elif host.count(":") == 1:
        host, _, number = host.partition(":")
        port = _number(number)
    return Place(port, _ANY if host == "*" else _ips(host))


def _ips(host: str) -> frozenset[bytes]:
    """Return the bytes of an IP address, of any notation; nothing for most names."""
    if host == "localhost":
        return _LOOPBACK
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return frozenset()
    return frozenset(
        socket.inet_pton(family, str(address[0]).partition("%")[0])
        for family, _, _, _, address in found
    )


def _number(value: str) -> int:
    """Return the number that a value begins with, as C's atoi does; 0 for none."""
    found = re.match(r"\s*[+-]?\d+", value)
    return int(found[0]) if found else 0
