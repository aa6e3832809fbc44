"""What all pages for people share: the frame, the style, and the headers that guard them."""

import base64
import hashlib
from pathlib import Path

from exporter import __version__
from exporter.web.messages import Response
from exporter.web.status.markup import NOTHING, Html, fill, link
from exporter.web.status.rows import Context

_STYLE = Path(__file__).with_name("style.css").read_text()
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
# The empty icon keeps browsers from asking for /favicon.ico.
_FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<p class="name"><a href="{home}">memcached-exporter</a> <small>{version}</small></p>
<nav aria-label="The exporter"><ul>
<li><a href="{telemetry}">Metrics</a></li>
<li><a href="{sd}">Service discovery</a></li>
<li><a href="{healthy}">Healthy</a></li>
<li><a href="{ready}">Ready</a></li>
{documents}
</ul></nav>
</header>
<main>
<h1>{heading}</h1>
{content}
</main>
<footer>
<p>Prometheus reads all servers at <code>{telemetry}</code>, or one by its address at
<code>{scrape}?target=host:port</code>. What the metrics, thresholds and findings mean stands in the
directories <code>docs</code> and <code>alerts/runbooks</code> of the exporter's source.</p>
</footer>
</body>
</html>
"""
_DOCUMENTS = "<li>{link}</li>"


def framed(heading: str, title: str, content: Html, context: Context) -> Response:
    """Return a page as a response that lets a browser load and run nothing else."""
    documents = context.documents
    page = fill(
        _FRAME,
        documents=fill(_DOCUMENTS, link=link(documents, "Documents")) if documents else NOTHING,
        title=title,
        heading=heading,
        style=Html(_STYLE),
        version=__version__,
        home=context.path("/"),
        telemetry=context.path(context.web.telemetry_path),
        scrape=context.path(context.web.scrape_path),
        sd=context.path("/sd"),
        healthy=context.path("/-/healthy"),
        ready=context.path("/-/ready"),
        content=content,
    )
    return Response(200, page.encode(), "text/html; charset=utf-8", _HEADERS)
