"""Nobody can write into the pages: not servers, not configurations, not clients."""

import base64
import hashlib
import re

import pytest

from exporter.web.messages import Response
from exporter.web.status.details import server_page
from exporter.web.status.markup import NOTHING, Html, fill, join, link
from exporter.web.status.pages import status_page
from exporter.web.status.rows import Row
from tests.web.status import Page, context, finding, request, up

HOSTILE = "<script>alert('1')</script>&amp;\"'`{v}<b onclick=x style=color:red>"


def row(text: str) -> Row:
    """Return a server all of whose texts are the same."""
    words = dict.fromkeys(("seen", "why", "remedy", "leave", "runbook"), text)
    known = up(text, found=(finding(text, **words),), version=text, commands={text: 1.0})
    state = type(known.state)(
        address=text,
        up=True,
        reason=text,
        detail=text,
        version=text,
        left_out={text: text},
        failures={text: text},
        scraped=known.state.scraped,
    )
    return Row(state, known.points, known.findings)


def pages(text: str) -> tuple[Response, Response]:
    """Return both pages about a server all of whose texts are the same."""
    rows, at = [row(text)], context()
    target = link("", "", target=text).split('"')[1].removeprefix("?")
    return status_page(request(), rows, at), server_page(request(target), rows, at)


@pytest.mark.parametrize("number", [0, 1], ids=["fleet", "server"])
def test_texts_stay_texts(number: int) -> None:
    """A page with hostile texts has the tags and attributes of one with harmless texts."""
    harmless, hostile = Page(pages("x")[number]), Page(pages(HOSTILE)[number])
    assert hostile.tags == harmless.tags
    assert hostile.attributes == harmless.attributes
    assert hostile.source.count("<") == harmless.source.count("<")
    assert HOSTILE not in hostile.source
    assert " ".join(HOSTILE.split()) in hostile.text
    assert {"script", "form", "img", "iframe"}.isdisjoint(hostile.tags)
    assert {"style", "onclick"}.isdisjoint(hostile.attributes)


@pytest.mark.parametrize("name", ["state", "sort", "rows", "finding"])
def test_clients_cannot_write_either(name: str) -> None:
    """What a link carries is text at most."""
    response = status_page(request(f"{name}=%3Cscript%3E%22"), [up()], context())
    assert response.status == (200 if name == "finding" else 400)
    if response.status == 200:
        assert "<script" not in response.body.decode()
        assert '<script>"' in Page(response).text


@pytest.mark.parametrize("number", [0, 1], ids=["fleet", "server"])
def test_a_browser_may_load_nothing_else(number: int) -> None:
    """The policy allows the page's own style and nothing more."""
    response = pages("x")[number]
    headers = dict(response.headers)
    style = re.search(r"<style>(.*)</style>", response.body.decode(), re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert headers["Content-Security-Policy"].split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"


def test_text_is_escaped_once() -> None:
    """Markup is put in as it is, and everything else as text."""
    inner = fill("<i>{text}</i>", text="<&\"'>")
    assert inner == "<i>&lt;&amp;&quot;&#x27;&gt;</i>"
    assert fill("<p>{inner}{number}</p>", inner=inner, number=5) == f"<p>{inner}5</p>"
    assert join([inner, Html("<br>")]) == f"{inner}\n<br>"
    assert fill("{text}", text="{v}") == "{v}"
    assert NOTHING == ""


def test_links_are_encoded() -> None:
    """A text in a link stays one parameter."""
    assert link("/p", "a&b", x="1&y=2", z="") == '<a href="/p?x=1%26y%3D2">a&amp;b</a>'
    assert link("/p", "t") == '<a href="/p">t</a>'
