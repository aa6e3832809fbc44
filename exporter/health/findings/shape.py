"""The shape of a finding, and of the check that makes it."""

from collections.abc import Callable
from enum import StrEnum

import msgspec

from exporter.health.findings.view import View


class Severity(StrEnum):
    """How bad it is."""

    INFO = "info"
    """Worth knowing: nothing is broken, and nothing need be done at once."""
    WARNING = "warning"
    CRITICAL = "critical"


class Seen(msgspec.Struct, frozen=True):
    """That a check found something."""

    severity: Severity
    text: str
    """What was seen, with its numbers: one sentence."""
    values: dict[str, str] = {}
    """What the placeholders in the check's remedy stand for."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to look at, and what to say when it is not as it should be."""

    name: str
    """In small letters with underscores: the label `finding`."""
    judge: Callable[[View], Seen | None]
    """Returns None when all is well, and when the view does not have what it takes to tell."""
    why: str
    """Why it matters, in a sentence or two."""
    remedy: str
    """The exact command or setting that changes it, with ``{placeholders}`` for numbers."""
    leave: str
    """When it is right to leave it as it is."""
    runbook: str = ""
    """Name of the alert that is about the same, if there is one."""


class Finding(msgspec.Struct, frozen=True):
    """What a check found, ready to be shown."""

    name: str
    severity: Severity
    seen: str
    why: str
    remedy: str
    leave: str
    runbook: str


def told(found: tuple[Finding, ...], ignored: frozenset[str]) -> tuple[Finding, ...]:
    """Return the findings without those that nobody wants to hear of."""
    return tuple(finding for finding in found if finding.name not in ignored)


def findings(checks: tuple[Check, ...], view: View) -> tuple[Finding, ...]:
    """Return what the checks find, the worst first and else in the order of the checks."""
    found = [
        Finding(
            name=check.name,
            severity=seen.severity,
            seen=seen.text,
            why=check.why,
            remedy=check.remedy.format_map(seen.values),
            leave=check.leave,
            runbook=check.runbook,
        )
        for check in checks
        if (seen := check.judge(view))
    ]
    worst_first = list(reversed(Severity))
    return tuple(sorted(found, key=lambda finding: worst_first.index(finding.severity)))
