"""What network devices dropped as a whole: ``ethtool -S`` and /sys/class/net/*/statistics."""

from collections.abc import Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.devices import Attempts, Devices
from exporter.host.ethtool import Ethtool
from exporter.host.named_counters import NamedCounters
from exporter.host.queue_names import drop_counters
from exporter.host.reading import read as read_file

_STANDARD = "rx_missed_errors"
"""Packets that arrived while the host had no room for them; of every driver that counts them."""
_MOST_REASONS = 12
"""Of a device."""


def nic_drops(settings: HostSettings) -> Read:
    """Return what reads the counters of drops (packets, or times), by the driver's names."""
    devices = Devices(settings)
    named = NamedCounters(drop_counters)

    def read() -> Iterator[Sample]:
        present = devices()
        named.forget(present)
        samples: list[Sample] = []
        attempts = Attempts()
        with Ethtool() as ethtool:
            for device in present:
                found: dict[str, int] = {}
                with attempts:
                    found[_STANDARD] = int(read_file(f"{device.directory}/statistics/{_STANDARD}"))
                if device.reachable:
                    with attempts:
                        counts = named.read(ethtool, device)
                        found |= {reason: value for (reason,), value in counts.items()}
                reasons = list(found.items())[:_MOST_REASONS]
                samples += [("drops", (device.name, reason), value) for reason, value in reasons]
        attempts.check(samples)
        yield from samples

    return read
