"""Accept queues of memcached, in the exporter's network namespace and in others."""

import contextlib
import errno
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.exposition import Format, host_page
from exporter.host import listeners as module
from exporter.host.cgroup import cgroup
from exporter.host.host import Host, Subject
from exporter.host.network_namespace import OWN, network_namespace
from exporter.host.process import Process
from exporter.host.tcp import tcp
from tests.host.conditions import wait_for_value
from tests.host.queues import HERE, process, queue, read
from tests.processes import Memcached, free_port, wait_for_port
from tests.resilience.networks import own_network
from tests.web.clients import eventually


@contextlib.contextmanager
def crowd(server: Memcached, clients: int) -> Iterator[None]:
    """Freeze a server, and let clients ask for connections that it cannot accept."""
    server.freeze()
    with contextlib.ExitStack() as stack:
        for _ in range(clients):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex((server.host, server.port))
        yield
    server.thaw()


def overflows(server: Memcached) -> float:
    """Return how many connections were turned away in a server's network namespace."""
    found = {key: value for key, _, value in tcp(process(server), HERE)()}
    assert found["ListenDrops"] >= found["ListenOverflows"]
    return found["ListenOverflows"]


def test_a_full_queue() -> None:
    """A stopped memcached with a backlog of 4 has 5 waiting; the others are turned away."""
    with own_network():
        server = Memcached("-b", "4", port=11211)
        try:
            wait_for_value(lambda: read(process(server)), queue("127.0.0.1:11211", 0, 4))
            assert overflows(server) == 0
            with crowd(server, 25):
                assert read(process(server)) == queue("127.0.0.1:11211", 5, 4)
                assert overflows(server) >= 20
            wait_for_value(lambda: read(process(server)), queue("127.0.0.1:11211", 0, 4))
        finally:
            server.stop()


def test_a_full_queue_in_another_network() -> None:
    """It is read from outside of memcached's namespace; the limit cannot be known there."""
    with own_network():
        server = Memcached("-b", "4", port=11211)
        with contextlib.ExitStack() as stack:
            stack.callback(server.stop)
            stack.enter_context(crowd(server, 25))
            with own_network():
                assert network_namespace(Path(f"/proc/{server.process.pid}/net"))
                assert read(process(server)) == queue("127.0.0.1:11211", 5, None)
                assert overflows(server) >= 20
                assert {key: value for key, _, value in tcp_of_this_thread()} == {
                    "ListenOverflows": 0
                }


def tcp_of_this_thread() -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Yield the overflows of the namespace that this thread is in."""
    for sample in tcp(Process(1, 1, Path("/proc/thread-self")), HERE)():
        if sample[0] == "ListenOverflows":
            yield sample


def test_somaxconn_limits_the_backlog() -> None:
    """The limit is what the kernel made of memcached's 1024."""
    with own_network():
        Path("/proc/sys/net/core/somaxconn").write_text("7")
        server = Memcached(port=11211)
        try:
            wait_for_value(lambda: read(process(server)), queue("127.0.0.1:11211", 0, 7))
        finally:
            server.stop()


def has_ipv6() -> bool:
    """Return whether this kernel has IPv6 switched on."""
    return Path("/proc/net/if_inet6").exists()


def test_several_addresses() -> None:
    """Each address that memcached was told has a queue of its own."""
    with own_network():
        more = "127.0.0.2:11311,[::1]:11312" if has_ipv6() else "127.0.0.2:11311"
        server = Memcached("-l", more, port=11211)
        try:
            expected = queue("127.0.0.1:11211", 0, 1024) | queue("127.0.0.2:11311", 0, 1024)
            if has_ipv6():
                expected |= queue("[::1]:11312", 0, 1024)
            wait_for_value(lambda: read(process(server)), expected)
        finally:
            server.stop()


def test_no_address() -> None:
    """Without -l, memcached listens on every address, of both versions of IP."""
    binary = shutil.which("memcached")
    assert binary
    with own_network():
        started = subprocess.Popen([binary, *(["-u", "nobody"] if os.geteuid() == 0 else [])])
        try:
            wait_for_port(11211)
            expected = queue("0.0.0.0:11211", 0, 1024)
            if has_ipv6():
                expected |= queue("[::]:11211", 0, 1024)
            which = Process(started.pid, 1, Path(f"/proc/{started.pid}"))
            wait_for_value(lambda: read(which), expected)
        finally:
            started.kill()
            started.wait()


def test_a_memcached_that_takes_no_more_connections() -> None:
    """At its maximum, memcached itself sets the limit of its queue to 0."""
    with own_network(), contextlib.ExitStack() as stack:
        server = Memcached("-c", "40", "-t", "1", "-o", "no_maxconns_fast", port=11211)
        stack.callback(server.stop)
        for _ in range(45):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex((server.host, server.port))
        limit = ("limit", ("127.0.0.1:11211",))
        wait_for_value(lambda: read(process(server))[limit], 0)


