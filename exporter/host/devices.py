"""Which network devices are read: /sys/class/net.

The physical ones (a virtual machine's too), those that the configuration adds, and what these stand
on. A device is known by its directory entry, which is another one when a device of the same name
comes in its place.
"""

import errno
import fcntl
import os
import re
import socket
import struct
import time
from collections.abc import Collection
from typing import Self

import msgspec

from exporter.configuration import HostSettings
from exporter.host.reading import read

_MOST_DEVICES = 16
_REFRESH_SECONDS = 60.0
"""What stands on what can change while no device comes or goes."""

_GET_ADDRESS = 0x8927
"""SIOCGIFHWADDR."""
_ADDRESS_BYTES = 6


class Device(msgspec.Struct, frozen=True):
    """A network device."""

    name: str
    """As text for a label; the kernel allows any bytes."""
    raw: bytes
    """The name as the kernel has it."""
    directory: str
    """/sys/class/net/NAME below the configured root."""
    hardware: str
    """Directory of the device that it is a network interface of; empty for a virtual one."""
    index: int
    reachable: bool
    """Whether sockets of this process reach this very device.

    They do not when /sys is another network namespace's than the exporter's own.
    """


class Devices:
    """The devices that are read, looked for again when one has come or gone."""

    def __init__(self, settings: HostSettings) -> None:
        self.dropped = 0
        """How many devices are left out because there are too many."""
        self._root = str(settings.sysfs / "class/net")
        self._include = settings.include
        self._exclude = settings.exclude
        self._entries: dict[tuple[str, int], bool] = {}
        """Name and inode of each device that is there, and whether it is a physical one."""
        self._found: tuple[Device, ...] = ()
        self._stale = 0.0

    def __call__(self) -> tuple[Device, ...]:
        """Return the devices, the physical ones first."""
        with os.scandir(self._root) as listing:
            # bonding_masters is a file among the devices.
            entries = {
                (entry.name, entry.inode())
                for entry in listing
                if not entry.is_file(follow_symlinks=False)
            }
        now = time.monotonic()
        if entries != self._entries.keys() or now > self._stale:
            self._remember(entries)
            names = sorted(self._chosen(), key=self._rank)
            self.dropped = max(0, len(names) - _MOST_DEVICES)
            self._found = tuple(self._describe(name) for name in names[:_MOST_DEVICES])
            self._stale = now + _REFRESH_SECONDS
        return self._found

    def reachable(self) -> list[Device]:
        """Return those devices that a socket can ask about."""
        return [device for device in self() if device.reachable]

    def _remember(self, entries: set[tuple[str, int]]) -> None:
        # Only new ones are looked at: containers come and go, each with a device, by the hundred.
        self._entries = {
            entry: self._entries[entry]
            if entry in self._entries
            else os.path.exists(f"{self._root}/{entry[0]}/device")
            for entry in entries
        }

    def _chosen(self) -> set[str]:
        devices = {name: physical for (name, _), physical in self._entries.items()}
        allowed = {name for name in devices if not _matches(self._exclude, name)}
        chosen = {name for name in allowed if devices[name] or _matches(self._include, name)}
        open_ends = list(chosen)
        while open_ends:
            below = (self._lower(open_ends.pop()) & allowed) - chosen
            chosen |= below
            open_ends += below
        return chosen

    def _lower(self, name: str) -> set[str]:
        """Return what a bond, bridge or VLAN stands on."""
        try:
            entries = os.listdir(f"{self._root}/{name}")
        except OSError:
            return set()
        return {entry.removeprefix("lower_") for entry in entries if entry.startswith("lower_")}

    def _rank(self, name: str) -> tuple[bool, bool, list[tuple[int, str]]]:
        """Return a key that sorts ports before virtual functions, and eth2 before eth10."""
        directory = f"{self._root}/{name}"
        return (
            not os.path.exists(f"{directory}/device"),
            os.path.exists(f"{directory}/device/physfn"),
            [(int(digits or 0), text) for text, digits in re.findall(r"(\D*)(\d*)", name)],
        )

    def _describe(self, name: str) -> Device:
        directory = f"{self._root}/{name}"
        hardware = os.path.realpath(f"{directory}/device")
        raw = os.fsencode(name)
        try:
            index = int(read(f"{directory}/ifindex"))
            address = read(f"{directory}/address")
        except (OSError, ValueError):
            index, address = 0, b""
        return Device(
            name=raw.decode(errors="replace"),
            raw=raw,
            directory=directory,
            hardware=hardware if os.path.exists(hardware) else "",
            index=index,
            reachable=_is_reachable(raw, index, address.decode(errors="replace")),
        )


class Attempts:
    """Calls of which some may fail: what one device lacks must not stop the others."""

    def __init__(self) -> None:
        self._error: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Remember an error of the system and go on."""
        if isinstance(error, OSError):
            self._error = error
            return True
        return False

    def check(self, found: Collection[object]) -> None:
        """Raise the last error if nothing at all was found."""
        if not found:
            raise self._error or OSError(errno.ENODEV, "Nothing to read of network devices")


def _matches(pattern: re.Pattern[str] | None, name: str) -> bool:
    return pattern is not None and pattern.fullmatch(name) is not None


def _is_reachable(raw: bytes, index: int, address: str) -> bool:
    """Return whether the device of this name here has that number and hardware address."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
            if socket.if_nametoindex(os.fsdecode(raw)) != index:
                return False
            answer = fcntl.ioctl(here, _GET_ADDRESS, struct.pack("16s24x", raw))
    except OSError:
        return False
    # Only Ethernet addresses are compared: others need not fit into the answer.
    own = answer[18 : 18 + _ADDRESS_BYTES].hex(":")
    return len(address.strip()) != len(own) or address.strip() == own
