"""Replies with an entry per connection, page, size or prefix: exported in sums, never raw.

Each function takes the body of a reply and yields rows: the key in the catalogue, the labels, the
value. What a reply holds is as long as the server likes; what comes out of it is bounded.
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
_IDLE = ((1, "<1s"), (10, "<10s"), (60, "<1m"), (600, "<10m"), (3600, "<1h"))
_SIZE_BOUNDS = tuple(64 << step for step in range(15))
"""64 bytes to 1 MiB: multiples of the 32 bytes in which memcached counts, so they are exact."""
_ENTRY = re.compile(r"STAT ([0-9]{1,9}):([a-z_]+) (.*)")
_SIZE = re.compile(r"STAT ([0-9]{1,10}) ([0-9]{1,15})")
_PREFIX = re.compile(
    r"PREFIX (.*) get ([0-9]{1,15}) hit ([0-9]{1,15}) set ([0-9]{1,15}) del ([0-9]{1,15})"
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


def connections(body: str, limits: Limits) -> Iterator[Aggregate]:
    """Sum `stats conns` up by listener, state and idle time, and by client if wanted."""
    states: Counter[tuple[str, str, str]] = Counter()
    clients: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    listeners: set[str] = set()
    for entry in _entries(body, first="addr"):
        listening = entry.get("state") == "conn_listening"
        listener = entry["addr"] if listening else entry.get("listen_addr", "")
        listeners.update([listener] if len(listeners) < _MOST_LISTENERS else [])
        shown = listener if listener in listeners else OTHER
        state = entry.get("state", "")
        states[shown, state, _idle(entry.get("secs_since_last_cmd", ""))] += 1
        if not listening:
            clients[_client(entry["addr"])] += 1
        for key in ("resps_waiting", "queues_waiting"):
            if entry.get(key, "").isdecimal():
                waiting[key] += int(entry[key])
    for (listener, state, idle), count in states.items():
        yield "state", (("listener", listener), ("state", state), ("idle", idle)), count
    for key, count in waiting.items():
        yield key, (), count
    if limits.top_clients:
        top = clients.most_common(limits.top_clients)
        for client, count in top:
            yield "addr", (("client", client),), count
        yield "addr", (("client", OTHER),), clients.total() - sum(count for _, count in top)


def _entries(body: str, first: str) -> Iterator[dict[str, str]]:
    """Yield the entries of a reply. Numbers repeat (the UDP sockets), so ``first`` begins one."""
    entry: dict[str, str] = {}
    for line in body.split("\r\n"):
        if not (found := _ENTRY.fullmatch(line)):
            continue
        if found[2] == first:
            if entry:
                yield entry
            entry = {}
        if entry or found[2] == first:
            entry[found[2]] = found[3]
    if entry:
        yield entry


def _idle(seconds: str) -> str:
    if not seconds.isdecimal():
        return ""
    return next((label for bound, label in _IDLE if int(seconds) < bound), ">=1h")


def _client(address: str) -> str:
    """Return the IP address of ``tcp:1.2.3.4:5`` or ``tcp6:[::1]:5``, else what kind it is."""
    kind, _, rest = address.partition(":")
    if kind.startswith(("tcp", "udp")):
        return rest.rpartition(":")[0].strip("[]")
    return "unix" if kind in {"unix", "?"} else kind


def storage_pages(body: str, _limits: Limits) -> Iterator[Aggregate]:
    """Sum `stats extstore` up by bucket and whether a page is in use."""
    pages: Counter[tuple[str, str]] = Counter()
    live: Counter[str] = Counter()
    for entry in _entries(body, first="version"):
        used = entry["version"] != "0"
        bucket = entry.get("bucket" if used else "free_bucket", "0")
        if not bucket.isdecimal() or int(bucket) >= _MOST_BUCKETS:
            bucket = OTHER
        pages[bucket, "used" if used else "free"] += 1
        if used and entry.get("bytes", "").isdecimal():
            live[bucket] += int(entry["bytes"])
    for (bucket, state), count in pages.items():
        yield "bucket", (("bucket", bucket), ("state", state)), count
    for bucket, size in live.items():
        yield "bytes", (("bucket", bucket),), size


def item_sizes(body: str, _limits: Limits) -> Iterator[Aggregate]:
    """Turn `stats sizes` (upper bound, items) into a histogram's cumulative buckets."""
    sizes = [(int(found[1]), int(found[2])) for found in _SIZE.finditer(body)]
    if not sizes:
        return
    for bound in _SIZE_BOUNDS:
        yield "*", (("le", str(bound)),), sum(count for size, count in sizes if size <= bound)
    yield "*", (("le", "+Inf"),), sum(count for _, count in sizes)


def prefixes(body: str, limits: Limits) -> Iterator[Aggregate]:
    """Export `stats detail dump` for a bounded number of prefixes, the rest in sum."""
    found = {
        match[1]: tuple(int(number) for number in match.groups()[1:])
        for match in map(_PREFIX.fullmatch, body.split("\r\n"))
        if match
    }
    kept = limits.kept_prefixes
    for gone in kept.keys() - found.keys():  # the server or its statistics began anew
        del kept[gone]
    for prefix in sorted(found, key=lambda name: sum(found[name]), reverse=True):
        if len(kept) < limits.max_prefixes and prefix != OTHER:
            kept[prefix] = None
    other = [0, 0, 0, 0]
    for prefix, numbers in found.items():
        if prefix in kept:
            yield from _prefix(prefix, numbers)
        else:
            other = [a + b for a, b in zip(other, numbers, strict=True)]
    if len(found) > len(kept):
        yield from _prefix(OTHER, other)


def _prefix(prefix: str, numbers: Iterable[int]) -> Iterator[Aggregate]:
    for key, number in zip(("get", "hit", "set", "del"), numbers, strict=True):
        yield key, (("prefix", prefix),), number


AGGREGATIONS: dict[str, Callable[[str, Limits], Iterator[Aggregate]]] = {
    "conns": connections,
    "extstore": storage_pages,
    "sizes": item_sizes,
    "detail": prefixes,
}
"""Section name to the function that sums its reply up; other sections are translated by line."""
