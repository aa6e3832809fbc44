"""The page at ``/server?target=``: all that is known of one server."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import parse_qsl

from exporter.configuration import shown
from exporter.health.words import amount, share, size, time
from exporter.web.messages import Request, Response, plain
from exporter.web.status.columns import state
from exporter.web.status.figures import FIGURES, Figure
from exporter.web.status.findings import advice
from exporter.web.status.fleet import freshness
from exporter.web.status.frame import framed
from exporter.web.status.markup import NOTHING, Html, fill, join, link
from exporter.web.status.pictures import CHART, Canvas, chart, extremes
from exporter.web.status.rows import SERVER_PATH, Context, Row
from exporter.web.status.times import moment

_DATE = len("2000-01-01 ")
_CONTENT = """{freshness}
<p>{state} {debug}</p>
{findings}
<section aria-labelledby="lately">
<h2 id="lately">Lately</h2>
<div class="charts">
{charts}
</div>
</section>
<section aria-labelledby="numbers">
<h2 id="numbers">Numbers of the last scrape</h2>
<div class="tables">
{tables}
</div>
</section>"""
_CHART = """<figure>
<figcaption><b>{title}</b> {extremes}</figcaption>
<div class="plot"><div class="scale"><span>{top}</span><span>{bottom}</span></div>{chart}</div>
<div class="span"><span>{begin}</span><span>{end}</span></div>
</figure>"""
_TABLE = """<table class="numbers">
<caption>{caption}</caption>
<tbody>
{rows}
</tbody>
</table>"""
_LINE = '<tr><th scope="row">{name}</th><td>{value}</td></tr>'

LEVELS = (
    ("Version", "version", str),
    ("Uptime", "uptime", time),
    ("Connections", "connections", amount),
    ("Connections it can take", "connections_limit", amount),
    ("Connections used", "connections_ratio", share),
    ("Memory of items", "memory_bytes", size),
    ("Memory limit", "memory_limit_bytes", size),
    ("Memory used", "memory_ratio", share),
    ("Items", "items", amount),
    ("Latency", "ping_seconds", time),
)
"""What stands of the last scrape: title, field of ``Levels``, and how it is read."""
RATES = (
    ("Hit rate", "hit_ratio", share),
    ("Evictions/s", "evictions", amount),
    ("Evicted per item stored", "evicted_per_set", share),
    ("New connections/s", "connections", amount),
    ("Connections rejected/s", "rejected", amount),
    ("Read/s", "read_bytes", size),
    ("Written/s", "written_bytes", size),
)
"""The same of ``Rates``."""
PROCESS = (
    ("CPUs used", "cpu", amount),
    ("Voluntary context switches/s", "voluntary_switches", amount),
    ("Involuntary context switches/s", "involuntary_switches", amount),
)
"""The same, known of servers on the exporter's host."""

Line = tuple[str, str]


def server_page(request: Request, rows: Sequence[Row], context: Context) -> Response:
    """Answer with the page of one configured server."""
    target = dict(parse_qsl(request.query)).get("target", "")
    if not target:
        return plain(400, f"write the server to show: {SERVER_PATH}?target=host:port")
    row = next((row for row in rows if row.state.address == target), None)
    if row is None:
        return plain(404, f"no server is configured as {shown(target)}: see / for those that are")
    debug = link(
        context.path(context.web.scrape_path),
        "Read it now, with a report",
        target=target,
        debug="true",
    )
    content = fill(
        _CONTENT,
        freshness=freshness([row], context),
        state=state(row),
        debug=debug,
        findings=advice([row], context),
        charts=_charts(row, context),
        tables=join(_tables(row)),
    )
    return framed(target, f"{target} - memcached-exporter", content, context)


def _charts(row: Row, context: Context) -> Html:
    drawn = [_chart(figure, row, context) for figure in FIGURES if extremes(figure, row.points)]
    return join(drawn) if drawn else fill("<p>Nothing to draw yet.</p>")


def _chart(figure: Figure, row: Row, context: Context) -> Html:
    first, last = row.points[0].time, row.points[-1].time
    return fill(
        _CHART,
        title=figure.title,
        extremes=extremes(figure, row.points),
        top=figure.words(Canvas(row.points, figure, CHART).top),
        bottom="0",
        chart=chart(figure, row.points, context.thresholds),
        begin=moment(first),
        end=f"{moment(last)[_DATE:]}, {time(last - first)} later" if last > first else "",
    )


def _tables(row: Row) -> Iterator[Html]:
    levels, rates, state = row.levels, row.rates, row.state
    if levels:
        yield _table("Now", _lines(levels, LEVELS))
    if rates:
        over = f"a second, over the last {time(rates.seconds)}"
        commands = sorted(rates.commands.items(), key=lambda item: -item[1])
        yield _table(f"Commands {over}", [(name, amount(rate)) for name, rate in commands])
        yield _table(f"Rates over the last {time(rates.seconds)}", _lines(rates, RATES))
        process = [] if rates.cpu is None else _lines(rates, PROCESS)
        yield _table("Its process on this host", process)
    odd = [(name, f"left out: {why}") for name, why in state.left_out.items()]
    odd += [(name, f"failed: {why}") for name, why in state.failures.items()]
    yield _table("Sections that were not read", odd)


def _lines(source: object, fields: Sequence[tuple[str, str, Callable[[Any], str]]]) -> list[Line]:
    values = ((title, getattr(source, field), words) for title, field, words in fields)
    return [(title, words(value)) for title, value, words in values if value not in {None, ""}]


def _table(caption: str, lines: Sequence[Line]) -> Html:
    """Return a table of names and values; nothing without lines."""
    rows = join(fill(_LINE, name=name, value=value) for name, value in lines)
    return fill(_TABLE, caption=caption, rows=rows) if lines else NOTHING
