"""What each queue of a network device counted: netlink ``netdev``, or else ``ethtool -S``."""

from collections import Counter
from collections.abc import Iterator

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.devices import Attempts, Devices
from exporter.host.ethtool import Ethtool
from exporter.host.named_counters import NamedCounters
from exporter.host.netlink_queues import QueueStatistics
from exporter.host.queue_names import queue_counters

_MOST_QUEUES = 128
"""Of a device, in each direction."""

_Counts = Counter[tuple[str, ...]]
"""By quantity, direction and queue."""


def nic_queues(settings: HostSettings) -> Read:
    """Return what reads packets, bytes, drops and stops of the queues of each device.

    Each quantity comes from one source for all queues of a direction.
    """
    devices = Devices(settings)
    statistics = QueueStatistics()
    named = NamedCounters(queue_counters)

    def read() -> Iterator[Sample]:
        present = devices.reachable()
        named.forget(present)
        counted: dict[str, _Counts] = {device.name: _Counts() for device in present}
        attempts = Attempts()
        with attempts, statistics:
            for device in present:
                with attempts:
                    for one in statistics.read(device.index):
                        counted[device.name][one.quantity, one.direction, one.queue] += one.value
        with Ethtool() as ethtool:
            for device in present:
                with attempts:
                    _complete(counted[device.name], named.read(ethtool, device))
        samples = [sample for name, counts in counted.items() for sample in _samples(name, counts)]
        attempts.check(samples)
        kept = [sample for sample in samples if int(sample[1][-1]) < _MOST_QUEUES]
        yield from kept
        yield "series_dropped", (), len(samples) - len(kept)

    return read


def _complete(counts: _Counts, others: _Counts) -> None:
    """Add those quantities that are not there yet."""
    there = {(quantity, direction) for quantity, direction, _ in counts}
    for key, value in others.items():
        if key[:2] not in there:
            counts[key] = value


def _samples(name: str, counts: _Counts) -> Iterator[Sample]:
    for (quantity, direction, queue), value in counts.items():
        # Only sending stops: when the card takes no more.
        labels = (name, queue) if quantity == "stops" else (name, direction, queue)
        yield quantity, labels, value
