"""Rows of the board of a server: what clients ask, how long it takes, how they are connected."""

from grafana.source.expressions import (
    COMMANDS,
    CONNECTIONS_USED,
    DESCRIPTORS_USED,
    HIT_RATE,
    PING,
    PROBE_FAILURES,
    SERVER_NAME,
    probe_quantile,
    rate,
)
from grafana.source.shape import NEVER, Kind, Panel, Query, Section, above, below

_OTHERS = 'command!~"get|set|flush"'

TRAFFIC = Section(
    "Traffic",
    (
        Panel(
            title="Commands by server",
            text="Commands a second; each key of a get counts. A sudden fall with healthy servers"
            " means that clients stay away or went elsewhere.",
            unit="ops",
            queries=(Query(COMMANDS, SERVER_NAME),),
            runbooks=("MemcachedThroughputFell",),
        ),
        Panel(
            title="Commands by kind",
            text="Commands a second by command and outcome, in sum over the chosen servers. Sets"
            " count every store, also those of cas, and tell no outcome: attempt.",
            unit="ops",
            stack=True,
            queries=(
                Query(
                    "sum by (command, status) (rate(memcached_commands_total{$on,"
                    ' command!="cas"}[$span]))',
                    "{{command}} {{status}}",
                ),
            ),
        ),
        Panel(
            title="Hit rate by server",
            text="Keys that gets found, to all they asked for. After a restart or a flush it climbs"
            " while the cache becomes warm; a lasting fall means evictions, shorter expiry times or"
            " new keys. No line means no gets.",
            unit="percentunit",
            highest=1,
            queries=(Query(HIT_RATE, SERVER_NAME),),
            steps=below("hit_rate.warning", "hit_rate.target"),
            runbooks=("MemcachedHitRateLow", "MemcachedHitRateBelowTarget", "MemcachedHitRateFell"),
        ),
        Panel(
            title="Misses by reason",
            text="Keys a second that gets did not return. Expired and flushed ones were there once,"
            " and are a part of all; the rest were evicted or never stored.",
            unit="ops",
            queries=(
                Query(
                    rate("memcached_commands_total", ', command="get", status="miss"'),
                    f"{SERVER_NAME} all",
                ),
                Query(rate("memcached_get_expired_total"), f"{SERVER_NAME} expired"),
                Query(rate("memcached_get_flushed_total"), f"{SERVER_NAME} flushed"),
            ),
        ),
        Panel(
            title="Hit rate of other commands",
            text="Deletes, increments, touches and cas that found their key, to all. Many cas"
            " without success mean that clients fight for the same keys.",
            unit="percentunit",
            highest=1,
            queries=(
                Query(
                    f"sum by ($by, command) (rate(memcached_commands_total{{$on, {_OTHERS},"
                    ' status="hit"}[$span]))'
                    " / "
                    f"(sum by ($by, command) (rate(memcached_commands_total{{$on, {_OTHERS}}}"
                    "[$span])) > 0)",
                    f"{SERVER_NAME} {{{{command}}}}",
                ),
            ),
        ),
        Panel(
            title="Network traffic",
            text="Bytes a second that servers received and sent. Compare with what the network card"
            " can do: a full link looks like slow servers.",
            unit="Bps",
            queries=(
                Query(rate("memcached_read_bytes_total"), f"{SERVER_NAME} received"),
                Query(rate("memcached_written_bytes_total"), f"{SERVER_NAME} sent"),
            ),
        ),
    ),
)

