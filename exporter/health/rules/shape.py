"""The shape of a rule: what a table of rules is made of.

Expressions and texts name thresholds as ``${connections.warning}``; in texts a format may follow:
``${connections.warning|percent}``. Each selector of an expression is written with ``$selector``,
alone or before further matchers: ``memcached_up{$selector}``, ``x{$selector, command="get"}``.
"""

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """Who is told: critical pages, warning is a ticket, info is for those who look."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class Recording(msgspec.Struct, frozen=True):
    """A rule that keeps the result of an expression under a name of its own."""

    record: str
    """``level:metric:operations``; the level ``server`` is one memcached server."""
    expr: str


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that tells of trouble."""

    name: str
    """CamelCase, from ``Memcached``; alerts of one name have different severities."""
    severity: Severity
    expr: str
    wait: str
    """For how long it must be true (``for``)."""
    keep: str = ""
    """For how long it goes on firing afterwards; empty for not at all."""
    summary: str
    """One sentence without numbers."""
    description: str
    """What is wrong, with the numbers; a Go template. ``${who}`` names the server."""
    board: str = "memcached-server"
    """The dashboard that shows it."""


class Group(msgspec.Struct, frozen=True):
    """Rules that Prometheus evaluates one after the other."""

    name: str
    rules: tuple[Recording | Alert, ...]


WHO = "{{ with $labels.server }}{{ . }}{{ else }}{{ $labels.instance }}{{ end }}"
"""In texts: the server's address, which is the instance when it was scraped by ``/scrape``."""
