"""The board of all servers."""

from grafana.source.expressions import (
    COMMANDS,
    CONNECTIONS_USED,
    EVICTIONS,
    HIT_RATE,
    MEMORY_USED,
    PING,
    SERVER_NAME,
)
from grafana.source.fleet_state import GLANCE, STATE
from grafana.source.fleet_totals import EXPORTER, TOTALS
from grafana.source.shape import Board, Kind, Panel, Query, Section, Step, above, below

_SHOWN = 10

TOP = Section(
    f"The {_SHOWN} servers with the most of it",
    (
        Panel(
            kind=Kind.BARS,
            title="Busiest servers",
            text="Commands a second. One server far above the others holds keys that everybody"
            " wants: split them, or keep copies at the clients.",
            unit="ops",
            queries=(Query(f"topk({_SHOWN}, {COMMANDS})", SERVER_NAME),),
        ),
        Panel(
            kind=Kind.BARS,
            title="Lowest hit rates",
            text="Keys that gets found, to all they asked for. Servers without gets are left out.",
            unit="percentunit",
            highest=1,
            queries=(Query(f"bottomk({_SHOWN}, {HIT_RATE})", SERVER_NAME),),
            steps=below("hit_rate.warning", "hit_rate.target"),
            runbooks=("MemcachedHitRateLow", "MemcachedHitRateBelowTarget"),
        ),
        Panel(
            kind=Kind.BARS,
            title="Fullest connection limits",
            text="Open connections to those that a server can really take. At 100 % it refuses"
            " clients.",
            unit="percentunit",
            highest=1,
            queries=(Query(f"topk({_SHOWN}, {CONNECTIONS_USED})", SERVER_NAME),),
            steps=above("connections.warning", "connections.critical"),
            runbooks=("MemcachedConnectionsHigh",),
        ),
        Panel(
            kind=Kind.BARS,
            title="Most evictions",
            text="Valid items a second that were thrown out to make room. The colour changes at the"
            " rate that adds up to the threshold of an hour.",
            unit="ops",
            queries=(Query(f"topk({_SHOWN}, {EVICTIONS})", SERVER_NAME),),
            steps=(Step("green", None), Step("orange", "evictions.per_hour", 1 / 3600)),
            runbooks=("MemcachedEvictionsHigh",),
        ),
        Panel(
            kind=Kind.BARS,
            title="Slowest servers",
            text="Mean round trip of a command that needs no work, during scrapes. All of one"
            " exporter slow: the network or the exporter's host.",
            unit="s",
            queries=(Query(f"topk({_SHOWN}, {PING})", SERVER_NAME),),
            steps=(Step("green", None), Step("red", "latency.mean")),
            runbooks=("MemcachedLatencyMeanHigh",),
        ),
        Panel(
            kind=Kind.BARS,
            title="Fullest memories",
            text="Items to the memory limit. Full is normal for a cache that evicts.",
            unit="percentunit",
            queries=(Query(f"topk({_SHOWN}, {MEMORY_USED})", SERVER_NAME),),
            steps=above("memory"),
            runbooks=("MemcachedMemoryHigh",),
        ),
    ),
)

FLEET = Board(
    uid="memcached-fleet",
    title="Memcached / Fleet",
    text="The state of all memcached servers at a glance.",
    sections=(GLANCE, STATE, TOP, TOTALS, EXPORTER),
)
