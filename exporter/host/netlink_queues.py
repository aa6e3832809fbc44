"""What queues of network devices counted: generic netlink, family ``netdev`` (Linux 6.10).

The same numbers in the same units for all drivers that keep them; what a driver does not count is
left out of the kernel's answer.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Self

import msgspec

_GENERIC = 16
"""NETLINK_GENERIC."""
_HEADER = struct.Struct("=IHHII")
"""struct nlmsghdr: length, type, flags, sequence, port."""
_GENERIC_HEADER = struct.Struct("=BBxx")
"""struct genlmsghdr: command, version."""
_ATTRIBUTE = struct.Struct("=HH")
"""struct nlattr: length with this header, and type."""
_ATTRIBUTE_TYPE = 0x3FFF
"""The two highest bits of a type are flags."""
_REQUEST = 0x1
_DUMP = 0x300
_ERROR = 2
_DONE = 3

_CONTROL = 16
"""GENL_ID_CTRL: the family that knows the numbers of the others."""
_GET_FAMILY = 3
_FAMILY_ID = 1
_FAMILY_NAME = 2

_GET_STATISTICS = 12
"""NETDEV_CMD_QSTATS_GET."""
_IFINDEX = 1
_QUEUE_TYPE = 2
_QUEUE_ID = 3
_SCOPE = 4
_PER_QUEUE = 1
_DIRECTIONS = ("rx", "tx")
"""By queue type."""

_QUANTITIES = {
    "rx": {"packets": (8,), "bytes": (9,), "drops": (13, 14)},
    "tx": {"packets": (10,), "bytes": (11,), "drops": (24, 25), "stops": (33,)},
}
"""Attributes (NETDEV_A_QSTATS_*) of each quantity; the first that is there counts.

Packets that the hardware dropped, or else the part of them that it dropped for want of buffers (rx)
or because of errors (tx).
"""

_READ_BYTES = 65536
_PATIENCE = 0.5
"""How long the kernel may take for one answer, in seconds."""


class QueueCount(msgspec.Struct, frozen=True):
    """A quantity that a queue of a device has counted."""

    quantity: str
    """packets, bytes, drops or stops."""
    direction: str
    queue: str
    value: int


class QueueStatistics:
    """Reads what queues counted, over a socket that is open in a ``with`` block."""

    def __init__(self) -> None:
        self._family = 0
        """Number of the family, which stays the same until the next boot."""

    def __enter__(self) -> Self:
        # Python's sockets are closed in programs that the process starts.
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _GENERIC)
        self._socket.settimeout(_PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def read(self, index: int) -> list[QueueCount]:
        """Return what the queues of the device with this number counted.

        A kernel without the family raises ENOENT, a driver that keeps no such counters EOPNOTSUPP.
        """
        if not self._family:
            name = _attribute(_FAMILY_NAME, b"netdev\0")
            for answer in self._ask(_CONTROL, _GET_FAMILY, _REQUEST, name):
                self._family = _number(answer[_FAMILY_ID])
        wanted = _attribute(_IFINDEX, struct.pack("=I", index)) + _attribute(
            _SCOPE, struct.pack("=I", _PER_QUEUE)
        )
        answers = self._ask(self._family, _GET_STATISTICS, _REQUEST | _DUMP, wanted)
        return [count for answer in answers for count in queue_counts(answer)]

    def _ask(
        self, family: int, command: int, flags: int, attributes: bytes
    ) -> Iterator[dict[int, bytes]]:
        """Yield the attributes of each answer."""
        length = _HEADER.size + _GENERIC_HEADER.size + len(attributes)
        header = _HEADER.pack(length, family, flags, command, 0)
        self._socket.send(header + _GENERIC_HEADER.pack(command, 1) + attributes)
        while True:
            data = self._socket.recv(_READ_BYTES)
            for kind, body in _messages(data):
                if kind in {_ERROR, _DONE}:
                    _raise(body)
                    return
                yield _attributes(body[_GENERIC_HEADER.size :])
            if not flags & _DUMP:
                return


def queue_counts(answer: dict[int, bytes]) -> Iterator[QueueCount]:
    """Yield what a queue counted from the attributes that describe it."""
    if _QUEUE_TYPE not in answer or _QUEUE_ID not in answer:
        return
    kind = _number(answer[_QUEUE_TYPE])
    if kind >= len(_DIRECTIONS):
        return
    direction = _DIRECTIONS[kind]
    queue = str(_number(answer[_QUEUE_ID]))
    for quantity, attributes in _QUANTITIES[direction].items():
        for attribute in attributes:
            if attribute in answer:
                yield QueueCount(quantity, direction, queue, _number(answer[attribute]))
                break


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of each message of a datagram."""
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, *_ = _HEADER.unpack_from(data, at)
        if length < _HEADER.size:
            raise ValueError("netlink message shorter than its header")
        yield kind, data[at + _HEADER.size : at + length]
        at += _aligned(length)


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size:
            raise ValueError("netlink attribute shorter than its header")
        found[kind & _ATTRIBUTE_TYPE] = data[at + _ATTRIBUTE.size : at + length]
        at += _aligned(length)
    return found


def _attribute(kind: int, value: bytes) -> bytes:
    padding = bytes(_aligned(len(value)) - len(value))
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value + padding


def _number(value: bytes) -> int:
    """Return a number of 2, 4 or 8 bytes: the kernel takes no more than it needs."""
    return int.from_bytes(value, sys.byteorder)


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def _raise(body: bytes) -> None:
    """Raise the error that ends an answer, if it is one."""
    code = -struct.unpack_from("=i", body)[0] if body else 0
    if code:
        raise OSError(code, os.strerror(code), "netlink netdev")
