"""The figures that people look at first, from one snapshot of a server or the difference of two."""

import msgspec

from exporter.health.snapshot import Snapshot, increase

_COMMANDS = "memcached_commands_total"
_PROXY_COMMANDS = "memcached_proxy_commands_total"
_EVICTED = "memcached_items_evicted_total"
_CONNECTIONS = "memcached_connections_total"
_REJECTED = "memcached_connections_rejected_total"
_READ = "memcached_read_bytes_total"
_WRITTEN = "memcached_written_bytes_total"
_CPU = ("memcached_process_user_cpu_seconds_total", "memcached_process_system_cpu_seconds_total")
_SWITCHES = "memcached_process_context_switches_total"
START = "memcached_start_time_seconds"

COUNTERS = (
    _COMMANDS,
    _PROXY_COMMANDS,
    _EVICTED,
    _CONNECTIONS,
    _REJECTED,
    _READ,
    _WRITTEN,
    *_CPU,
    _SWITCHES,
)
"""The families that rates are made of; a snapshot to compare with needs these and ``START``."""

_OF_ATTEMPTS = {"set", "flush"}
"""Commands that memcached counts without an outcome."""
_COUNTED_TWICE = {"cas"}
"""Commands that are in the count of another one, here of set."""
_SAME_START_SECONDS = 1.5
"""memcached's clock ticks once a second: the difference of two of its times can be off by one."""


class Levels(msgspec.Struct, frozen=True):
    """How a server is now; None for what it does not tell."""

    version: str
    uptime: float | None
    """In seconds."""
    connections: float | None
    connections_limit: float | None
    """What the server can take: its limit less the descriptors that it keeps for itself."""
    connections_ratio: float | None
    memory_bytes: float | None
    """Of the items that are in memory."""
    memory_limit_bytes: float | None
    memory_ratio: float | None
    items: float | None
    ping_seconds: float | None
    """Round trip of a command that needs no work."""


class Rates(msgspec.Struct, frozen=True):
    """What a server did over some time, per second; None for what it does not tell."""

    seconds: float
    """How long the time was."""
    commands: dict[str, float]
    """By command, as clients send them; a cas counts as a set."""
    hit_ratio: float | None
    """Gets that found their key, to all gets; None without gets."""
    evictions: float | None
    evicted_per_set: float | None
    """Items evicted to items stored; None without stores."""
    connections: float | None
    rejected: float | None
    read_bytes: float | None
    written_bytes: float | None
    cpu: float | None
    """CPUs that the server used."""
    voluntary_switches: float | None
    """Of all its threads, for a server on this host."""
    involuntary_switches: float | None

    @property
    def total(self) -> float:
        """All commands a second."""
        return sum(self.commands.values())


def levels(now: Snapshot) -> Levels:
    """Return how a server is."""
    connections, limit = now.value("memcached_current_connections"), capacity(now)
    memory, memory_limit = memory_used(now), now.value("memcached_limit_bytes")
    return Levels(
        version=now.text("version", "memcached_version_info"),
        uptime=now.value("memcached_uptime_seconds"),
        connections=connections,
        connections_limit=limit,
        connections_ratio=ratio(connections, limit),
        memory_bytes=memory,
        memory_limit_bytes=memory_limit,
        memory_ratio=ratio(memory, memory_limit),
        items=now.value("memcached_current_items"),
        ping_seconds=now.value("memcached_ping_seconds"),
    )


def capacity(now: Snapshot) -> float | None:
    """Return how many connections the server can take, None when it does not tell."""
    limit = now.value("memcached_max_connections")
    reserved = now.value("memcached_reserved_fds") or 0.0
    return None if limit is None else max(0.0, limit - reserved)


def memory_used(now: Snapshot) -> float | None:
    """Return the bytes of items in memory: those on external storage count in `bytes` as well."""
    used = now.value("memcached_current_bytes")
    if used is None:
        return None
    return max(0.0, used - (now.value("memcached_extstore_bytes_used") or 0.0))


def rates(before: Snapshot, now: Snapshot) -> Rates | None:
    """Return what happened between two snapshots.

    None when the server was started anew or its counters were reset in between.
    """
    seconds = now.taken - before.taken
    if seconds <= 0 or was_reset(before, now):
        return None
    return _rates(before, now, seconds)


def lifetime(now: Snapshot) -> Rates | None:
    """Return what happened since the server's start, None when that is just now.

    Too low where somebody has reset the counters (`stats reset`), which memcached does not tell.
    """
    uptime = now.value("memcached_uptime_seconds")
    return _rates(None, now, uptime) if uptime else None


def was_reset(before: Snapshot, now: Snapshot) -> bool:
    """Return whether counters began anew between two snapshots."""
    if restarted(before, now):
        return True
    for name in COUNTERS:
        # The series of threads that end are kept, so the sums of a process do not fall either.
        series = now.families.get(name, {})
        for labels, value in before.families.get(name, {}).items():
            if value > series.get(labels, value):
                return True
    return False


def restarted(before: Snapshot, now: Snapshot) -> bool:
    """Return whether the server was started anew between two snapshots."""
    starts = before.value(START), now.value(START)
    return None not in starts and abs((starts[0] or 0.0) - (starts[1] or 0.0)) > _SAME_START_SECONDS


def ratio(part: float | None, whole: float | None) -> float | None:
    """Return a part of a whole, None when either is unknown or there is no whole."""
    return part / whole if part is not None and whole else None


def _rates(before: Snapshot | None, now: Snapshot, seconds: float) -> Rates:
    """Return the rates since a snapshot, or since the start of the server."""
    grown = Snapshot({name: increase(before, now, name) for name in COUNTERS}, now.taken)

    def rate(name: str, **labels: str) -> float | None:
        increased = grown.value(name, **labels)
        return None if increased is None else increased / seconds

    commands = {name: number / seconds for name, number in _commands(grown).items()}
    hits = rate(_COMMANDS, command="get", status="hit")
    misses = rate(_COMMANDS, command="get", status="miss")
    evictions = rate(_EVICTED)
    cpu = [rate(name) for name in _CPU]
    return Rates(
        seconds=seconds,
        commands=commands,
        hit_ratio=ratio(hits, (hits or 0.0) + (misses or 0.0)),
        evictions=evictions,
        evicted_per_set=ratio(evictions, commands.get("set")),
        connections=rate(_CONNECTIONS),
        rejected=rate(_REJECTED),
        read_bytes=rate(_READ),
        written_bytes=rate(_WRITTEN),
        cpu=None if None in cpu else sum(one or 0.0 for one in cpu),
        voluntary_switches=rate(_SWITCHES, type="voluntary"),
        involuntary_switches=rate(_SWITCHES, type="involuntary"),
    )


def _commands(counted: Snapshot) -> dict[str, float]:
    """Return the commands that were counted by their name."""
    sums: dict[str, float] = {}
    for name in (_COMMANDS, _PROXY_COMMANDS):
        for labels, number in counted.families[name].items():
            told = dict(labels)
            command, status = told["command"], told.get("status", "attempt")
            if command in _COUNTED_TWICE and name == _COMMANDS:
                continue
            # With the legacy names, stores come a second time under another status.
            if command in _OF_ATTEMPTS and status != "attempt":
                continue
            sums[command] = sums.get(command, 0.0) + number
    return sums
