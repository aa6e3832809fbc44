"""What a check finds out: two looks at each server, judged."""

from enum import StrEnum

import msgspec

from exporter.configuration import Configuration
from exporter.errors import Reason
from exporter.health.figures import Levels, Rates, levels, lifetime, rates
from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import Finding, Severity, findings, told
from exporter.health.findings.view import Pings, View
from exporter.health.thresholds import Thresholds
from exporter.memcached.member import State
from exporter.observation.observer import Look, Sight

_DOWN = {
    Reason.REFUSED: "Nobody listens there: see whether memcached runs, and on which address (-l)"
    " and port (-p).",
    Reason.UNREACHABLE: "There is no way to it: see the address, the network and firewalls.",
    Reason.TIMEOUT: "It hangs, or packets are lost: see `top` and `dmesg` on its host, and"
    " firewalls between. A slow line needs a longer --memcached.timeout.",
    Reason.DNS: "Its name leads nowhere: see the name and /etc/resolv.conf.",
    Reason.CONNECTION_LIMIT: "It is at its connection limit: raise -c, or close connections of"
    " clients.",
    Reason.AUTH: "It wants a login, or refused ours: see `auth` of its module in the"
    " configuration.",
    Reason.TLS: "TLS failed: see the certificates, and --memcached.tls.enable.",
    Reason.PROTOCOL: "What answers there is no memcached, or speaks another protocol (-B binary).",
    Reason.CLOSED: "It closed the connection: it may want TLS (--memcached.tls.enable), or has just"
    " ended.",
    Reason.INTERNAL: "This is a fault of the exporter: please report it.",
}
"""What to do about a server that cannot be read."""
_NO_SOCKET = (
    "Nobody listens there: see whether memcached runs, with which socket (-s), and who may use it"
    " (-a)."
)


class Status(StrEnum):
    """How a server is, in the words of monitoring plugins; the order is from good to bad."""

    OK = "ok"
    UNKNOWN = "unknown"
    """Only of the whole: some servers could not even be found."""
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def exit_code(self) -> int:
        """The exit status of a monitoring plugin."""
        return {"ok": 0, "warning": 1, "critical": 2, "unknown": 3}[self.value]

    @property
    def rank(self) -> int:
        """How bad it is, 0 for good."""
        return list(Status).index(self)


class ServerReport(msgspec.Struct, frozen=True, kw_only=True):
    """One server. Times are in seconds, sizes in bytes, ratios from 0 to 1; null is not known."""

    server: str
    """Its address as configured."""
    status: Status
    reason: str
    """Why it cannot be read; empty when it can."""
    detail: str
    remedy: str
    """What to do when it cannot be read."""
    missed: str
    """Why it could not be read at the first look, when it could at the second; empty else."""
    local: bool
    """Whether it runs on this host, so that its process and the host were looked at."""
    restarted: bool
    """Whether it was started anew, or its counters reset, between the looks."""
    levels: Levels | None
    """How it is now."""
    rates: Rates | None
    """What it did between the looks, per second."""
    lifetime: Rates | None
    """What it did since its start, per second."""
    pings: Pings | None
    """Round trips of a command that needs no work, between the looks."""
    findings: tuple[Finding, ...]
    """What is not as it should be, the worst first."""
    left_out: dict[str, str]
    """Section of `stats` to why it was not asked for, or the server's error."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All servers."""

    status: Status
    """That of the worst server."""
    window_seconds: float
    """Time between the looks; 0 when there was one."""
    unread: tuple[str, ...]
    """Sources of servers that could not be read."""
    thresholds: Thresholds
    ignored: tuple[str, ...]
    """Findings that were not to be told."""
    servers: tuple[ServerReport, ...]
    """The worst first, else in the order of the configuration."""


def judge(
    first: Look | None, last: Look, pings: dict[str, Pings | None], configuration: Configuration
) -> tuple[ServerReport, ...]:
    """Judge each server by one look, or by two; ``pings`` are by address."""
    before = first.servers if first else (None,) * len(last.servers)
    reports = [
        _judge(sight, earlier, last, first, pings.get(sight.state.address), configuration)
        for sight, earlier in zip(last.servers, before, strict=True)
    ]
    return tuple(sorted(reports, key=lambda report: -report.status.rank))


def report(
    servers: tuple[ServerReport, ...],
    configuration: Configuration,
    window: float,
    unread: tuple[str, ...] = (),
) -> Report:
    """Return the whole; it is unknown whether all is well when servers could not be found."""
    statuses = [one.status for one in servers] + ([Status.UNKNOWN] if unread or not servers else [])
    worst = max(statuses, key=lambda status: status.rank)
    return Report(
        status=worst,
        window_seconds=window,
        unread=unread,
        thresholds=configuration.thresholds,
        ignored=tuple(sorted(configuration.ignored)),
        servers=servers,
    )


def _judge(  # noqa: PLR0913, PLR0917
    sight: Sight,
    earlier: Sight | None,
    last: Look,
    first: Look | None,
    pings: Pings | None,
    configuration: Configuration,
) -> ServerReport:
    state, now = sight.state, sight.snapshot
    if now is None:
        return _down(sight)
    before = earlier.snapshot if earlier else None
    view = View(
        thresholds=configuration.thresholds,
        now=now,
        before=before,
        host=last.host if sight.local else None,
        host_before=first.host if first and sight.local else None,
        pings=pings,
    )
    found = told(findings(CHECKS, view), configuration.ignored)
    missed = _why(earlier.state) if earlier and before is None else ""
    since = rates(before, now) if before else None
    return ServerReport(
        server=state.address,
        status=_status(found, missed=bool(missed)),
        reason="",
        detail="",
        remedy="",
        missed=missed,
        local=sight.local,
        restarted=before is not None and since is None,
        levels=levels(now),
        rates=since,
        lifetime=lifetime(now),
        pings=pings,
        findings=found,
        left_out=state.left_out | state.failures,
    )


def _status(found: tuple[Finding, ...], *, missed: bool) -> Status:
    severities = {finding.severity for finding in found}
    if Severity.CRITICAL in severities:
        return Status.CRITICAL
    return Status.WARNING if missed or Severity.WARNING in severities else Status.OK


def _why(state: State) -> str:
    return f"{state.reason}: {state.detail}"


def _remedy(state: State) -> str:
    reason = Reason(state.reason)
    local = state.address.startswith(("/", "unix:"))
    return _NO_SOCKET if local and reason is Reason.REFUSED else _DOWN[reason]


def _down(sight: Sight) -> ServerReport:
    state = sight.state
    return ServerReport(
        server=state.address,
        status=Status.CRITICAL,
        reason=state.reason,
        detail=state.detail,
        remedy=_remedy(state),
        missed="",
        local=False,
        restarted=False,
        levels=None,
        rates=None,
        lifetime=None,
        pings=None,
        findings=(),
        left_out={},
    )
