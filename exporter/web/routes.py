"""Which path answers what. Only the two metrics paths ever touch memcached."""

import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

import msgspec

from exporter.configuration import Configuration, shown
from exporter.errors import AddressError, ForbiddenTargetError
from exporter.exposition import (
    OPENMETRICS_END,
    Format,
    findings_page,
    host_page,
    own_page,
    page,
    pieces,
)
from exporter.host.host import Host
from exporter.memcached.fleet import Fleet
from exporter.memcached.member import Outcome
from exporter.observation.history import History
from exporter.telemetry import Telemetry
from exporter.web.debug import report
from exporter.web.messages import Request, Response, plain
from exporter.web.negotiation import accepts_gzip, choose_format, gzip
from exporter.web.service_discovery import SD_PATH, targets
from exporter.web.status.details import server_page
from exporter.web.status.pages import status_page
from exporter.web.status.rows import SERVER_PATH, Context, Row, rows

Page = Callable[[Request, Sequence[Row], Context], Response]
"""Makes a page for people."""

_LONGEST_SECONDS = 3600.0
_MARGIN_SECONDS = 0.25
_MARGIN_SHARE = 0.2
_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9})?\Z")


@dataclass(frozen=True)
class Readers:
    """What the pages are made from."""

    fleet: Fleet
    host: Host
    telemetry: Telemetry
    history: History
    complete: bool
    """Whether every source was read when the servers were put in force."""


