"""The figures of a server in one interval: the columns of the CSV file, as a table."""

from collections.abc import Callable, Mapping

import msgspec

from exporter.health.figures import Levels, Rates
from exporter.health.findings.view import Pings

Figures = Mapping[str, float]
"""Numbers by the names of columns; what is not known is absent."""

THROUGHPUT = "commands_per_second"
GETS = "gets_per_second"
HIT_RATIO = "hit_ratio"
PING_P50 = "ping_p50_seconds"
PING_P99 = "ping_p99_seconds"
INTERVAL = "interval_seconds"
_NAMED = {"get", "set", "delete", "touch"}
"""Commands that have a column of their own."""


class Measured(msgspec.Struct, frozen=True):
    """What one interval brought of a server; None for what could not be measured."""

    levels: Levels | None = None
    rates: Rates | None = None
    pings: Pings | None = None


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One figure."""

    name: str
    """In the CSV file, with its unit."""
    read: Callable[[Measured], float | None]
    meaning: str
    more_is_better: bool = False
    """Which end of the values is the worst one."""
    weights: tuple[str, ...] = ()
    """Figures by whose product an interval counts in the mean; empty when all count alike."""
    summed_up: bool = True
    """Whether the summary has it."""


def _field(part: str, field: str) -> Callable[[Measured], float | None]:
    return lambda measured: getattr(getattr(measured, part), field, None)


def _command(name: str) -> Callable[[Measured], float | None]:
    return lambda measured: measured.rates.commands.get(name) if measured.rates else None


def _all(measured: Measured) -> float | None:
    return measured.rates.total if measured.rates and measured.rates.commands else None


def _others(measured: Measured) -> float | None:
    commands = measured.rates.commands if measured.rates else {}
    others = [value for name, value in commands.items() if name not in _NAMED]
    return sum(others) if others else None


def _done(name: str, read: Callable[[Measured], float | None], meaning: str) -> Column:
    """Return a column of what the server did, which is better the more it is."""
    return Column(name=name, read=read, meaning=meaning, more_is_better=True, weights=(INTERVAL,))


def _rate(name: str, field: str, meaning: str) -> Column:
    read = _field("rates", field)
    return Column(name=name, read=read, meaning=meaning, weights=(INTERVAL,))


def _level(name: str, meaning: str) -> Column:
    return Column(name=name, read=_field("levels", name), meaning=meaning)


def _ping(name: str, field: str, meaning: str) -> Column:
    return Column(name=name, read=_field("pings", field), meaning=meaning)


COLUMNS = (
    Column(
        name=INTERVAL,
        read=_field("rates", "seconds"),
        meaning="Time that the rates of the line are over: longer than the interval after a gap.",
        summed_up=False,
    ),
    _done(THROUGHPUT, _all, "All commands. A get of 10 keys counts as 10, a cas as a set."),
    _done(GETS, _command("get"), "Keys that were asked for."),
    _done("sets_per_second", _command("set"), "Stores of all kinds."),
    _done("deletes_per_second", _command("delete"), "Deletes."),
    _done("touches_per_second", _command("touch"), "touch, and gat, which is no get here."),
    _done("others_per_second", _others, "incr, decr and flush_all; all others of a proxy."),
    Column(
        name=HIT_RATIO,
        read=_field("rates", "hit_ratio"),
        meaning="Gets that found their key, to all gets, from 0 to 1. Empty without gets.",
        more_is_better=True,
        weights=(INTERVAL, GETS),
    ),
    _rate("evictions_per_second", "evictions", "Items thrown out to make room."),
    _level("connections", "Open connections at the end; two are the command's own."),
    _level("connections_ratio", "The same to what the server can take, from 0 to 1."),
    _rate("new_connections_per_second", "connections", "Connections that were made."),
    _rate("rejected_connections_per_second", "rejected", "Refused, since there were too many."),
    _level("memory_bytes", "Bytes of the items in memory at the end."),
    _level("memory_ratio", "The same to the limit (`-m`), from 0 to 1."),
    _level("items", "Items that are stored at the end."),
    _done("read_bytes_per_second", _field("rates", "read_bytes"), "Bytes from clients."),
    _done("written_bytes_per_second", _field("rates", "written_bytes"), "Bytes to clients."),
    _rate("cpus", "cpu", "CPU seconds a second that the server used."),
    _ping(PING_P50, "p50", "Half of the round trips took no longer."),
    _ping(PING_P99, "p99", "99 % of the round trips took no longer."),
    Column(
        name="pings",
        read=_field("pings", "count"),
        meaning="Round trips that were measured.",
        summed_up=False,
    ),
    _ping("ping_failures", "failed", "Round trips without an answer in time."),
    _rate(
        "voluntary_switches_per_second",
        "voluntary_switches",
        "Times that threads of a server on this host gave up the CPU, mostly to wait for clients.",
    ),
    _rate(
        "involuntary_switches_per_second",
        "involuntary_switches",
        "Times that such a thread was taken off the CPU before it was done.",
    ),
)


def figures(measured: Measured) -> Figures:
    """Return the figures that are known."""
    told = {column.name: column.read(measured) for column in COLUMNS}
    return {name: float(value) for name, value in told.items() if value is not None}
