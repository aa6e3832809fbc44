"""Which sections may be asked of a server: first, do no harm.

Some releases die of a command that only reads. What is known of a server's first `stats` reply
decides, per connection, which sections are sent; the rest is left out with a reason.
"""

import re
from collections.abc import Callable, Iterable

import msgspec

from exporter.host.process import command_line

Version = tuple[int, int, int]

_SETTINGS_SINCE: Version = (1, 3, 3)
_NAPI_FROM: Version = (1, 6, 9)
_NAPI_UNTIL: Version = (1, 6, 39)


class Facts(msgspec.Struct, frozen=True):
    """What a `stats` reply says about the server that matters for its safety."""

    version: Version | None
    """None when the server does not name a release of memcached."""
    pid: int
    started: int
    """Unix time in seconds at which the server started, by its own clock."""
    napi_seen: bool
    """True when a counter shows that the server assigns connections by NIC queue (``-N``)."""


class Plan(msgspec.Struct, frozen=True):
    """Sections to ask for besides `stats`, and those left out with the reason."""

    sections: tuple[str, ...]
    left_out: dict[str, str]


def facts(stats: str) -> Facts:
    """Read the facts from the body of a `stats` reply."""

    def number(key: str) -> int:
        found = re.search(rf"^STAT {key} ([0-9]{{1,18}})\r?$", stats, re.MULTILINE)
        return int(found[1]) if found else 0

    version = re.search(r"^STAT version (\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?", stats, re.MULTILINE)
    return Facts(
        version=(int(version[1]), int(version[2]), int(version[3] or 0)) if version else None,
        pid=number("pid"),
        # A server's uptime begins at two seconds.
        started=number("time") - number("uptime") + 2,
        napi_seen=number("round_robin_fallback") > 0 or number("unexpected_napi_ids") > 0,
    )


def plan(
    wanted: Iterable[str],
    known: Facts,
    *,
    local: bool,
    assume_no_napi_ids: bool,
    arguments: Callable[[int, float], list[str] | None] = command_line,
) -> Plan:
    """Decide which of the wanted sections are safe.

    ``local`` says that the server runs on this host, so that its ``arguments`` can be read.
    """
    left_out: dict[str, str] = {}
    if known.version is not None and known.version < _SETTINGS_SINCE:
        left_out["settings"] = "this release has no `stats settings`"
    elif reason := _napi_danger(known, local, assume_no_napi_ids, arguments):
        left_out["settings"] = reason
    asked = [name for name in wanted if name != "stats"]
    return Plan(
        sections=tuple(name for name in asked if name not in left_out),
        left_out={name: reason for name, reason in left_out.items() if name in asked},
    )


def _napi_danger(
    known: Facts,
    local: bool,  # noqa: FBT001
    assume_no_napi_ids: bool,  # noqa: FBT001
    arguments: Callable[[int, float], list[str] | None],
) -> str:
    """Return why `stats settings` could kill the server, or nothing.

    Releases 1.6.9 to 1.6.39 print the number of ``-N`` as if it were text. The two NAPI counters
    prove ``-N`` when they are not 0, but 0 proves nothing.
    """
    if known.version is not None and not _NAPI_FROM <= known.version <= _NAPI_UNTIL:
        return ""
    danger = "`stats settings` kills memcached 1.6.9 to 1.6.39 that was started with -N"
    if known.napi_seen:
        return f"{danger}, and this server shows signs of -N"
    if assume_no_napi_ids:
        return ""
    argv = arguments(known.pid, known.started) if local else None
    if argv is None:
        return f"{danger}: set assume_no_napi_ids in the server's module if it was started without"
    return f"{danger}, as this one was" if any(map(_may_be_napi, argv[1:])) else ""


def _may_be_napi(argument: str) -> bool:
    """Return True for ``-N 2``, ``-N2``, ``-vN 2``, ``--napi-ids=2`` and shortened long options."""
    if argument.startswith("--"):
        return argument.startswith("--n")
    return argument.startswith("-") and "N" in argument
