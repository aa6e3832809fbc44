"""Rows of the board of all servers: how many are well, and how each one is."""

from grafana.source.expressions import (
    COMMANDS,
    CONNECTIONS_USED,
    EVICTIONS,
    GETS,
    HIT_RATE,
    HITS,
    MEMORY_USED,
    PING,
    total,
)
from grafana.source.shape import NEVER, Column, Kind, Panel, Query, Section, Step, above, below

_SERVER_BOARD = (
    "/d/memcached-server?${datasource:queryparam}&var-job=${__data.fields.Job}"
    "&var-instance=${__data.fields.Instance}"
)
_URGENT = 'ALERTS{$on, alertname=~"Memcached.*", alertstate="firing", severity=~"critical|warning"}'
_FIRING = 'ALERTS{$on, alertname=~"Memcached.*", alertstate="firing"}'
_VERSION = 'memcached_version_info{$on, version!=""}'

GLANCE = Section(
    "At a glance",
    (
        Panel(
            kind=Kind.STAT,
            title="Servers down",
            text="Chosen servers that do not answer the exporter; the table below says which. Many"
            " at once have one cause in common, such as the network or the exporter's host.",
            queries=(Query("sum(memcached_up{$on} == bool 0)"),),
            steps=NEVER,
            runbooks=("MemcachedDown", "MemcachedManyDown"),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Servers known",
            text="Servers that the exporters know of, whether they answer or not. Fewer than you"
            " have: some are missing in a configuration or in discovery.",
            queries=(Query("count(memcached_up{$on})"),),
            runbooks=("MemcachedExporterAbsent",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Alerts firing",
            text="Alerts that fire for the chosen servers, of critical and warning severity; the"
            " table below lists them. Needs the rules of alerts/ in Prometheus.",
            queries=(Query(f"count({_URGENT}) or vector(0)"),),
            steps=NEVER,
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Versions",
            text="Different versions of memcached. More than one is normal during an update only.",
            queries=(Query(f"count(count by (version) ({_VERSION}))"),),
            runbooks=("MemcachedVersionSkew",),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Commands",
            text="Commands a second in sum; each key of a get counts.",
            unit="ops",
            queries=(Query(total(COMMANDS)),),
            runbooks=("MemcachedThroughputFell",),
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
            title="Items",
            text="Items that all chosen servers hold.",
            queries=(Query("sum(memcached_current_items{$on})"),),
            width=3,
            height=4,
        ),
        Panel(
            kind=Kind.STAT,
            title="Memory for items",
            text="Memory that all chosen servers may use for items.",
            unit="bytes",
            queries=(Query("sum(memcached_limit_bytes{$on})"),),
            width=3,
            height=4,
        ),
    ),
)

STATE = Section(
    "State",
    (
        Panel(
            kind=Kind.TABLE,
            title="Servers",
            text="One row per server. A click on a server opens its board; where servers are read"
            " by /scrape, Instance is the server. Empty cells: the server does not say, or has no"
            " traffic. Colours change at the thresholds of the alerts.",
            columns=(
                Column(
                    "Server",
                    label="server",
                    least=170,
                    link=(
                        "Show this server",
                        _SERVER_BOARD + "&var-server=${__data.fields.Server}",
                    ),
                ),
                Column("Instance", label="instance", least=150, link=("Show it", _SERVER_BOARD)),
                Column("Job", label="job"),
                Column(
                    "Answers",
                    "max by ($by) (memcached_up{$on})",
                    words=((0, "down", "red"), (1, "up", "green")),
                ),
                Column(
                    "Alerts",
                    f"(count by ($by) ({_URGENT}) and on ($by) memcached_up{{$on}})"
                    " or 0 * max by ($by) (memcached_up{$on})",
                    steps=above(1),
                ),
                Column("Version", label="version"),
                Column("", f"count by ($by, version) ({_VERSION})"),
                Column(
                    "Uptime",
                    "max by ($by) (memcached_uptime_seconds{$on})",
                    unit="s",
                    steps=(Step("orange", None), Step("transparent", "hit_rate.warm_up")),
                ),
                Column("Commands", COMMANDS, unit="ops"),
                Column(
                    "Hit rate",
                    HIT_RATE,
                    unit="percentunit",
                    steps=below("hit_rate.warning", "hit_rate.target"),
                ),
                Column("Memory used", MEMORY_USED, unit="percentunit", steps=above("memory")),
                Column(
                    "Connections used",
                    CONNECTIONS_USED,
                    least=135,
                    unit="percentunit",
                    steps=above("connections.warning", "connections.critical"),
                ),
                Column(
                    "Evictions",
                    EVICTIONS,
                    unit="ops",
                    steps=(Step("green", None), Step("orange", "evictions.per_hour", 1 / 3600)),
                ),
                Column(
                    "Latency",
                    PING,
                    unit="s",
                    steps=(Step("green", None), Step("red", "latency.mean")),
                ),
            ),
            sorted_by="Alerts",
            highest_first=True,
            runbooks=("MemcachedDown",),
            width=24,
            height=11,
        ),
        Panel(
            kind=Kind.TABLE,
            title="Alerts",
            text="Alerts that fire for the chosen servers and their hosts. A click on a name opens"
            " its runbook. Those of a whole job, such as MemcachedManyDown, are marks in the"
            " graphs. Empty: all is well, or Prometheus has not loaded the rules of alerts/.",
            columns=(
                Column(
                    "Alert",
                    label="alertname",
                    least=240,
                    link=("Runbook", "${runbooks}/${__data.fields.Alert}.md"),
                ),
                Column("Severity", label="severity"),
                Column("Server", label="server"),
                Column("Instance", label="instance"),
                Column("Job", label="job"),
                Column(
                    "Series",
                    f"count by ($by, alertname, severity) ({_FIRING})",
                ),
            ),
            sorted_by="Severity",  # critical is the first of its words
            width=24,
            height=7,
        ),
    ),
)
