"""The board of one server, or of a few side by side."""

from grafana.source.expressions import (
    CONNECTIONS_USED,
    EVICTED_PER_SET,
    GETS,
    HITS,
    MEMORY_USED,
    NO_MEMORY,
    PING,
    REFUSED,
    total,
)
from grafana.source.server_background import BACKGROUND, ERRORS, EXTSTORE, PROXY
from grafana.source.server_memory import EVICTED, MEMORY
from grafana.source.server_traffic import CONNECTIONS, LATENCY, TRAFFIC
from grafana.source.shape import NEVER, Board, Kind, Panel, Query, Section, Step, above, below

_GLANCE = Section(
    "At a glance",
    (
        Panel(
            kind=Kind.STAT,
            title="Answering",
            text="Whether all chosen servers answer the exporter. When one does not, the board"
            " Fleet says which; its log and page say why.",
            queries=(Query("min(memcached_up{$on})"),),
            words=((0, "Down", "red"), (1, "Up", "green")),
            runbooks=("MemcachedDown",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Shortest uptime",
            text="Time since the last start of the server that was started last. A restarted cache"
            " is empty: its hit rate says nothing before it is warm.",
            unit="s",
            decimals=1,
            queries=(Query("min(memcached_uptime_seconds{$on})"),),
            steps=(Step("orange", None), Step("green", "hit_rate.warm_up")),
            runbooks=("MemcachedRestarted", "MemcachedHitRateLow"),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Hit rate",
            text="Keys that gets found, to all they asked for, over all chosen servers. No data"
            " means no gets.",
            unit="percentunit",
            decimals=1,
            queries=(Query(f"{total(HITS)} / ({total(GETS)} > 0)"),),
            steps=below("hit_rate.warning", "hit_rate.target"),
            runbooks=("MemcachedHitRateLow", "MemcachedHitRateBelowTarget"),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Connections used",
            text="Open connections to those that the fullest server can really take: its limit less"
            " what it keeps for itself. At 100 % it refuses clients.",
            unit="percentunit",
            decimals=1,
            queries=(Query(f"max({CONNECTIONS_USED})"),),
            steps=above("connections.warning", "connections.critical"),
            runbooks=("MemcachedConnectionsHigh",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Memory used",
            text="Items to the memory limit, on the fullest server. A full cache is normal: look at"
            " what it evicts. A small server can show more than 100 %.",
            unit="percentunit",
            decimals=1,
            queries=(Query(f"max({MEMORY_USED})"),),
            steps=above("memory"),
            runbooks=("MemcachedMemoryHigh",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Mean latency",
            text="Mean round trip of a command that needs no work, during scrapes, to the slowest"
            " server. Network and waiting for a CPU are in it.",
            unit="s",
            decimals=1,
            queries=(Query(f"max({PING})"),),
            steps=(Step("green", None), Step("red", "latency.mean")),
            runbooks=("MemcachedLatencyMeanHigh",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Evictions per set",
            text="Items thrown out to make room, to items stored, on the server where it is most."
            " Above the threshold the cache is too small for what is put into it.",
            unit="percentunit",
            decimals=1,
            queries=(Query(f"max({EVICTED_PER_SET})"),),
            steps=above("evictions.per_set"),
            runbooks=("MemcachedEvictionsPerSetHigh",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Refusals",
            text="Connections and stores a second that the chosen servers refused, for being at"
            " their limit or for want of memory. Clients see each as an error.",
            unit="ops",
            queries=(Query(f"sum({REFUSED}) + sum({NO_MEMORY})"),),
            steps=NEVER,
            runbooks=("MemcachedConnectionsRejected", "MemcachedOutOfMemory"),
            width=3,
            height=4,
        ),
    ),
)

SERVER = Board(
    uid="memcached-server",
    title="Memcached / Server",
    text="Traffic, latency, connections, memory and errors of memcached servers.",
    sections=(
        _GLANCE,
        TRAFFIC,
        LATENCY,
        CONNECTIONS,
        MEMORY,
        EVICTED,
        ERRORS,
        BACKGROUND,
        EXTSTORE,
        PROXY,
    ),
)
