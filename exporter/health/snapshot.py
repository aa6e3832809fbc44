"""What one look at a server or at the host found, as numbers by metric name and labels."""

from collections.abc import Iterable, Mapping

import msgspec

Labels = tuple[tuple[str, str], ...]
"""Names and values of a series' own labels, without those of its server."""
Families = Mapping[str, Mapping[Labels, float]]
"""Series by metric name; a name of which nothing was found is absent."""


class Snapshot(msgspec.Struct, frozen=True):
    """The series of one look; what the server or the host does not tell is absent."""

    families: Families
    taken: float
    """When, in seconds of ``time.monotonic``."""

    def find(self, name: str, /, **labels: str) -> Mapping[Labels, float]:
        """Return the series of a family that have these labels, possibly besides others."""
        series = self.families.get(name, {})
        for pair in labels.items():
            series = {own: value for own, value in series.items() if pair in own}
        return series

    def value(self, name: str, /, **labels: str) -> float | None:
        """Return the sum of the series that have these labels; None when there is none."""
        found = self.find(name, **labels)
        return sum(found.values()) if found else None

    def by(self, label: str, name: str, /, **labels: str) -> dict[str, float]:
        """Return the series that have these labels, summed for each value of one label."""
        sums: dict[str, float] = {}
        for own, value in self.find(name, **labels).items():
            key = dict(own).get(label, "")
            sums[key] = sums.get(key, 0.0) + value
        return sums

    def text(self, label: str, name: str) -> str:
        """Return the value of a label of an info family, empty when it is not there."""
        return next((dict(own).get(label, "") for own in self.families.get(name, {})), "")

    def only(self, names: Iterable[str]) -> "Snapshot":
        """Return a snapshot of some families alone, which is small enough to be kept."""
        families = {name: dict(self.families[name]) for name in names if name in self.families}
        return Snapshot(families, self.taken)


def increase(before: Snapshot | None, now: Snapshot, name: str) -> dict[Labels, float]:
    """Return how much the counters of a family have grown since a snapshot, None for their start.

    A series that is new began at 0, except for slab classes: memcached leaves out those without
    items, and has not forgotten what it counted when they come back. Nothing is known of a family
    that was not read then, nor of a series that fell.
    """
    series = now.families.get(name, {})
    if before is None:
        return dict(series)
    earlier = before.families.get(name)
    if earlier is None:
        return {}
    return {
        labels: growth
        for labels, value in series.items()
        if (labels in earlier or not any(name == "slab" for name, _ in labels))
        and (growth := value - earlier.get(labels, 0.0)) >= 0
    }
