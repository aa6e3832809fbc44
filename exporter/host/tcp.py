"""/proc/PID/net: TCP counters of the network namespace that memcached itself is in.

They can be read from outside of that namespace, without privileges.
"""

import re
from collections.abc import Iterable, Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.process import Process
from exporter.host.reading import read_present

_COUNTERS = {
    "netstat": (
        b"TcpExt:",
        {
            "ListenOverflows",
            "ListenDrops",
            "TCPTimeWaitOverflow",
            "TCPReqQFullDrop",
            "TCPBacklogDrop",
        },
    ),
    "snmp": (b"Tcp:", {"RetransSegs"}),
}
"""By file: what its rows begin with, and the fields that are exported."""
_SOCKET_ROWS = re.compile(rb"^TCP6?: .*$", re.MULTILINE)
_SOCKETS = {"TCP: inuse", "TCP: tw", "TCP: orphan", "TCP6: inuse"}
"""The numbers of sockstat and sockstat6 that are exported."""


def tcp(process: Process, _settings: HostSettings) -> Read:
    """Return what reads counters of losses, and how many sockets there are."""
    net = process.directory / "net"
    counters = {str(net / name): wanted for name, wanted in _COUNTERS.items()}
    sockets = [str(net / name) for name in ("sockstat", "sockstat6")]

    def read_tcp() -> Iterable[Sample]:
        found = read_present((*counters, *sockets))
        for path, (prefix, fields) in counters.items():
            for field, value in _pairs(found.get(path, b""), prefix):
                if field in fields:
                    yield field, (), value
        for path in sockets:
            for line in _SOCKET_ROWS.findall(found.get(path, b"")):
                yield from _sockets(line.decode())

    return read_tcp


def _pairs(content: bytes, prefix: bytes) -> Iterator[tuple[str, int]]:
    """Yield the fields of a row of names and the row of numbers that follows it."""
    names: list[bytes] = []
    for line in content.splitlines():
        first, *columns = line.split() or [b""]
        if first != prefix:
            continue
        if not names:
            names = columns
            continue
        for name, number in zip(names, columns, strict=False):
            yield name.decode(), int(number)
        names = []


def _sockets(line: str) -> Iterator[Sample]:
    """Yield what ``TCP: inuse 2 orphan 0 tw 4 alloc 3 mem 1`` says of the exported states."""
    kind, *columns = line.split()
    for state, number in zip(columns[::2], columns[1::2], strict=False):
        if (key := f"{kind} {state}") in _SOCKETS:
            yield key, (), int(number)
