"""Where a memcached listens, by its arguments."""

import socket

import pytest

from exporter.host.listen_arguments import Place, places

ANY = frozenset({bytes(4), bytes(16)})
LOOPBACK = frozenset({bytes([127, 0, 0, 1]), bytes(15) + b"\x01"})


def ips(*addresses: str) -> frozenset[bytes]:
    """Return the bytes of addresses."""
    return frozenset(
        socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
        for address in addresses
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", [Place(11211, ANY)]),
        ("-p 11311", [Place(11311, ANY)]),
        ("-p11311", [Place(11311, ANY)]),
        ("-vvp 11311 -m 64", [Place(11311, ANY)]),
        ("--port=11311", [Place(11311, ANY)]),
        ("--port 11311", [Place(11311, ANY)]),
        ("--po 11311", [Place(11311, ANY)]),
        ("-p 1 -p 2", [Place(2, ANY)]),
        ("-U 5555 -p 11311 --threads 4", [Place(11311, ANY)]),
        ("-l *", [Place(11211, ANY)]),
        ("-l 127.0.0.1", [Place(11211, ips("127.0.0.1"))]),
        ("-l 127.1", [Place(11211, ips("127.0.0.1"))]),
        ("-l0.0.0.0", [Place(11211, ips("0.0.0.0"))]),
        ("--listen=::1", [Place(11211, ips("::1"))]),
        ("--listen 0:0::1", [Place(11211, ips("::1"))]),
        ("-l [::1]:11311", [Place(11311, ips("::1"))]),
        ("-l [fe80::1%lo]", [Place(11211, ips("fe80::1"))]),
        ("-l localhost", [Place(11211, LOOPBACK)]),
        ("-l cache.example.org:11311", [Place(11311)]),
        ("-l 10.0.0.1:1,10.0.0.2:2;[::1]", [
            Place(1, ips("10.0.0.1")), Place(2, ips("10.0.0.2")), Place(11211, ips("::1"))]),
        ("-l 10.0.0.1 -p 5 -l 10.0.0.2", [Place(5, ips("10.0.0.1")), Place(5, ips("10.0.0.2"))]),
        ("-l 10.0.0.1,", [Place(11211, ips("10.0.0.1"))]),
        ("-Z -l notls:10.0.0.1:7,10.0.0.2", [Place(7, ips("10.0.0.1")),
                                             Place(11211, ips("10.0.0.2"))]),
        ("-l proto[ascii]:127.0.0.1:8", [Place(8, ips("127.0.0.1"))]),
        ("-l tag_b_:127.0.0.1:8", [Place(8, ips("127.0.0.1"))]),
        ("-o modern,slab_reassign -l 127.0.0.1", [Place(11211, ips("127.0.0.1"))]),
        ("-D : -l 127.0.0.1", [Place(11211, ips("127.0.0.1"))]),
        ("--listen-backlog 4 -b 4", [Place(11211, ANY)]),
        ("--enable-ssl --some-day=-p9 --some-other", [Place(11211, ANY)]),
        ("-m 64 -- -p 9", [Place(11211, ANY)]),
        ("stray -p 9", [Place(9, ANY)]),
        ("-s /run/memcached.sock", []),
        ("-s/run/memcached.sock -p 11211", []),
        ("--unix-socket=/run/x", []),
        ("--unix-s /run/x", []),
        ("--unix-mask 700", [Place(11211, ANY)]),
        ("-p 0", []),
        ("-p 0 -l 127.0.0.1:11211", []),
        ("-p -1", []),
        ("-p -1 -l 127.0.0.1", []),
        ("-p", []),
        ("-p x", []),
    ],
)  # fmt: skip
def test_arguments(arguments: str, expected: list[Place]) -> None:
    """They are understood as memcached and getopt_long understand them."""
    assert places(["memcached", *arguments.split()]) == expected


@pytest.mark.parametrize("host", ["", "[", "]", ":", "[:", "\udcff", "é" * 100, "a" * 100_000])
def test_odd_addresses_do_no_harm(host: str) -> None:
    """Whatever stands there, it is no other server's address."""
    for place in places(["memcached", "-l", host]):
        assert place.ips in (frozenset(), ANY)


def test_no_arguments_at_all() -> None:
    """A process whose arguments are gone is taken for one without."""
    assert places([""]) == [Place(11211, ANY)]
