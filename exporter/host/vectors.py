"""Which interrupts a network device has, and which queue each of them serves.

The device's place in /sys tells its interrupts. Their names do not: ``virtio3-rx`` may be a socket
to the hypervisor, and numbers change from boot to boot. Only what an interrupt of the device is for
is taken from its name.
"""

import functools
import os
import re
import time
from collections.abc import Iterator

import msgspec

from exporter.configuration import HostSettings
from exporter.host.devices import Device
from exporter.host.reading import read as read_file

_REFRESH_SECONDS = 60.0
"""A driver may give the same interrupts to other queues."""

_CONTROL = re.compile(
    r"(?:^|[^a-z])(?:config|mgm|misc|async|event|control|ctrl|hwc|admin|link|mbx|mailbox|cmd|fdir"
    r"|aer|aeq|ceq|irdma|lsc|ptp|pages|notify|err)"
)
"""Words of interrupts that serve no queue: mail from the card, changes of the link and so on."""
_BOTH = re.compile(r"tx-?rx|rx-?tx|comp(?![a-z])|mana_q|(?<![a-z])fp(?![a-z])")
_RX = re.compile(r"rx|input")
_TX = re.compile(r"tx|output")
_NUMBER = re.compile(r"(\d+)\W*$")
_PCI_ADDRESS = re.compile(r"@?(?:pci:)?[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]+")


class Vector(msgspec.Struct, frozen=True):
    """An interrupt of a device."""

    irq: str
    direction: str
    """rx, tx, combined for both, or other for what serves no queue."""
    queue: str = ""
    number: str = ""
    """Number in its name, where it is not known to be that of a queue."""

    @property
    def labels(self) -> tuple[str, str, str]:
        """Direction, queue and vector as labels have them."""
        return self.direction, self.queue, self.number


class Vectors:
    """Finds the interrupts of devices, again when they are others than before."""

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._known: dict[Device, tuple[list[int], float, list[Vector]]] = {}
        """Numbers of the interrupts, when to look at their names again, and what they are for."""

    @functools.cached_property
    def _root(self) -> str:
        """/sys/devices. Raises OSError when the exporter may not enter the way there."""
        return os.path.realpath(self._settings.sysfs / "devices")

    def __call__(self, device: Device) -> list[Vector]:
        """Return the interrupts of a device that are in use."""
        numbers = interrupt_numbers(device.hardware, self._root)
        now = time.monotonic()
        known = self._known.get(device)
        if not known or known[0] != numbers or now > known[1]:
            names = {str(number): self._names(number) for number in numbers}
            known = numbers, now + _REFRESH_SECONDS, list(_purposes(names, device.name))
            self._known[device] = known
        return known[2]

    def forget(self, devices: tuple[Device, ...]) -> None:
        """Drop what is known of devices that are no more."""
        self._known = {device: self._known[device] for device in devices if device in self._known}

    def _names(self, number: int) -> list[str]:
        """Return the names under which drivers asked for an interrupt; none when nobody did."""
        try:
            actions = read_file(str(self._settings.sysfs / f"kernel/irq/{number}/actions"))
        except OSError:
            # Before Linux 4.9 there is a directory of that name.
            directory = self._settings.procfs / f"irq/{number}"
            try:
                return [entry.name for entry in directory.iterdir() if entry.is_dir()]
            except OSError:
                return []
        return [
            name.strip() for name in actions.decode(errors="replace").split(",") if name.strip()
        ]


def interrupt_numbers(hardware: str, root: str) -> list[int]:
    """Return the interrupts of a device by its directory below ``root``, /sys/devices.

    A hypervisor's or a multi-function device is below the one on the PCI bus that has them. What is
    further up is the bus itself, with interrupts of its own; so is what a USB device hangs on.
    """
    directory = hardware
    while len(directory) > len(root):
        try:
            vectors = [int(name) for name in os.listdir(f"{directory}/msi_irqs")]
        except (OSError, ValueError):
            vectors = []
        if vectors:
            return sorted(vectors)
        try:
            line = int(read_file(f"{directory}/irq"))
        except (OSError, ValueError):
            line = -1
        if line >= 0:
            return [line] if line else []
        if _subsystem(directory) == "usb":
            return []
        directory = os.path.dirname(directory)
    return []


def _subsystem(directory: str) -> str:
    try:
        return os.path.basename(os.readlink(f"{directory}/subsystem"))
    except OSError:
        return ""


def _purposes(names: dict[str, list[str]], device: str) -> Iterator[Vector]:
    """Yield what interrupts are for, given the names of each."""
    vectors = [
        _merged(irq, [purpose(irq, name, device) for name in _own(found, device)])
        for irq, found in names.items()
        if found
    ]
    nameless = [vector for vector in vectors if vector.direction == ""]
    alone = len(nameless) == 1
    queues = any(vector.direction in {"rx", "tx", "combined"} for vector in vectors)
    for vector in vectors:
        if vector.direction:
            yield vector
        elif alone:
            # Beside those of queues, the one that has only the device's name is of the link.
            yield Vector(vector.irq, "other") if queues else Vector(vector.irq, "combined", "0")
        else:
            yield Vector(vector.irq, "combined", number=str(nameless.index(vector)))


def _own(names: list[str], device: str) -> list[str]:
    """Return those names of a shared interrupt that say the device, or all if none does."""
    return [name for name in names if device in name] or names


def _merged(irq: str, vectors: list[Vector]) -> Vector:
    """Return what an interrupt is for that serves several things."""
    first = vectors[0]
    if len({vector.labels for vector in vectors}) == 1:
        return first
    queues = [vector for vector in vectors if vector.queue]
    if {vector.direction for vector in queues} >= {"rx", "tx"}:
        return Vector(irq, "combined", queues[0].queue)
    return queues[0] if queues else first


def purpose(irq: str, name: str, device: str) -> Vector:
    """Return what an interrupt is for by its name; direction is empty if that does not tell.

    A name with a number but no direction may count vectors rather than queues (gve, mlx4).
    """
    bare = re.sub(rf"(?<![\w.]){re.escape(device)}(?![a-zA-Z0-9])", "", name).lower()
    bare = _PCI_ADDRESS.sub("", bare)
    if _CONTROL.search(bare):
        return Vector(irq, "other")
    found = _NUMBER.search(bare)
    number = found[1] if found else ""
    for direction, pattern in (("combined", _BOTH), ("rx", _RX), ("tx", _TX)):
        if pattern.search(bare):
            return Vector(irq, direction, number)
    return Vector(irq, "combined" if number else "", number=number)
