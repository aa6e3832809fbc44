"""Made-up servers for the status pages, and what a reader of a page sees."""

from collections.abc import Sequence
from email.message import Message
from html.parser import HTMLParser
from typing import Any, NamedTuple

import msgspec

from exporter.configuration import ConfigFile, build
from exporter.health.figures import Levels, Rates
from exporter.health.findings.shape import Finding, Severity
from exporter.health.thresholds import Thresholds
from exporter.memcached.member import State
from exporter.observation.history import Point, Present, point
from exporter.web.messages import Request, Response
from exporter.web.status.rows import Context, Row

NOW = 86400.0 * 3
_OF_RATES = set(Rates.__struct_fields__) - set(Levels.__struct_fields__)
VOID = {"meta", "link", "rect", "path", "br"}


def context(
    *, now: float = NOW, thresholds: Thresholds | None = None, ignored: str = "", **web: Any
) -> Context:
    """Return the context of a page, with keys of ``web`` as the configuration file has them."""
    built = build(msgspec.convert({"web": web}, ConfigFile), str)
    limits = thresholds or Thresholds()
    return Context(built.web, limits, built.rules.runbooks, frozenset(ignored.split()), now)


def levels(**known: Any) -> Levels:
    """Return levels of which all but these are not known."""
    fields: dict[str, Any] = dict.fromkeys(Levels.__struct_fields__)
    return Levels(**(fields | {"version": "1.6.18"} | known))


def rates(**known: Any) -> Rates:
    """Return rates of which all but these are not known."""
    fields: dict[str, Any] = dict.fromkeys(Rates.__struct_fields__)
    return Rates(**(fields | {"seconds": 15.0, "commands": {}} | known))


class Moment(NamedTuple):
    """One scrape, with all that it found."""

    time: float
    up: bool
    levels: Levels | None = None
    rates: Rates | None = None

    @property
    def point(self) -> Point:
        """What is kept of it for long."""
        if self.levels is None:
            return Point(self.time, up=self.up)
        return point(self.time, self.levels, self.rates)


def row_of(state: State, moments: Sequence[Moment], found: tuple[Finding, ...] = ()) -> Row:
    """Return a server with these scrapes behind it."""
    last = moments[-1] if moments else None
    present = Present(last.levels, last.rates) if last and last.levels else None
    return Row(state, tuple(moment.point for moment in moments), found, present)


def up(address: str = "a:1", *, found: tuple[Finding, ...] = (), **known: Any) -> Row:
    """Return a server that is up, with these levels and rates."""
    of_rates = {name: known[name] for name in _OF_RATES if name in known}
    of_levels = {name: value for name, value in known.items() if name not in of_rates}
    moment = Moment(NOW - 12, True, levels(**of_levels), rates(**of_rates) if of_rates else None)
    state = State(address=address, up=True, version="1.6.18", scraped=NOW - 12)
    return row_of(state, [moment], found)


def down(address: str = "b:2", **known: Any) -> Row:
    """Return a server that is down, as it was found 12 seconds ago."""
    how: dict[str, Any] = {
        "reason": "refused",
        "detail": "connection refused",
        "scraped": NOW - 12,
    } | known
    return Row(State(address=address, up=False, **how), (Point(NOW - 12, up=False),), ())


def new(address: str = "c:3") -> Row:
    """Return a server before its first scrape."""
    return Row(State(address=address), (), ())


def finding(name: str = "connections_high", severity: str = "warning", **words: str) -> Finding:
    """Return a finding whose words are its fields' names, unless given."""
    told = {key: key for key in ("seen", "why", "remedy", "leave", "runbook")} | words
    return Finding(name=name, severity=Severity(severity), **told)


def request(query: str = "", path: str = "/") -> Request:
    """Return a browser's request."""
    return Request("GET", path, query, Message())


class Page(HTMLParser):
    """A page as its reader sees it."""

    def __init__(self, response: Response | str) -> None:
        super().__init__()
        self.source = response if isinstance(response, str) else response.body.decode()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: dict[str, str] = {}
        """Text to where it leads."""
        self.labels: list[str] = []
        """What pictures are called."""
        self.servers: list[dict[str, str]] = []
        """Rows of the table of servers: title of the column to text."""
        self.lines: dict[str, str] = {}
        """First to second cell of the other tables."""
        self.text = ""
        self._open: list[tuple[str, dict[str, str]]] = []
        self._head = ""
        self.feed(self.source)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        known = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes |= known.keys()
        self.labels += [known["aria-label"]] if tag == "svg" else []
        if tag == "tr" and known.get("class"):
            self.servers.append({})
        if tag not in VOID:
            self._open.append((tag, known))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a tag; one that was not opened last is a fault of the page."""
        if tag not in VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        """Note a text where it stands."""
        text, around = " ".join(data.split()), dict(self._open)
        if not text or "style" in around:
            return
        self.text += f" {text}"
        if "a" in around:
            self.links[text] = around["a"]["href"]
        cell = around.get("td") or around.get("th") or {}
        if around.get("tr", {}).get("class"):
            title = cell.get("data-label", "Server")
            told = self.servers[-1].get(title)
            self.servers[-1][title] = f"{told} {text}" if told else text
        elif cell.get("scope") == "row":
            self._head = text
        elif "td" in around:
            self.lines[self._head] = text
