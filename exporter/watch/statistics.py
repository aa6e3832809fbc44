"""What remains of many intervals: mean, p95 and worst of each figure of a server."""

import math
from array import array
from collections.abc import Iterable

import msgspec

from exporter.observation.observer import quantile
from exporter.watch.columns import COLUMNS, Column
from exporter.watch.rows import Event, Row


class Statistics(msgspec.Struct, frozen=True):
    """Of one figure of one server."""

    mean: float
    """Over the whole time, however long the single intervals were."""
    p95: float
    """95 % of the intervals were at least as good."""
    worst: float


class Run(msgspec.Struct, frozen=True):
    """All intervals of one server."""

    server: str
    intervals: int
    down: int
    """Intervals at whose end it did not answer."""
    resets: int
    """Times that its counters began anew."""
    reason: str
    """Why it did not answer the last time that it did not; empty when it always did."""
    figures: dict[str, Statistics]
    """By the name of the column; what was never known is absent."""


class _Values:
    """All values of one figure, in little memory: a watch may go on for days."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._values = array("d")
        self._weighted = 0.0
        self._weight = 0.0

    def add(self, row: Row) -> None:
        value = row.figures.get(self._column.name)
        if value is not None:
            weight = math.prod(row.figures.get(name, 0.0) for name in self._column.weights)
            self._values.append(value)
            self._weighted += value * weight
            self._weight += weight

    def statistics(self) -> Statistics | None:
        worst_last = sorted(self._values, reverse=self._column.more_is_better)
        p95 = quantile(worst_last, 0.95)
        if p95 is None or not self._weight:
            return None
        return Statistics(self._weighted / self._weight, p95, worst_last[-1])


class _Account:
    """What is kept of one server's intervals."""

    def __init__(self) -> None:
        self.intervals = self.down = self.resets = 0
        self.reason = ""
        self.values = {column.name: _Values(column) for column in COLUMNS if column.summed_up}

    def add(self, row: Row) -> None:
        self.intervals += 1
        self.resets += row.event in {Event.RESTART, Event.RESET}
        if not row.up:
            self.down += 1
            self.reason = f"{row.reason}: {row.detail}".removesuffix(": ")
        for values in self.values.values():
            values.add(row)


class Accounts:
    """Sums up rows as they come."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._by_server: dict[str, _Account] = {}
        self.add(rows)

    def add(self, rows: Iterable[Row]) -> None:
        """Count rows of any servers."""
        for row in rows:
            self._by_server.setdefault(row.server, _Account()).add(row)

    def runs(self) -> dict[str, Run]:
        """Return what there was of each server, in the order in which they came."""
        return {server: _run(server, account) for server, account in self._by_server.items()}


def _run(server: str, account: _Account) -> Run:
    found = {name: values.statistics() for name, values in account.values.items()}
    return Run(
        server=server,
        intervals=account.intervals,
        down=account.down,
        resets=account.resets,
        reason=account.reason,
        figures={name: statistics for name, statistics in found.items() if statistics},
    )
