"""Replies with an entry per connection, page, size or prefix: exported in sums, never raw.

Each function takes the body of a reply and yields rows: the key in the catalogue, the labels, the
value; keys that it does not know it adds to a set. What a reply holds is as long as the server
likes; what comes out of it is bounded.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

Labels = tuple[tuple[str, str], ...]
Aggregate = tuple[str, Labels, int]

OTHER = "other"
_MOST_LISTENERS = 32
_MOST_BUCKETS = 256
_PATH_CUT = len("unix:") + 26
"""memcached keeps 26 bytes of the path that it listens on, and may print what lies behind."""
_IDLE = ((1, "<1s"), (10, "<10s"), (60, "<1m"), (600, "<10m"), (3600, "<1h"))
_SIZE_BOUNDS = tuple(64 << step for step in range(15))
"""64 bytes to 1 MiB: multiples of the 32 bytes in which memcached counts, so they are exact."""
_ENTRY = re.compile(r"STAT ([0-9]{1,9}):([A-Za-z_]+) (.*)")
_SIZE = re.compile(r"STAT ([0-9]{1,10}) ([0-9]{1,15})")
_PREFIX = re.compile(
    r"PREFIX (.*) get ([0-9]{1,15}) hit ([0-9]{1,15}) set ([0-9]{1,15}) del ([0-9]{1,15})",
    re.DOTALL,
)
_DIGITS = re.compile(r"[0-9]{1,18}")
_SIZE_TEXTS = ("STAT sizes_status ", "STAT sizes_error ")
_CONNECTION_KEYS = frozenset(
    {"listen_addr", "state", "secs_since_last_cmd", "resps_waiting", "queues_waiting", "UDP"}
)
_PAGE_KEYS = frozenset({"bytes", "bucket", "free_bucket"})
_STATES = frozenset(
    f"conn_{state}"
    for state in (
        *("listening", "new_cmd", "waiting", "read", "parse_cmd", "write", "nread", "swallow"),
        *("closing", "mwrite", "closed", "watch", "io_queue", "io_resume", "io_pending"),
    )
)


class Limits(msgspec.Struct):
    """How much of a reply with unbounded names is kept; one per server."""

    top_clients: int = 0
    """Client addresses to export, those with the most connections; 0 for none."""
    max_prefixes: int = 100
    """Key prefixes to export."""
    kept_prefixes: dict[str, None] = {}
    """Prefixes that have their own series. They keep them, or `other` would fall when they change
    places, and a counter that falls looks like a restart."""


def connections(body: str, limits: Limits, unknown: set[str]) -> Iterator[Aggregate]:
    """Sum `stats conns` up by listener, state and idle time, and by client if wanted."""
    states: Counter[tuple[str, str, str]] = Counter()
    clients: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    listeners: set[str] = set()
    entries = list(_entries(body, "addr", _CONNECTION_KEYS, unknown))
    paths = {path for entry in entries if (path := entry.get("listen_addr", ""))[:5] == "unix:"}
    for entry in entries:
        # UDP sockets take requests themselves: their address is the server's own.
        own = entry.get("state") == "conn_listening" or entry["addr"].startswith("udp")
        listener = _listening(entry["addr"], paths) if own else entry.get("listen_addr", "")
        if len(listeners) < _MOST_LISTENERS:
            listeners.add(listener)
        shown = listener if listener in listeners else OTHER
        state = entry.get("state", "")
        idle = _idle(_number(entry.get("secs_since_last_cmd", "")))
        states[shown, state if state in _STATES else OTHER, idle] += 1
        if not own:
            clients[_client(entry["addr"])] += 1
        for key in ("resps_waiting", "queues_waiting"):
            if (number := _number(entry.get(key, ""))) is not None:
                waiting[key] += number
    for (listener, state, idle), count in states.items():
        yield "state", (("listener", listener), ("state", state), ("idle", idle)), count
    for key, count in waiting.items():
        yield key, (), count
    if limits.top_clients:
        yield from _top(clients, limits.top_clients)


def _listening(address: str, paths: set[str]) -> str:
    """Return the address of a socket that listens; a long path as its clients have it."""
    cut = address[:_PATH_CUT]
    if not address.startswith("unix:") or len(address) < _PATH_CUT:
        return address
    return next((path for path in sorted(paths) if path.startswith(cut)), cut)


def _top(clients: Counter[str], most: int) -> Iterator[Aggregate]:
    rest = clients.total()
    for client, count in clients.most_common(most):
        if client != OTHER:
            yield "addr", (("client", client),), count
            rest -= count
    yield "addr", (("client", OTHER),), rest


def _entries(
    body: str, first: str, keys: frozenset[str], unknown: set[str]
) -> Iterator[dict[str, str]]:
    """Yield the entries of a reply. Numbers repeat (the UDP sockets), so ``first`` begins one."""
    entry: dict[str, str] = {}
    for line in body.split("\r\n"):
        if not (found := _ENTRY.fullmatch(line)):
            continue
        if found[2] == first:
            if entry:
                yield entry
            entry = {first: found[3]}
        elif found[2] not in keys:
            unknown.add(found[2])
        elif entry:
            entry[found[2]] = found[3]
    if entry:
        yield entry


def _number(text: str) -> int | None:
    """Return a number as memcached prints it; None for what went below zero or is none."""
    return int(text) if _DIGITS.fullmatch(text) else None


def _idle(seconds: int | None) -> str:
    if seconds is None:
        return ""
    return next((label for bound, label in _IDLE if seconds < bound), ">=1h")


def _client(address: str) -> str:
    """Return the IP address of ``tcp:1.2.3.4:5`` or ``tcp6:[::1]:5``, else what kind it is."""
    kind, _, rest = address.partition(":")
    if kind in {"tcp", "tcp6"}:
        return rest.rpartition(":")[0].strip("[]")
    return "unix" if kind in {"unix", "?"} else OTHER


def storage_pages(body: str, _limits: Limits, unknown: set[str]) -> Iterator[Aggregate]:
    """Sum `stats extstore` up by bucket.

    Pages of version 0 are free or being written, the reply does not say which: they are left out.
    """
    pages: Counter[str] = Counter()
    live: Counter[str] = Counter()
    for entry in _entries(body, "version", _PAGE_KEYS, unknown):
        if entry["version"] == "0":
            continue
        bucket = _number(entry.get("bucket", "0"))
        shown = OTHER if bucket is None or bucket >= _MOST_BUCKETS else str(bucket)
        pages[shown] += 1
        if (size := _number(entry.get("bytes", ""))) is not None:
            live[shown] += size
    for bucket_name, count in pages.items():
        yield "bucket", (("bucket", bucket_name),), count
    for bucket_name, total in live.items():
        yield "bytes", (("bucket", bucket_name),), total


def item_sizes(body: str, _limits: Limits, unknown: set[str]) -> Iterator[Aggregate]:
    """Turn `stats sizes` (upper bound, items) into a histogram's cumulative buckets."""
    sizes: list[tuple[int, int]] = []
    for line in body.split("\r\n"):
        if found := _SIZE.fullmatch(line):
            sizes.append((int(found[1]), int(found[2])))
        elif line and not line.startswith(_SIZE_TEXTS):
            unknown.add(line.removeprefix("STAT ").split(" ", 1)[0])
    if not sizes:
        return
    for bound in _SIZE_BOUNDS:
        yield "*", (("le", str(bound)),), sum(count for size, count in sizes if size <= bound)
    yield "*", (("le", "+Inf"),), sum(count for _, count in sizes)


