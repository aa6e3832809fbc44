"""Snapshots as tests want them: a server that is well, and what differs."""

from collections.abc import Mapping

from exporter.health.snapshot import Labels, Snapshot

GET_HITS: Labels = (("command", "get"), ("status", "hit"))
GET_MISSES: Labels = (("command", "get"), ("status", "miss"))
SETS: Labels = (("command", "set"), ("status", "attempt"))


def snapshot(taken: float = 100.0, **families: float | Mapping[Labels, float]) -> Snapshot:
    """Return a snapshot; a number stands for the one series of a family without labels.

    Names come without ``memcached_``.
    """
    told: dict[str, Mapping[Labels, float]] = {
        f"memcached_{name}": series if isinstance(series, Mapping) else {(): series}
        for name, series in families.items()
    }
    return Snapshot(told, taken)
