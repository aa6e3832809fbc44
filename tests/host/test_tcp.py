"""TCP counters of the network namespace that memcached is in."""

import socket
from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.process import Process
from exporter.host.tcp import tcp
from tests.host.conditions import wait_for_value
from tests.processes import Memcached
from tests.resilience.networks import own_network

NETSTAT = """TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPBacklogDrop TCPTimeWaitOverflow\
 TCPReqQFullDrop
TcpExt: 9 18446744073709551615 12 3 4 5
IpExt: ListenOverflows InNoRoutes
IpExt: 1 2
"""
SNMP = """Ip: Forwarding RetransSegs
Ip: 1 99
Tcp: RtoMin MaxConn RetransSegs InErrs
Tcp: 200 -1 2987 0
"""
SOCKSTAT = """sockets: used 14
TCP: inuse 2 orphan 6 tw 428 alloc 2 mem 111
UDP: inuse 7 mem 0
"""
SOCKSTAT6 = "TCP6: inuse 5\nUDP6: inuse 1\n"


def read(process: Path) -> dict[str, float]:
    """Return what is read for the process of this directory of /proc."""
    here = HostSettings(Path("/proc"), Path("/sys"))
    return {key: value for key, _, value in tcp(Process(42, 1, process), here)()}


def directory(root: Path, **files: str) -> Path:
    """Make a directory of a process with these files of its network."""
    (root / "net").mkdir()
    for name, content in files.items():
        (root / "net" / name).write_text(content)
    return root


def test_all_numbers(tmp_path: Path) -> None:
    """A field is that of its protocol, whatever else has one of the same name."""
    files = {"netstat": NETSTAT, "snmp": SNMP, "sockstat": SOCKSTAT, "sockstat6": SOCKSTAT6}
    assert read(directory(tmp_path, **files)) == {
        "ListenOverflows": 18446744073709551615,
        "ListenDrops": 12,
        "TCPBacklogDrop": 3,
        "TCPTimeWaitOverflow": 4,
        "TCPReqQFullDrop": 5,
        "RetransSegs": 2987,
        "TCP: inuse": 2,
        "TCP: orphan": 6,
        "TCP: tw": 428,
        "TCP6: inuse": 5,
    }


def test_an_older_kernel_lacks_fields_and_files(tmp_path: Path) -> None:
    """What is missing has no series; the rest is right."""
    old = "TcpExt: ListenDrops PruneCalled\nTcpExt: 12 9\n"
    files = directory(tmp_path, netstat=old, sockstat="TCP: inuse 2 orphan 0 tw 4\n")
    assert read(files) == {"ListenDrops": 12, "TCP: inuse": 2, "TCP: orphan": 0, "TCP: tw": 4}


def test_rows_that_do_not_fit_each_other(tmp_path: Path) -> None:
    """Numbers that have no name, and names that have no number, are passed over."""
    torn = "TcpExt: ListenOverflows ListenDrops TCPBacklogDrop\nTcpExt: 1 2\n\nTcpExt:"
    assert read(directory(tmp_path, netstat=torn)) == {"ListenOverflows": 1, "ListenDrops": 2}


def test_a_process_that_is_gone(tmp_path: Path) -> None:
    """The host does not have the source."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "42")


def test_it_is_memcacheds_own_network() -> None:
    """F13: read from outside of its network namespace, the numbers are those of the inside."""
    with own_network():
        server = Memcached(port=11211)
    inside = Path(f"/proc/{server.process.pid}")
    try:
        # The connection that showed that it listens is gone, and three of this thread's are here.
        wait_for_value(lambda: read(inside)["TCP: inuse"], 1)
        assert read(inside)["ListenOverflows"] == 0
        with own_network():
            sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
            assert read(Path("/proc/thread-self"))["TCP: inuse"] == 3
            assert read(inside)["TCP: inuse"] == 1
            for one in sockets:
                one.close()
        assert read(inside).keys() == read(Path("/proc/thread-self")).keys()
    finally:
        server.stop()


def test_ipv6_sockets_are_told_apart() -> None:
    """Sockets of both versions are counted, in a network that has nothing else."""
    with own_network(), socket.create_server(("127.0.0.1", 0)):
        before = read(Path("/proc/thread-self"))
        assert (before["TCP: inuse"], before.get("TCP6: inuse", 0)) == (1, 0)
        if not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists():
            pytest.skip("this kernel is without IPv6")
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            found = read(Path("/proc/thread-self"))
    assert (found["TCP: inuse"], found["TCP6: inuse"]) == (1, 1)
