"""Which sections may be asked of a server: first, do no harm.

Some releases die of a command that only reads. What is known of a server's first `stats` reply
decides, per connection, which sections are sent; the rest is left out with a reason.
"""

import re
from collections.abc import Callable, Iterable

import msgspec

Version = tuple[int, int, int]

_NAPI_FROM: Version = (1, 6, 9)
_NAPI_UNTIL: Version = (1, 6, 39)


class Rule(msgspec.Struct, frozen=True):
    """What a server must be for a section to be asked for."""

    since: Version
    """The first release that has the section, or from which on it does no harm."""
    sign: str = ""
    """A key of `stats` that shows the feature in use; without it the section says nothing."""
    harm: str = ""
    """What older releases suffer from it."""


RULES = {
    "settings": Rule((1, 3, 3)),
    "conns": Rule((1, 4, 18)),
    # Releases from 1.5.4 to 1.6.9 that were built with external storage die without it in use.
    "extstore": Rule((1, 5, 4), sign="extstore_pages_used"),
    "proxy": Rule((1, 6, 15), sign="proxy_conn_requests", harm="releases before can die of it"),
    "proxyfuncs": Rule((1, 6, 24), sign="proxy_conn_requests", harm="1.6.23 can die of it"),
    "proxybe": Rule((1, 6, 27), sign="proxy_conn_requests"),
    "sizes": Rule((1, 4, 27), harm="releases before stall all clients while they count"),
    "detail": Rule((1, 2, 6)),
}
"""By section; `stats`, `stats items` and `stats slabs` are safe with every release."""

_SIGNS = {rule.sign for rule in RULES.values()} - {""}


class Facts(msgspec.Struct, frozen=True):
    """What a `stats` reply says about the server that matters for its safety."""

    version: Version | None
    """None when the server does not name a release of memcached."""
    pid: int
    age: int
    """For how many seconds the server has run."""
    napi_seen: bool
    """True when a counter shows that the server assigns connections by NIC queue (``-N``)."""
    signs: frozenset[str] = frozenset()
    """Which signs of features in use (``Rule.sign``) there are."""


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
        age=max(0, number("uptime") - 2),
        napi_seen=number("round_robin_fallback") > 0 or number("unexpected_napi_ids") > 0,
        signs=frozenset(sign for sign in _SIGNS if f"STAT {sign} " in stats),
    )


def plan(
    wanted: Iterable[str],
    known: Facts,
    *,
    assume_no_napi_ids: bool,
    arguments: Callable[[], list[str] | None],
) -> Plan:
    """Decide which of the wanted sections are safe.

    ``arguments`` are those of the server's process, None if that cannot be seen; they are asked
    for when they matter.
    """
    sections: list[str] = []
    left_out: dict[str, str] = {}
    for name in wanted:
        reason = _refusal(name, known)
        if reason is None and name == "settings":
            reason = _napi_danger(known, assume_no_napi_ids, arguments)
        if reason:
            left_out[name] = reason
        elif reason is None and name != "stats":
            sections.append(name)
    return Plan(sections=tuple(sections), left_out=left_out)


def _refusal(name: str, known: Facts) -> str | None:
    """Return why a section must not be asked for, by its rule: "" when it would say nothing."""
    rule = RULES.get(name)
    if rule is None:
        return None
    if rule.sign and rule.sign not in known.signs:
        return ""
    if known.version is None:
        # Settings have a rule of their own for this, and other software may have them too.
        return None if name == "settings" else "the server does not name a release of memcached"
    if known.version < rule.since:
        since = ".".join(map(str, rule.since))
        return f"`stats {name}` needs memcached {since}" + (f": {rule.harm}" if rule.harm else "")
    return None


def _napi_danger(
    known: Facts,
    assume_no_napi_ids: bool,  # noqa: FBT001
    arguments: Callable[[], list[str] | None],
) -> str | None:
    """Return why `stats settings` could kill the server, or None.

    Releases 1.6.9 to 1.6.39 print the number of ``-N`` as if it were text. The two NAPI counters
    prove ``-N`` when they are not 0, but 0 proves nothing.
    """
    if known.version is not None and not _NAPI_FROM <= known.version <= _NAPI_UNTIL:
        return None
    danger = "`stats settings` kills memcached 1.6.9 to 1.6.39 that was started with -N"
    if known.napi_seen:
        return f"{danger}, and this server shows signs of -N"
    if assume_no_napi_ids:
        return None
    argv = arguments()
    if argv is None:
        return f"{danger}: set assume_no_napi_ids in the server's module if it was started without"
    return f"{danger}, as this one was" if any(map(_may_be_napi, argv[1:])) else None


def _may_be_napi(argument: str) -> bool:
    """Return True for ``-N 2``, ``-N2``, ``-vN 2``, ``--napi-ids=2`` and shortened long options."""
    if argument.startswith("--"):
        return argument.startswith("--n")
    return argument.startswith("-") and "N" in argument