def test_others_on_the_same_port() -> None:
    """Of two servers of one user on one port of two addresses, each has its own queue."""
    with own_network():
        one, other = (Memcached("-b", "9", host=f"127.0.0.{n}", port=11211) for n in (1, 2))
        try:
            with socket.create_server(("127.0.0.3", 11211)):
                wait_for_value(lambda: read(process(one)), queue("127.0.0.1:11211", 0, 9))
                wait_for_value(lambda: read(process(other)), queue("127.0.0.2:11211", 0, 9))
        finally:
            one.stop()
            other.stop()


@pytest.mark.parametrize("code", [errno.ENOENT, errno.EAFNOSUPPORT, errno.EPERM])
def test_without_inet_diag(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Where netlink is not to be had, the table is read, and the limit is absent."""

    def refuse(*_: object) -> None:
        raise OSError(code, "refused")

    server = Memcached("-b", "6", port=free_port())
    try:
        wait_for_value(lambda: read(process(server)), queue(server.address, 0, 6))
        monkeypatch.setattr(socket, "socket", refuse)
        assert read(process(server)) == queue(server.address, 0, None)
    finally:
        server.stop()


def test_an_answer_of_netlink_that_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that does not know the request refuses it, and the table is read."""
    monkeypatch.setattr(module, "_SOCK_DIAG_BY_FAMILY", 99)
    server = Memcached(port=free_port())
    try:
        wait_for_value(lambda: read(process(server)), queue(server.address, 0, None))
    finally:
        server.stop()


@pytest.mark.parametrize("outside", [False, True], ids=["same-network", "another-network"])
def test_without_privileges(outside: bool) -> None:
    """Another user than root and memcached's reads the same, and TCP and cgroups too."""
    if os.geteuid() != 0:
        pytest.skip("needs to be root, to give up that")
    with own_network():
        server = Memcached("-b", "6", port=11211)
        with contextlib.ExitStack() as stack:
            stack.callback(server.stop)
            wait_for_value(lambda: read(process(server)), queue("127.0.0.1:11211", 0, 6))
            if outside:
                stack.enter_context(own_network())
            os.seteuid(12345)
            stack.callback(os.seteuid, 0)
            with pytest.raises(PermissionError):
                list((process(server).directory / "fd").iterdir())
            limit = None if outside else 6
            assert read(process(server)) == queue("127.0.0.1:11211", 0, limit)
            assert overflows(server) == 0
            list(cgroup(process(server), HERE)())


def test_many_listeners() -> None:
    """The kernel's answer comes in several parts, none of which is lost."""
    with contextlib.ExitStack() as stack:
        for _ in range(600):
            stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        by_netlink = {(one.ip, one.port, one.user) for one in module.listeners(OWN)}
        by_file = {(one.ip, one.port, one.user) for one in table()}
    assert len(by_netlink) >= 600
    assert by_netlink == by_file


def table() -> list[module.Listener]:
    """Return this network's listening sockets as its tables show them."""
    return [*module._by_file(OWN / "tcp"), *module._by_file(OWN / "tcp6")]


def test_namespaces_are_told_apart(tmp_path: Path) -> None:
    """Without privileges: by the numbers of the files that the kernel makes for each."""
    assert network_namespace(OWN) == network_namespace(Path("/proc/1/net")) != 0
    outside = network_namespace(OWN)
    with own_network():
        assert network_namespace(OWN) not in {0, outside}
        assert network_namespace(Path("/proc/1/net")) == outside
    (tmp_path / "dev").write_text("lo: 1\n")
    assert network_namespace(tmp_path) == network_namespace(tmp_path / "none") == 0


def test_on_the_page() -> None:
    """The samples carry the address, and the labels of the server."""
    server = Memcached("-b", "6", port=free_port())
    settings = HostSettings(Path("/proc"), Path("/sys"), frozenset({"listen_queue"}))
    host = Host(settings)
    labels = (("server", "s"),)
    subject = Subject(server.address, labels, answered=True, process=process(server))
    try:
        inner = f'{{address="{server.address}",server="s"}}'
        empty = f"memcached_listen_queue_length{inner} 0\n"

        def page() -> str:
            return host_page(host.begin_processes([subject]).result(float("inf")), Format.TEXT)

        assert eventually(lambda: empty in page())  # who waited for the server has been let in
        assert f"memcached_listen_queue_limit{inner} 6\n" in page()
    finally:
        host.close()
        server.stop()
