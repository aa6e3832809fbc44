"""Queues whose packets software spreads over CPUs: /sys/class/net/*/queues."""

import os
import time
from collections.abc import Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.devices import Attempts, Device, Devices
from exporter.host.reading import read as read_file

_MASKS = {"rps_queues": ("rx-", "rps_cpus"), "xps_queues": ("tx-", "xps_cpus")}
"""Beginning of a queue's directory, and the file with the CPUs, as hexadecimal words."""
_REFRESH_SECONDS = 60.0
"""A large card has hundreds of these files, and nobody changes them often."""


def steering(settings: HostSettings) -> Read:
    """Return what reads for how many queues of each device RPS and XPS are set."""
    devices = Devices(settings)
    known: dict[Device, tuple[float, list[Sample]]] = {}
    """By device: when to read it again, and what it brought."""

    def read() -> Iterator[Sample]:
        present = devices()
        for gone in known.keys() - set(present):
            del known[gone]
        attempts = Attempts()
        now = time.monotonic()
        for device in present:
            if device not in known or known[device][0] < now:
                found: list[Sample] = []
                with attempts:
                    found += _masks(device, attempts)
                known[device] = now + _REFRESH_SECONDS, found
        samples = [sample for _, found in known.values() for sample in found]
        attempts.check(samples)
        yield from samples

    return read


def _masks(device: Device, attempts: Attempts) -> Iterator[Sample]:
    directory = f"{device.directory}/queues"
    queues = os.listdir(directory)
    for key, (prefix, file) in _MASKS.items():
        masks = []
        for queue in queues:
            # A device with one queue has the file of XPS, which says that it does not exist.
            with attempts:
                if queue.startswith(prefix):
                    masks.append(read_file(f"{directory}/{queue}/{file}"))
        if masks:
            yield key, (device.name,), sum(1 for mask in masks if mask.strip(b"0,\n"))
