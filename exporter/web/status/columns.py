"""The table of servers: its columns are data, a cell each."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from exporter.health.findings.shape import Finding, Severity
from exporter.health.words import time
from exporter.web.status.figures import FIGURES, Figure
from exporter.web.status.markup import NOTHING, Html, fill, join, link
from exporter.web.status.pictures import bar, spark
from exporter.web.status.rows import SERVER_PATH, STALE_SECONDS, Context, Row
from exporter.web.status.times import ago, moment

DASH = Html('<span class="none">&ndash;</span>')
_NUMBER = '<span class="number">{number}{judged}</span>'
_JUDGED = ' <b class="{severity}">{severity}</b>'
_KINDS = {"up": "up", "down": "down: {reason}", "unknown": "not scraped yet"}


class Column(msgspec.Struct, frozen=True):
    """One column of the table of servers."""

    name: str
    """As the parameter ``sort`` takes it."""
    title: str
    cell: Callable[[Row, Context], Html]
    order: Callable[[Row], float | str | tuple[int, ...]] | None = None
    """What comes first is the lowest; None for a column that nothing is sorted by."""


def number(figure: Figure, row: Row, context: Context) -> Html:
    """Return the last number of a figure, with a word where it is beyond a threshold."""
    value = figure.value(row.point)
    if value is None:
        return DASH
    severity = figure.judge(row.point, context.thresholds)
    judged = fill(_JUDGED, severity=severity) if severity else NOTHING
    return fill(_NUMBER, number=figure.words(value), judged=judged)


def state(row: Row) -> Html:
    """Return whether a server is up, and why not, in words."""
    known = row.state
    told = [_KINDS[row.kind].format(reason=known.reason), known.detail]
    missing = len(known.left_out) + len(known.failures)
    if missing:
        told.append(f"{missing} section{'s' if missing > 1 else ''} not read")
    first, *rest = filter(None, told)
    details = join(fill("<small>{text}</small>", text=text) for text in rest)
    return fill(
        '<b class="{kind}">{first}</b>{details}', kind=row.kind, first=first, details=details
    )


def counts(findings: Sequence[Finding]) -> Html:
    """Return how many findings there are of each severity, the worst first."""
    found = Counter(finding.severity for finding in findings)
    return join(
        fill(
            '<b class="{severity}">{count} {severity}</b>', severity=severity, count=found[severity]
        )
        for severity in reversed(Severity)
        if found[severity]
    )


def _most_of_the_worst(findings: Sequence[Finding]) -> tuple[int, ...]:
    found = Counter(finding.severity for finding in findings)
    return tuple(-found[severity] for severity in reversed(Severity))


def server_link(row: Row, context: Context) -> Html:
    """Return the way to the page of a server."""
    address = row.state.address
    return link(context.path(SERVER_PATH), address, target=address)


def _uptime(row: Row, _context: Context) -> Html:
    levels = row.levels
    if levels is None or levels.uptime is None:
        return DASH
    return fill("{uptime}", uptime=time(max(levels.uptime, 1.0)))


def _started(row: Row) -> float:
    levels = row.levels
    return math.inf if levels is None or levels.uptime is None else levels.uptime


def _scraped(row: Row, context: Context) -> Html:
    if row.kind == "unknown":
        return fill("never")
    old = context.now - row.state.scraped > STALE_SECONDS
    return fill(
        '<span class="number">{ago}{judged}</span><small>{moment}</small>',
        ago=ago(row.state.scraped, context.now),
        judged=Html(' <b class="warning">old</b>') if old else NOTHING,
        moment=moment(row.state.scraped),
    )


def _figure(figure: Figure) -> Column:
    def cell(row: Row, context: Context) -> Html:
        picture = NOTHING
        if figure.picture == "bar":
            picture = bar(figure, row.point, context.thresholds)
        elif figure.picture == "line":
            picture = spark(figure, row.points)
        of = figure.of(row.levels)
        small = fill("<small>{of}</small>", of=of) if of else NOTHING
        return join((number(figure, row, context), picture, small))

    return Column(figure.name, figure.title, cell, lambda row: figure.badness(row.point))


COLUMNS = (
    Column("server", "Server", server_link, lambda row: row.state.address),
    Column("state", "State", lambda row, _: state(row), lambda row: row.weight),
    Column(
        "findings",
        "Findings",
        lambda row, _: counts(row.findings) or DASH,
        lambda row: _most_of_the_worst(row.findings),
    ),
    Column("version", "Version", lambda row, _: fill("{v}", v=row.state.version) or DASH),
    Column("uptime", "Uptime", _uptime, _started),
    *map(_figure, FIGURES),
    Column("scraped", "Last scrape", _scraped, lambda row: row.state.scraped),
)
