"""What the counters of a device become, given as a table of names and numbers."""

import collections

from exporter.host.queue_names import drop_counters, queue_counters

Table = list[tuple[str, int]]
Counts = dict[tuple[str, ...], int]


def counted(driver: str, table: Table) -> Counts:
    """Return what queues counted, given all counters of a device in their order."""
    found: collections.Counter[tuple[str, ...]] = collections.Counter()
    for position, what in queue_counters(driver, [name for name, _ in table]):
        found[what] += table[position][1]
    return dict(found)


def dropped(table: Table) -> dict[str, int]:
    """Return what a device dropped, given all its counters."""
    names = [name for name, _ in table]
    return {reason: table[position][1] for position, (reason,) in drop_counters("", names)}