def prefixes(body: str, limits: Limits, unknown: set[str]) -> Iterator[Aggregate]:
    """Export `stats detail dump` for a bounded number of prefixes, the rest in sum."""
    found: dict[str, tuple[int, ...]] = {}
    for line in body.split("\r\n"):
        if match := _PREFIX.fullmatch(line):
            found[match[1]] = tuple(int(number) for number in match.groups()[1:])
        elif line:
            unknown.add(line.split(" ", 1)[0])
    _choose(found, limits)
    other: tuple[int, ...] = (0, 0, 0, 0)
    for prefix, numbers in found.items():
        if prefix in limits.kept_prefixes:
            yield from _prefix(prefix, numbers)
        else:
            other = tuple(map(sum, zip(other, numbers, strict=True)))
    if len(found) > len(limits.kept_prefixes):
        yield from _prefix(OTHER, other)


def _choose(found: dict[str, tuple[int, ...]], limits: Limits) -> None:
    """Give free places among the kept prefixes to those with the most commands."""
    kept = limits.kept_prefixes
    for gone in list(kept):
        if gone not in found:  # the server or its statistics began anew
            kept.pop(gone, None)
    for prefix in sorted(found, key=lambda name: sum(found[name]), reverse=True):
        if len(kept) < limits.max_prefixes and prefix != OTHER:
            kept[prefix] = None


def _prefix(prefix: str, numbers: Iterable[int]) -> Iterator[Aggregate]:
    for key, number in zip(("get", "hit", "set", "del"), numbers, strict=True):
        yield key, (("prefix", prefix),), number


AGGREGATIONS: dict[str, Callable[[str, Limits, set[str]], Iterator[Aggregate]]] = {
    "conns": connections,
    "extstore": storage_pages,
    "sizes": item_sizes,
    "detail": prefixes,
}
"""Section name to the function that sums its reply up; other sections are translated by line."""
