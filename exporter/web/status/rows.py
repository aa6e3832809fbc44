"""What is known of each server, as the pages show it."""

from collections.abc import Iterable

import msgspec

from exporter.configuration import Web
from exporter.health.figures import Levels, Rates
from exporter.health.findings.shape import Finding, Severity
from exporter.health.thresholds import Thresholds
from exporter.memcached.member import State
from exporter.observation.history import History, Point, Present

SERVER_PATH = "/server"
"""Of the page of one server, which the parameter ``target`` names."""
STALE_SECONDS = 300.0
"""Without a scrape, after which what is shown is old: Prometheus takes the same time."""
SITES = ("https://", "http://")
"""What a link to another site begins with; nothing else becomes one."""
_RUNBOOKS = "/alerts/runbooks"
UNKNOWN = Point(0.0, up=False)


class Context(msgspec.Struct, frozen=True):
    """What a page needs besides the servers."""

    web: Web
    thresholds: Thresholds
    runbooks: str
    """What stands before the name of a runbook."""
    ignored: frozenset[str]
    """The findings that are not shown."""
    now: float
    """Unix time in seconds."""

    @property
    def documents(self) -> str:
        """Where docs/ can be read: beside the runbooks, if these are on a site with the source."""
        source = self.runbooks.removesuffix(_RUNBOOKS)
        on_site = source.startswith(SITES) and source != self.runbooks
        return f"{source}/docs" if on_site else ""

    def path(self, path: str) -> str:
        """Return where a browser finds one of the exporter's paths."""
        return self.web.prefix + path


class Row(msgspec.Struct, frozen=True):
    """One configured server."""

    state: State
    points: tuple[Point, ...]
    findings: tuple[Finding, ...]
    present: Present | None = None
    """The last scrape, if it was answered."""

    @property
    def point(self) -> Point:
        """The last point; one without numbers while there is none, or the server is down."""
        return self.points[-1] if self.state.up and self.points else UNKNOWN

    @property
    def levels(self) -> Levels | None:
        """How it is; None while that is not known."""
        return self.present.levels if self.present and self.state.up else None

    @property
    def rates(self) -> Rates | None:
        """What it did between its last two scrapes; None while that is not known."""
        return self.present.rates if self.present and self.state.up else None

    @property
    def kind(self) -> str:
        """``up``, ``down`` or ``unknown``: before its first scrape."""
        return "unknown" if self.state.up is None else "up" if self.state.up else "down"

    @property
    def weight(self) -> int:
        """How soon to look at it, 0 for at once."""
        worst = self.findings[0].severity if self.findings else None
        return _WEIGHTS.index(self.kind if self.kind != "up" else worst)


_WEIGHTS = ("down", Severity.CRITICAL, Severity.WARNING, "unknown", Severity.INFO, None)


def rows(states: Iterable[State], history: History) -> list[Row]:
    """Return the servers in the order of the configuration."""
    return [
        Row(
            state,
            history.points(state.address),
            history.findings(state.address),
            history.present(state.address),
        )
        for state in states
    ]
