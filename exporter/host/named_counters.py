"""Counters of a device that are known by their names (``ethtool -S``)."""

from collections import Counter
from collections.abc import Callable, Iterable

from exporter.host.devices import Device
from exporter.host.ethtool import Ethtool, statistic_names
from exporter.host.queue_names import Chosen


class NamedCounters:
    """Reads some of the counters of devices; remembers for each device which those are."""

    def __init__(self, choose: Callable[[str, list[str]], Chosen]) -> None:
        self._choose = choose
        """Given the driver and the names of all its counters."""
        self._known: dict[bytes, tuple[bytes, Chosen]] = {}
        """By device: the names of all counters, and the chosen ones."""

    def read(self, ethtool: Ethtool, device: Device) -> Counter[tuple[str, ...]]:
        """Return the chosen counters of a device, by what they count."""
        names, values = ethtool.statistics(device.raw)
        known = self._known.get(device.raw)
        if not known or known[0] != names:
            driver = ethtool.driver(device.raw).name if names else ""
            known = names, self._choose(driver, statistic_names(names))
            self._known[device.raw] = known
        counts = Counter[tuple[str, ...]]()
        for position, counted in known[1]:
            counts[counted] += values[position]
        return counts

    def forget(self, devices: Iterable[Device]) -> None:
        """Drop what is known of devices that are no more."""
        kept = {device.raw for device in devices}
        self._known = {raw: known for raw, known in self._known.items() if raw in kept}
