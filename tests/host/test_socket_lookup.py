"""Connections are looked up by both their ends, as the kernel knows them."""

import contextlib
import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.host.socket_lookup import End, established

try:
    established((ipaddress.ip_address("127.0.0.1"), 1), (ipaddress.ip_address("127.0.0.1"), 1))
except OSError as failure:
    pytest.skip(f"the kernel does not tell of sockets: {failure}", allow_module_level=True)


@contextlib.contextmanager
def connection(
    listens: str, dials: str
) -> Iterator[tuple[socket.socket, socket.socket, socket.socket]]:
    """Make a connection; yield who listens and both ends, the accepted one first."""
    dual = listens == "::" and dials != "::1"
    family = socket.AF_INET6 if ":" in listens else socket.AF_INET
    with (
        socket.create_server((listens, 0), family=family, dualstack_ipv6=dual) as listening,
        socket.create_connection((dials, listening.getsockname()[1])) as near,
    ):
        far, _ = listening.accept()
        with far:
            yield listening, far, near


def end(sock: socket.socket, host: str) -> End:
    """Return address and port of a socket."""
    return ipaddress.ip_address(host), sock.getsockname()[1]


@pytest.mark.parametrize(
    ("listens", "dials"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "::1"), ("::", "127.0.0.1")],
)
def test_both_ends_are_found(listens: str, dials: str) -> None:
    """Each end has its own inode, and the user that made it; mapped addresses are one."""
    with connection(listens, dials) as (_, far, near):
        ends = end(far, dials), end(near, dials)
        assert established(*ends) == (os.geteuid(), os.fstat(far.fileno()).st_ino)
        assert established(*reversed(ends)) == (os.geteuid(), os.fstat(near.fileno()).st_ino)


def test_who_listens_is_no_connection() -> None:
    """Another port at the other end, or a connection that is over, is nothing."""
    with connection("127.0.0.1", "127.0.0.1") as (listening, far, near):
        local, remote = end(far, "127.0.0.1"), end(near, "127.0.0.1")
        assert established(local, (remote[0], 1)) is None
        far.close()
        near.close()
        assert listening.fileno() >= 0
        assert established(local, remote) is None


def test_no_descriptor_is_left() -> None:
    """Each look-up closes what it opens."""
    with connection("127.0.0.1", "127.0.0.1") as (_, far, near):
        ends = end(far, "127.0.0.1"), end(near, "127.0.0.1")
        established(*ends)
        before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(50):
            established(*ends)
        assert len(list(Path("/proc/self/fd").iterdir())) == before
