"""A row of the board of the host: settings of the kernel, against advice."""

from typing import NamedTuple

from grafana.source.shape import NEVER, Column, Kind, Panel, Query, Section


class Advice(NamedTuple):
    """What a setting of the kernel had better be on a host of memcached."""

    setting: str
    comparison: str
    words: str


ADVICE = (
    Advice("net.core.somaxconn", ">= bool 1024", "at least 1024, the default of memcached's -b"),
    Advice("net.core.netdev_max_backlog", ">= bool 1000", "at least 1000, the kernel's default"),
    Advice("net.core.netdev_budget", ">= bool 300", "at least 300, the kernel's default"),
    Advice("net.ipv4.tcp_max_syn_backlog", ">= bool 1024", "at least 1024, for bursts of clients"),
    Advice("net.ipv4.tcp_abort_on_overflow", "== bool 0", "0: clients try again and get in"),
    Advice("net.ipv4.tcp_syncookies", ">= bool 1", "1: a full queue still lets clients in"),
    Advice("net.ipv4.tcp_tw_recycle", "== bool 0", "0: it breaks clients behind NAT"),
    Advice("vm.zone_reclaim_mode", "== bool 0", "0: memory of other nodes beats none"),
    Advice("vm.swappiness", ">= bool 1", "1 or more: with 0 the kernel kills rather than swaps"),
)


def _advised(advice: Advice, comparison: str) -> str:
    value = f'memcached_host_sysctl{{$host, name="{advice.setting}"}} {comparison}'.strip()
    return f'label_replace({value}, "advice", "{advice.words}", "", "")'


def _all(*, compared: bool) -> str:
    parts = (_advised(advice, advice.comparison if compared else "") for advice in ADVICE)
    return f"max by (job, instance, name, advice) ({' or '.join(parts)})"


SETTINGS = Section(
    "Settings of the kernel",
    (
        Panel(
            kind=Kind.TABLE,
            title="Settings against advice",
            text="Settings of the kernel that matter to memcached, as they are now and as they had"
            " better be. `sysctl -w NAME=NUMBER` changes one, a file in /etc/sysctl.d keeps it."
            " Change what hurts, not what differs: the graphs above tell.",
            columns=(
                Column("Instance", label="instance", least=130),
                Column("Setting", label="name", least=220),
                Column("Advice", label="advice", least=360),
                Column("Now", _all(compared=False), unit="none"),
                Column(
                    "As advised",
                    _all(compared=True),
                    words=((0, "no", "orange"), (1, "yes", "green")),
                ),
                Column("Job", label="job"),
            ),
            sorted_by="As advised",
            runbooks=("MemcachedListenOverflows", "MemcachedSoftnetDrops", "MemcachedSwapping"),
            width=16,
            height=10,
        ),
        Panel(
            kind=Kind.TABLE,
            title="Transparent huge pages",
            text="The mode that is active. `always` can make memory grow and cause pauses: madvise"
            " is better, and what memcached's -L needs.",
            columns=(
                Column("Instance", label="instance", least=130),
                Column("Setting", label="setting"),
                Column("Mode", label="mode"),
                Column(
                    "Active",
                    "max by (job, instance, setting, mode)"
                    " (memcached_host_transparent_hugepage_mode{$host} == 1)",
                    words=((1, "yes", "transparent"),),
                ),
                Column("Job", label="job"),
            ),
            height=10,
        ),
        Panel(
            kind=Kind.TABLE,
            title="All settings",
            text="All settings of the kernel that the exporter reads, in the kernel's own units."
            " Filter by a name to compare hosts.",
            columns=(
                Column("Instance", label="instance", least=130),
                Column("Setting", label="name", least=220),
                Column("Field", label="field"),
                Column(
                    "Now",
                    "max by (job, instance, name, field) (memcached_host_sysctl{$host})",
                    unit="none",
                ),
                Column("Job", label="job"),
            ),
            sorted_by="Setting",
            width=14,
            height=10,
        ),
        Panel(
            title="Sources that could not be read",
            text="1 for a source on the host that the exporter could not read: its panels are"
            " empty. Sources that the host does not have are not shown.",
            unit="bool",
            queries=(
                Query(
                    "max by (job, instance, collector)"
                    " (memcached_host_collector_success{$host} == bool 0)",
                    "{{instance}} {{collector}}",
                ),
                Query(
                    "max by (job, instance, server, collector)"
                    " (memcached_process_collector_success{$on} == bool 0)",
                    "{{server}} {{instance}} {{collector}}",
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedHostCollectorFailing",),
            width=10,
            height=10,
        ),
    ),
)
