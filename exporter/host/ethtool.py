"""What drivers of network devices tell: the ioctl SIOCETHTOOL, as ``ethtool`` reads it.

Only questions are asked, which need no privilege. A driver that does not know one answers
EOPNOTSUPP, a device that has gone ENODEV.
"""

import array
import fcntl
import socket
import struct
from typing import Self

import msgspec

_ETHTOOL = 0x8946
"""SIOCETHTOOL."""
_REQUEST = struct.Struct("16sP16x")
"""struct ifreq: name of the device, and where the question and the answer are in memory."""

_DRIVER = 0x03
_COALESCE = 0x0E
_RINGS = 0x10
_STRINGS = 0x1B
_STATISTICS = 0x1D
_SET_SIZE = 0x37
_CHANNELS = 0x3C

_STATISTICS_SET = 1
"""ETH_SS_STATS: the set of names that belong to the counters."""
_NAME_BYTES = 32
_SPARE = 256
"""Room for counters that come into being between the question how many there are and the reading.

The kernel writes all that there are, however many were asked for, so the memory must not be exact.
"""
_DRIVER_BYTES = 196
_DRIVER_TEXTS = struct.Struct("=4x32s32s32s32s")
_SIZE = struct.Struct("=IIQI")
_AMOUNT_WORDS = 9
_COALESCE_WORDS = 23
_MICROSECONDS = 1e6


class Driver(msgspec.Struct, frozen=True):
    """A device's driver, as ``ethtool -i`` shows it."""

    name: str
    version: str
    firmware: str
    bus: str
    """Address on the bus, ``0000:00:03.0``; empty for a virtual device."""


class Amount(msgspec.Struct, frozen=True):
    """How much of something a device has, and the most it could have; a most of 0 is: none."""

    current: int
    most: int


class Coalescing(msgspec.Struct, frozen=True):
    """How long a device waits for more packets before it interrupts."""

    seconds: float
    frames: int
    adaptive: bool
    """Whether the driver changes the two by itself."""


class Ethtool:
    """Asks drivers, over a socket that is open in a ``with`` block."""

    def __enter__(self) -> Self:
        # Python's sockets are closed in programs that the process starts.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def driver(self, device: bytes) -> Driver:
        """Return name, version and place of a driver."""
        answer = array.array("B", bytes(_DRIVER_BYTES))
        struct.pack_into("=I", answer, 0, _DRIVER)
        self._ask(device, answer)
        return Driver(*(_text(raw) for raw in _DRIVER_TEXTS.unpack_from(answer)))

    def channels(self, device: bytes) -> dict[str, Amount]:
        """Return how many queues of each kind there are (``ethtool -l``)."""
        words = self._words(device, _CHANNELS, _AMOUNT_WORDS)
        kinds = ("rx", "tx", "other", "combined")
        return {kind: Amount(words[5 + at], words[1 + at]) for at, kind in enumerate(kinds)}

    def rings(self, device: bytes) -> dict[str, Amount]:
        """Return how many packets a queue holds, by direction (``ethtool -g``)."""
        words = self._words(device, _RINGS, _AMOUNT_WORDS)
        return {"rx": Amount(words[5], words[1]), "tx": Amount(words[8], words[4])}

    def coalescing(self, device: bytes) -> dict[str, Coalescing]:
        """Return how interrupts are put off, by direction (``ethtool -c``)."""
        words = self._words(device, _COALESCE, _COALESCE_WORDS)
        return {
            direction: Coalescing(words[at] / _MICROSECONDS, words[at + 1], bool(words[adaptive]))
            for direction, at, adaptive in (("rx", 1, 10), ("tx", 5, 11))
        }

    def statistics(self, device: bytes) -> tuple[bytes, list[int]]:
        """Return the names of all counters, 32 bytes each, and the counters (``ethtool -S``).

        Both are empty when the device has none, or changed how many while they were read.
        """
        count = self._statistics_count(device)
        if not count:
            return b"", []
        room = 2 * count + _SPARE
        names = array.array("B", bytes(12 + room * _NAME_BYTES))
        struct.pack_into("=III", names, 0, _STRINGS, _STATISTICS_SET, count)
        self._ask(device, names)
        values = array.array("Q", bytes(8 * (1 + room)))
        struct.pack_into("=II", values, 0, _STATISTICS, count)
        self._ask(device, values)
        named = struct.unpack_from("=I", names, 8)[0]
        counted = struct.unpack_from("=I", values, 4)[0]
        if not named == counted == count:
            return b"", []
        return names[12 : 12 + count * _NAME_BYTES].tobytes(), values[1 : 1 + count].tolist()

    def _statistics_count(self, device: bytes) -> int:
        size = array.array("B", _SIZE.pack(_SET_SIZE, 0, 1 << _STATISTICS_SET, 0))
        self._ask(device, size)
        # The mask comes back with those sets that the driver knows.
        _, _, mask, count = _SIZE.unpack(size)
        return int(count) if mask else 0

    def _words(self, device: bytes, command: int, count: int) -> list[int]:
        """Return the answer to a question of 32-bit numbers, the command itself included."""
        answer = array.array("I", (command, *[0] * (count - 1)))
        self._ask(device, answer)
        return answer.tolist()

    def _ask(self, device: bytes, answer: "array.array[int]") -> None:
        """Let the kernel write its answer over the question."""
        request = _REQUEST.pack(device, answer.buffer_info()[0])
        fcntl.ioctl(self._socket, _ETHTOOL, request)


def statistic_names(raw: bytes) -> list[str]:
    """Return the names of counters as text, blanks at the front included."""
    return [_text(raw[at : at + _NAME_BYTES]) for at in range(0, len(raw), _NAME_BYTES)]


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode(errors="replace")
