"""The page at ``/``: the fleet, its servers and what was found out about them."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from exporter.configuration import shown
from exporter.web.messages import Request, Response, plain
from exporter.web.status.columns import COLUMNS, Column
from exporter.web.status.findings import advice
from exporter.web.status.fleet import freshness, summary
from exporter.web.status.frame import framed
from exporter.web.status.markup import NOTHING, Html, fill, join, link
from exporter.web.status.rows import Context, Row

MOST_ROWS = 100
"""That are shown unless all are asked for."""
_ORDERS = {column.name: column.order for column in COLUMNS if column.order}
_CHOICES = {
    "state": ("up", "down", "unknown"),
    "sort": tuple(_ORDERS),
    "rows": ("all",),
}
"""What the parameters of the page can be."""
_DEFAULT_SORT = "state"
_CONTENT = """{freshness}
{summary}
<section aria-labelledby="servers">
<h2 id="servers">Servers</h2>
{filter}
<table class="servers">
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
{more}
</section>
{findings}"""


def status_page(request: Request, rows: Sequence[Row], context: Context) -> Response:
    """Answer with the page; a parameter that means nothing is refused."""
    query = dict(parse_qsl(request.query, keep_blank_values=True))
    for name, choices in _CHOICES.items():
        if query.get(name, choices[0]) not in choices:
            wanted = ", ".join(choices)
            return plain(400, f"{name}: {shown(query[name])} is none of: {wanted}")
    down = sum(row.kind == "down" for row in rows)
    title = f"{down} down - memcached-exporter" if down else "memcached-exporter"
    content = fill(
        _CONTENT,
        freshness=freshness(rows, context),
        summary=summary(rows, context),
        findings=advice(rows, context),
        **_table(query, rows, context),
    )
    return framed("Status of memcached", title, content, context)


def _table(query: Mapping[str, str], rows: Sequence[Row], context: Context) -> dict[str, Html]:
    order = _ORDERS[query.get("sort", _DEFAULT_SORT)]
    chosen = sorted((row for row in rows if _fits(row, query)), key=order)
    visible = chosen if query.get("rows") else chosen[:MOST_ROWS]
    return {
        "filter": _filter(query, len(chosen), context),
        "heads": join(_head(column, query, context) for column in COLUMNS),
        "rows": join(_row(row, context) for row in visible),
        "more": _more(query, len(chosen) - len(visible), context),
    }


def _fits(row: Row, query: Mapping[str, str]) -> bool:
    names = {finding.name for finding in row.findings}
    return query.get("state", row.kind) == row.kind and (
        "finding" not in query or query["finding"] in names
    )


def _filter(query: Mapping[str, str], count: int, context: Context) -> Html:
    """Return what the table is limited to, with the way back."""
    told = [f"{name} {query[name]}" for name in ("state", "finding") if name in query]
    if not told:
        return NOTHING
    servers = "server" if count == 1 else "servers"
    return fill(
        "<p>{count} {servers} with {told}. {back}</p>",
        count=count,
        servers=servers,
        told=" and ".join(told),
        back=link(context.path("/"), "Show all"),
    )


def _head(column: Column, query: Mapping[str, str], context: Context) -> Html:
    if column.order is None:
        return fill('<th scope="col">{title}</th>', title=column.title)
    current = query.get("sort", _DEFAULT_SORT) == column.name
    return fill(
        '<th scope="col"{current}>{link}</th>',
        current=Html(' aria-sort="other"') if current else NOTHING,
        link=link(context.path("/"), column.title, **{**query, "sort": column.name}),
    )


def _row(row: Row, context: Context) -> Html:
    first, *others = COLUMNS
    cells = [
        fill(
            '<td data-label="{title}" class="{name}">{cell}</td>',
            title=column.title,
            name=column.name,
            cell=column.cell(row, context),
        )
        for column in others
    ]
    head = fill('<th scope="row">{cell}</th>', cell=first.cell(row, context))
    return fill(
        '<tr class="{kind}">{head}{cells}</tr>', kind=row.kind, head=head, cells=join(cells)
    )


def _more(query: Mapping[str, str], hidden: int, context: Context) -> Html:
    if not hidden:
        return NOTHING
    text = f"Show {hidden} more"
    return fill("<p>{link}</p>", link=link(context.path("/"), text, **{**query, "rows": "all"}))
