"""The page for people: what it shows, and that no server can write into it."""

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser

import msgspec
import pytest

from exporter import __version__
from exporter.configuration import ConfigFile, build
from exporter.memcached.member import State
from exporter.web.landing import landing_page
from tests.processes import Exporter, FakeMemcached, Memcached

WEB = build(ConfigFile(), str).web
HOSTILE = "<script>alert('1')</script>&amp;\"'`"


class Tags(HTMLParser):
    """Notes the tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and where it leads."""
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]


def rows(page: str) -> list[list[str]]:
    """Return the cells of the table's body, as a reader sees them."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    found = [re.findall(r"<td[^>]*>([^<]*)", line) for line in body.split("<tr>")[1:]]
    return [[unescape(cell).strip() for cell in cells] for cells in found]


def test_a_server_before_its_first_scrape() -> None:
    """What is not known yet is said to be so."""
    page = landing_page(WEB, [State(address="a:1")])
    assert rows(page) == [["a:1", "not scraped yet", "", "never", ""]]


def test_states_are_shown_in_order() -> None:
    """Each server has its row: state, version, time and remarks."""
    states = [
        State(address="a:1", up=True, version="1.6.18", scraped=0.0),
        State(
            address="b:2",
            up=False,
            reason="refused",
            detail="connection refused",
            version="1.5.6",
            left_out={"settings": "dangerous"},
            scraped=86399.9,
        ),
    ]
    assert rows(landing_page(WEB, states)) == [
        ["a:1", "up", "1.6.18", "1970-01-01 00:00:00 UTC", ""],
        [
            "b:2",
            "down: refused",
            "1.5.6",
            "1970-01-01 23:59:59 UTC",
            "connection refused; settings: dangerous",
        ],
    ]


def test_no_servers() -> None:
    """Without servers the page says so."""
    assert "No server is configured" in landing_page(WEB, [])


def test_a_server_cannot_write_into_the_page() -> None:
    """Text of servers is text on the page, whatever it holds."""
    harmless = Tags(landing_page(WEB, [State(address="a")]))
    state = State(
        address=HOSTILE,
        up=False,
        reason=HOSTILE,
        detail=HOSTILE,
        version=HOSTILE,
        left_out={HOSTILE: HOSTILE},
    )
    page = landing_page(WEB, [state])
    tags = Tags(page)
    assert tags.seen == harmless.seen
    assert tags.links == harmless.links
    assert HOSTILE not in page
    assert rows(page)[0][0] == HOSTILE


def test_the_links_follow_the_configured_paths() -> None:
    """Links go to the paths of the configuration, and to nothing outside."""
    file = msgspec.convert({"web": {"telemetry_path": "/m", "scrape_path": "/s"}}, ConfigFile)
    page = landing_page(build(file, str).web, [])
    assert "/m" in Tags(page).links
    assert "/s?target=" in page
    assert "/metrics" not in page
    assert all(link.startswith("/") for link in Tags(page).links)


def test_the_page_over_http(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """The page shows the state of the last scrape, and comes at once while the server hangs."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout=300ms")
    answer = daemon.request("/")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert __version__ in answer.text
    assert rows(answer.text) == [[server.address, "not scraped yet", "", "never", ""]]
    daemon.samples()
    known = server.stats()["version"]
    ((address, state, version, when, _),) = rows(daemon.request("/").text)
    assert (address, state, version) == (server.address, "up", known)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", when)
    server.freeze()
    daemon.samples()
    ((_, state, version, _, _),) = rows(daemon.request("/").text)
    assert (state, version) == ("down: timeout", known)


@pytest.mark.parametrize("version", ["<b>1.6</b>", "1.6 & <script src=//x>"])
def test_a_hostile_version_over_http(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter], version: str
) -> None:
    """A server's version is text on the page, and so is the odd path of its socket."""
    server = fake("--set", f"version {version}")
    path = "/tmp/<i>x</i>.sock"
    daemon = exporter(f"--memcached.address={server.address}", f"--memcached.address={path}")
    daemon.samples()
    page = daemon.request("/").text
    assert {"b", "i", "script"}.isdisjoint(Tags(page).seen)
    assert [cells[0] for cells in rows(page)] == [server.address, path]
    assert rows(page)[0][2] == version
