"""The fleet in a few numbers, and how fresh they are."""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from exporter.health.figures import Levels, Rates
from exporter.health.words import amount, size
from exporter.web.status.columns import DASH, counts
from exporter.web.status.markup import Html, fill, join, link
from exporter.web.status.rows import STALE_SECONDS, Context, Row
from exporter.web.status.times import ago, moment

_TILE = "<div><dt>{title}</dt><dd>{value}<small>{note}</small></dd></div>"
_FRESH = (
    "<p>This page shows what the scrapes of the configured servers found, and reads no server"
    " itself. The last scrape was {ago} (<time>{moment}</time>).</p>"
)
_OLD = (
    '<p class="notice" role="status"><b class="warning">No scrape since <time>{moment}</time>,'
    " {ago}.</b> What stands here is from then. This page shows what scrapes found, and"
    " reads no server itself: see whether Prometheus runs, and still has this exporter among its"
    " targets.</p>"
)
_NEVER = (
    '<p class="notice" role="status"><b class="warning">No scrape since the exporter was started.'
    "</b> This page shows what scrapes found, and reads no server itself: it fills when Prometheus"
    ' (or you) asks for <a href="{telemetry}">{telemetry}</a>, and shows rates from the second time'
    " on.</p>"
)
_EMPTY = (
    '<p class="notice" role="status"><b class="warning">No server is configured or found.</b> Name'
    " servers with --memcached.address, or under servers or discovery in the configuration file."
    "</p>"
)


class Total(msgspec.Struct, frozen=True):
    """A number that is added up over the servers."""

    title: str
    part: Callable[[Levels, Rates | None], float | None]
    words: Callable[[float], str] = amount
    whole: Callable[[Levels], float | None] | None = None
    """What it is a part of."""


TOTALS = (
    Total("Commands/s", lambda _, rates: None if rates is None else rates.total),
    Total(
        "Connections",
        lambda levels, _: levels.connections,
        whole=lambda levels: levels.connections_limit,
    ),
    Total(
        "Memory",
        lambda levels, _: levels.memory_bytes,
        size,
        whole=lambda levels: levels.memory_limit_bytes,
    ),
    Total("Evictions/s", lambda _, rates: None if rates is None else rates.evictions),
)


def summary(rows: Sequence[Row], context: Context) -> Html:
    """Return the fleet's numbers as a list of terms."""
    kinds = Counter(row.kind for row in rows)
    home = context.path("/")
    states = join(
        fill(
            '<b class="{kind}">{link}</b>',
            kind=kind,
            link=link(home, f"{kinds[kind]} {text}", state=kind),
        )
        for kind, text in (("down", "down"), ("unknown", "never scraped"), ("up", "up"))
        if kinds[kind]
    )
    found = [finding for row in rows for finding in row.findings]
    anchor = Html('<a href="#findings">what to do</a>')
    tiles = [
        fill(_TILE, title="Servers", value=amount(len(rows)), note=states),
        *(_total(total, rows) for total in TOTALS),
        fill(_TILE, title="Findings", value=counts(found) or "0", note=anchor if found else ""),
    ]
    return fill('<dl class="tiles">\n{tiles}\n</dl>', tiles=join(tiles))


def freshness(rows: Sequence[Row], context: Context) -> Html:
    """Return from when the page's numbers are; that nobody scrapes must strike the eye."""
    if not rows:
        return Html(_EMPTY)
    times = [row.state.scraped for row in rows if row.kind != "unknown"]
    if not times:
        return fill(_NEVER, telemetry=context.path(context.web.telemetry_path))
    then = max(times)
    told = _OLD if context.now - then > STALE_SECONDS else _FRESH
    return fill(told, ago=ago(then, context.now), moment=moment(then))


def _total(total: Total, rows: Sequence[Row]) -> Html:
    """Add up what the servers tell; of a part without its whole neither counts."""
    parts, wholes = [], []
    for row in rows:
        levels, rates = row.levels, row.rates
        part = total.part(levels, rates) if levels else None
        whole = total.whole(levels) if levels and total.whole else 0.0
        if part is not None and whole is not None:
            parts.append(part)
            wholes.append(whole)
    if not parts:
        return fill(_TILE, title=total.title, value=DASH, note="not known yet")
    notes = [f"of {total.words(sum(wholes))}"] if total.whole else []
    if len(parts) < len(rows):
        notes.append(f"on {len(parts)} of {len(rows)} servers")
    return fill(_TILE, title=total.title, value=total.words(sum(parts)), note=" ".join(notes))