class Routes:
    """The web application: a request in, a response out.

    ``reload`` loads the configuration again and returns what is wrong with it.
    """

    def __init__(
        self,
        configuration: Configuration,
        readers: Readers,
        reload: Callable[[], str],
    ) -> None:
        web = self._web = configuration.web
        self._legacy_names = configuration.legacy_names
        self._export_findings = configuration.findings
        self._fleet = readers.fleet
        self._host = readers.host
        self._history = readers.history
        self._complete = readers.complete
        self._servers = configuration.servers
        self._runbooks = configuration.rules.runbooks
        self._telemetry = readers.telemetry
        self._reload = reload
        self._routes: dict[str, Callable[[Request], Response]] = {
            web.telemetry_path: self._metrics,
            web.scrape_path: self._scrape,
            "/": lambda request: self._page(request, status_page),
            SERVER_PATH: lambda request: self._page(request, server_page),
            SD_PATH: self._sd,
            "/-/healthy": lambda _: plain(200, "healthy"),
            "/-/ready": lambda _: plain(200, "ready"),
        }

    def __call__(self, request: Request) -> Response:
        """Answer a request; a proxy may leave the path of the external URL before it."""
        path, prefix = request.path, self._web.prefix
        if prefix and f"{path}/".startswith(f"{prefix}/"):
            path = path.removeprefix(prefix) or "/"
        if path == "/-/reload":
            return self._reloaded(request)
        route = self._routes.get(path)
        if route is None:
            return plain(404, f"not found: metrics are at {self._web.telemetry_path}")
        if request.method not in {"GET", "HEAD"}:
            return plain(405, "only GET and HEAD are answered here", ("Allow", "GET, HEAD"))
        return route(request)

    def _reloaded(self, request: Request) -> Response:
        if not self._web.enable_lifecycle:
            return plain(403, "reloading by HTTP is off: start with --web.enable-lifecycle")
        if request.method not in {"POST", "PUT"}:
            return plain(405, "reload with POST", ("Allow", "POST, PUT"))
        error = self._reload()
        return plain(500, error) if error else plain(200, "reloaded")

    def _metrics(self, request: Request) -> Response:
        began = time.monotonic()
        form = self._format(request)
        servers = dict(parse_qsl(request.query, keep_blank_values=True)).get("servers", "all")
        if servers not in {"all", "none"}:
            return plain(400, "servers: write all, or none for the exporter and its host alone")
        seconds = budget(_header(request, "X-Prometheus-Scrape-Timeout-Seconds"))
        of_host = self._host.begin()
        outcomes = self._fleet.read_all(seconds) if servers == "all" else []
        of_processes = self._host.begin_processes(outcome.subject for outcome in outcomes)

        def parts() -> Iterator[str]:
            yield from pieces([(o.result.samples, o.suffix) for o in outcomes], form)
            host = of_host.result(began + seconds)
            processes = of_processes.result(began + seconds)
            yield host_page([*host, *processes], form)
            self._history.note(outcomes, processes, host)
            yield self._findings(outcomes, form)
            self._telemetry.observe_page(self._web.telemetry_path, time.monotonic() - began)
            yield own_page(self._telemetry.collect(), form)

        return _exposition(request, form, parts())

    def _scrape(self, request: Request) -> Response:
        began = time.monotonic()
        parameters = dict(parse_qsl(request.query, keep_blank_values=True))
        target, module = parameters.get("target", ""), parameters.get("module", "")
        debug = parameters.get("debug", "false")
        if wrong := self._wrong(request.path, target, module, debug):
            return plain(400, wrong)
        form = self._format(request)
        seconds = budget(_header(request, "X-Prometheus-Scrape-Timeout-Seconds"))
        try:
            outcome = self._fleet.read_target(target, seconds, module)
        except AddressError as error:
            return plain(400, f"target: {error}")
        except ForbiddenTargetError as error:
            return plain(403, str(error))
        of_process = self._host.begin_processes([outcome.subject])
        process = of_process.result(began + seconds)
        self._history.note([outcome], process)
        body = page([(outcome.result.samples, outcome.suffix)], form) + host_page(process, form)
        body += self._findings([outcome], form)
        took = time.monotonic() - began
        self._telemetry.observe_page(self._web.scrape_path, took)
        if debug == "true":
            return Response(200, (report(outcome, took, seconds) + body).encode())
        return _exposition(request, form, [body])

    def _findings(self, outcomes: Iterable[Outcome], form: Format) -> str:
        """Return what is not as it should be, if that is to be exported."""
        if not self._export_findings:
            return ""
        subjects = [outcome.subject for outcome in outcomes]
        found = ((one.labels, self._history.findings(one.server)) for one in subjects)
        return findings_page(found, form)

    def _wrong(self, path: str, target: str, module: str, debug: str) -> str:
        """Return what is wrong with the parameters of a scrape, nothing when all is well."""
        if not target:
            return f"write the server to read: {path}?target=host:port"
        if not self._fleet.has_module(module):
            return f"no module is named {shown(module)} in the configuration file"
        return "" if debug in {"true", "false"} else "debug: write true or false"

    def _sd(self, request: Request) -> Response:
        """Answer with all servers or not at all: Prometheus keeps what it had, then."""
        if not self._complete:
            return plain(503, "some sources of servers were not read yet: see the log")
        return targets(request, self._servers, self._web)

    def _format(self, request: Request) -> Format:
        """Return the format that the client prefers; legacy names can be said in one only."""
        if self._legacy_names:
            return Format.TEXT
        return choose_format(_header(request, "Accept"))

    def _page(self, request: Request, page: Page) -> Response:
        """Answer with a page for people; it shows what is known, and reads no server."""
        history = self._history
        context = Context(
            self._web, history.thresholds, self._runbooks, history.ignored, time.time()
        )
        response = page(request, rows(self._fleet.states(), self._history), context)
        if not accepts_gzip(_header(request, "Accept-Encoding")):
            return response
        headers = (*response.headers, ("Vary", "Accept-Encoding"), ("Content-Encoding", "gzip"))
        return msgspec.structs.replace(response, body=gzip([response.body]), headers=headers)


def budget(scrape_timeout: str) -> float:
    """Return the seconds for a scrape, from Prometheus' ``X-Prometheus-Scrape-Timeout-Seconds``.

    The answer must be there before Prometheus gives up, so a margin is kept: 0.25 s, or a fifth of
    a timeout so short that this would leave little. Nonsense and absence mean no limit from here.
    """
    if not _SECONDS.match(scrape_timeout) or float(scrape_timeout) == 0:
        return _LONGEST_SECONDS
    seconds = float(scrape_timeout)
    return seconds - min(_MARGIN_SECONDS, seconds * _MARGIN_SHARE)


def _header(request: Request, name: str) -> str:
    """Return a header's value; one that comes several times is one list (RFC 9110)."""
    return ", ".join(request.headers.get_all(name, []))


def _exposition(request: Request, form: Format, parts: Iterable[str]) -> Response:
    """Put a page together: large ones never stand in memory as a whole before compression."""
    end = [OPENMETRICS_END] if form is Format.OPENMETRICS else []
    encoded = (part.encode() for part in itertools.chain(parts, end))
    headers = [("Vary", "Accept, Accept-Encoding")]
    if accepts_gzip(_header(request, "Accept-Encoding")):
        body = gzip(encoded)
        headers.append(("Content-Encoding", "gzip"))
    else:
        body = b"".join(encoded)
    return Response(200, body, form.value, tuple(headers))