LATENCY = Section(
    "Latency",
    (
        Panel(
            title="Latency",
            text="Round trips of a command that needs no work: the mean of those that scrapes make,"
            " and, where the exporter's prober is on, what half and 99 of 100 probes stay below."
            " High with idle workers is the network; high with busy ones is CPU.",
            unit="s",
            queries=(
                Query(PING, f"{SERVER_NAME} mean of scrapes"),
                Query(probe_quantile(0.5), f"{SERVER_NAME} median of probes"),
                Query(probe_quantile(0.99), f"{SERVER_NAME} p99 of probes"),
            ),
            steps=above("latency.p99", "latency.mean"),
            runbooks=(
                "MemcachedLatencyP99High",
                "MemcachedLatencyMeanHigh",
                "MemcachedLatencyRose",
            ),
        ),
        Panel(
            kind=Kind.HEATMAP,
            title="Probes by latency",
            text="How many probes a second took how long, over the chosen servers. A second band"
            " far above the first is a server, a network path or a worker that is slow at times."
            " Only with probe in the exporter's module.",
            unit="s",
            queries=(
                Query(
                    "sum by (le) (increase(memcached_probe_duration_seconds_bucket{$on,"
                    ' operation="noop"}[$span]))',
                    "{{le}}",
                ),
            ),
        ),
        Panel(
            title="Probes that fail",
            text="Probes without an answer in time, to all. Only with probe in the exporter's"
            " module.",
            unit="percentunit",
            highest=1,
            queries=(Query(PROBE_FAILURES, SERVER_NAME),),
            steps=above("latency.probe_failures"),
            runbooks=("MemcachedProbesFailing",),
        ),
    ),
)

CONNECTIONS = Section(
    "Connections",
    (
        Panel(
            title="Connections used by server",
            text="Open connections to those that a server can really take: its limit (-c) less what"
            " it keeps for itself. At 100 % it refuses clients: raise -c, or find who opens so"
            " many.",
            unit="percentunit",
            queries=(Query(CONNECTIONS_USED, SERVER_NAME),),
            steps=above("connections.warning", "connections.critical"),
            runbooks=("MemcachedConnectionsHigh",),
        ),
        Panel(
            title="Connections open and at most",
            text="Connections that are open now, and the limit that the server was started with.",
            queries=(
                Query("max by ($by) (memcached_current_connections{$on})", f"{SERVER_NAME} open"),
                Query("max by ($by) (memcached_max_connections{$on})", f"{SERVER_NAME} limit"),
            ),
            runbooks=("MemcachedConnectionsHigh",),
        ),
        Panel(
            title="Connections opened",
            text="New connections a second. Many with few open ones means that clients do not keep"
            " theirs: each costs them a round trip, and the server a hand-over.",
            unit="cps",
            queries=(Query(rate("memcached_connections_total"), SERVER_NAME),),
        ),
        Panel(
            title="Connections refused",
            text="Connections a second that were refused, and times that the server stopped"
            " accepting, because it was at its limit. Any is lost traffic. 1.5.21 and 1.5.22 count"
            " accepted ones as refused.",
            unit="cps",
            queries=(
                Query(rate("memcached_connections_rejected_total"), f"{SERVER_NAME} refused"),
                Query(
                    rate("memcached_connections_listener_disabled_total"),
                    f"{SERVER_NAME} stopped accepting",
                ),
            ),
            steps=NEVER,
            runbooks=(
                "MemcachedConnectionsRejected",
                "MemcachedListenerDisabled",
                "MemcachedNotAccepting",
            ),
        ),
        Panel(
            title="Descriptors used",
            text="Open files and sockets of the process to its limit. At 100 % it refuses clients"
            " whatever -c says. Only where the exporter may read the process.",
            unit="percentunit",
            queries=(Query(DESCRIPTORS_USED, SERVER_NAME),),
            steps=above("connections.warning", "connections.critical"),
            runbooks=("MemcachedDescriptorsHigh",),
        ),
        Panel(
            title="Connections that yield or are idle",
            text="Times a second that a connection with many requests in a row had to let others go"
            " first, and connections closed for being idle. Many yields: large multigets or"
            " pipelines; -R sets how many requests go at once.",
            unit="ops",
            queries=(
                Query(rate("memcached_connections_yielded_total"), f"{SERVER_NAME} yields"),
                Query(rate("memcached_idle_kicks_total"), f"{SERVER_NAME} idle closed"),
            ),
        ),
    ),
)
