"""Network devices by themselves: driver, number of queues, rings, and coalescing of interrupts."""

import os
from collections.abc import Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.devices import Attempts, Device, Devices
from exporter.host.ethtool import Ethtool
from exporter.host.reading import read as read_file


def nic(settings: HostSettings) -> Read:
    """Return what reads the settings of each device; what a driver does not tell is left out."""
    devices = Devices(settings)

    def read() -> Iterator[Sample]:
        # Only now: it raises for directories that the exporter may not enter.
        root = os.path.realpath(settings.sysfs / "devices")
        samples: list[Sample] = []
        attempts = Attempts()
        with Ethtool() as ethtool:
            for device in devices.reachable():
                for part in (_info, _channels, _rings, _coalescing):
                    with attempts:
                        samples += part(ethtool, device, root)
        attempts.check(samples)
        yield from samples
        yield "series_dropped", (), devices.dropped

    return read


def _info(ethtool: Ethtool, device: Device, root: str) -> Iterator[Sample]:
    driver = ethtool.driver(device.raw)
    texts = (driver.name, driver.version, driver.firmware, driver.bus)
    yield "info", (device.name, *texts, _numa_node(device.hardware, root)), 1


def _channels(ethtool: Ethtool, device: Device, _: str) -> Iterator[Sample]:
    for kind, channels in ethtool.channels(device.raw).items():
        if channels.most:
            yield "channels", (device.name, kind), channels.current
            yield "channels_max", (device.name, kind), channels.most


def _rings(ethtool: Ethtool, device: Device, _: str) -> Iterator[Sample]:
    for direction, entries in ethtool.rings(device.raw).items():
        if entries.most:
            yield "ring_entries", (device.name, direction), entries.current
            yield "ring_entries_max", (device.name, direction), entries.most


def _coalescing(ethtool: Ethtool, device: Device, _: str) -> Iterator[Sample]:
    for direction, coalescing in ethtool.coalescing(device.raw).items():
        yield "coalesce_seconds", (device.name, direction), coalescing.seconds
        yield "coalesce_frames", (device.name, direction), coalescing.frames
        yield "coalesce_adaptive", (device.name, direction), int(coalescing.adaptive)


def _numa_node(directory: str, root: str) -> str:
    """Return the memory node that a device is nearest to; empty where there is but one.

    The file is at the device on the PCI bus, which is above what a hypervisor's device is.
    """
    while len(directory) > len(root):
        try:
            node = read_file(f"{directory}/numa_node").decode(errors="replace").strip()
        except OSError:
            directory = os.path.dirname(directory)
        else:
            return "" if node == "-1" else node
    return ""
