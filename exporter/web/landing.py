"""The page at ``/``: what this is, where the metrics are, and how the servers are."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from exporter import __version__
from exporter.configuration import Web
from exporter.memcached.member import State

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>memcached-exporter</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }}
body {{ margin: 2rem auto; max-width: 60rem; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ border-bottom: 1px solid #8888; overflow-wrap: anywhere; padding: .3rem .8rem .3rem 0;
  text-align: left; vertical-align: top }}
</style>
</head>
<body>
<h1>memcached-exporter</h1>
<p>Version {version}. Prometheus reads <a href="{prefix}{telemetry}">{telemetry}</a>, and one server
by its address at <code>{scrape}?target=host:port</code> (with <code>&amp;debug=true</code> it tells
how that went). It finds all servers at <a href="{prefix}/sd">/sd</a>.
Health: <a href="{prefix}/-/healthy">/-/healthy</a>, <a href="{prefix}/-/ready">/-/ready</a>.</p>
<table>
<thead><tr><th>Server<th>State<th>memcached<th>Last scrape<th>Remarks</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""


def landing_page(web: Web, states: Sequence[State]) -> str:
    """Return the page; it shows what the last scrapes found, and reads no server."""
    return _PAGE.format(
        version=escape(__version__),
        prefix=escape(web.prefix),
        telemetry=escape(web.telemetry_path),
        scrape=escape(web.scrape_path),
        rows="\n".join(map(_row, states)) or "<tr><td colspan=5>No server is configured.</tr>",
    )


def _row(state: State) -> str:
    odd = state.left_out | state.failures
    remarks = [f"{section}: {why}" for section, why in odd.items()]
    if state.up is None:
        shown, when = "not scraped yet", "never"
    else:
        shown = "up" if state.up else f"down: {state.reason}"
        when = datetime.fromtimestamp(state.scraped, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        remarks = [state.detail, *remarks] if state.detail else remarks
    cells = (state.address, shown, state.version, when, "; ".join(remarks))
    return "<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) + "</tr>"
