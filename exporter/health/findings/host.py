"""What the host and the control group keep from memcached: memory, files, the kernel's settings."""

from exporter.health.findings.memory import is_full
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, count, share, size, time, twice


def setting(view: View, name: str, **labels: str) -> float | None:
    """Return a setting of the host's kernel, None when it is not known."""
    return view.host.value("memcached_host_sysctl", name=name, **labels) if view.host else None


def _cgroup_memory(view: View) -> Seen | None:
    group = view.now.value("memcached_cgroup_memory_limit_bytes")
    limit = view.levels.memory_limit_bytes
    if not group or not limit or limit / group <= view.thresholds.memory:
        return None
    text = f"It may fill {size(limit)} with items (-m), its control group has {size(group)} for all"
    values = {"less": f"{0.8 * group / 2**20:.0f}", "more": size(1.3 * limit)}
    return Seen(Severity.WARNING, f"{text} ({share(limit / group)}).", values)


def _oom_killed(view: View) -> Seen | None:
    killed = sum(view.increases("memcached_cgroup_oom_kills_total").values())
    if not killed:
        return None
    processes = count(killed, "process", "processes")
    text = f"The kernel killed {processes} in its control group for want of memory"
    return Seen(Severity.CRITICAL, f"{text} in {time(view.seconds or 0)}.")


def _swapping(view: View) -> Seen | None:
    swapped, resident = (
        view.now.value(f"memcached_process_{kind}_bytes") for kind in ("swap", "resident_memory")
    )
    if not swapped or resident is None:
        return None
    part = swapped / (swapped + resident)
    if part <= view.thresholds.swapped:
        return None
    text = f"{size(swapped)} of its memory are in swap space ({share(part)})."
    return Seen(Severity.WARNING, text)


def _huge_pages(view: View) -> Seen | None:
    if view.host is None:
        return None
    mode = view.host.value(
        "memcached_host_transparent_hugepage_mode", setting="enabled", mode="always"
    )
    if not mode:
        return None
    return Seen(Severity.INFO, "Transparent huge pages are given to everybody (mode always).")


def _zone_reclaim(view: View) -> Seen | None:
    nodes = view.host.value("memcached_host_numa_nodes") if view.host else None
    mode = setting(view, "vm.zone_reclaim_mode")
    if not mode or not nodes or nodes == 1:
        return None
    text = f"vm.zone_reclaim_mode is {amount(mode)} on a host with {amount(nodes)} NUMA nodes."
    return Seen(Severity.WARNING, text)


def _recycle(view: View) -> Seen | None:
    if not setting(view, "net.ipv4.tcp_tw_recycle"):
        return None
    return Seen(Severity.WARNING, "net.ipv4.tcp_tw_recycle is on.")


def _open_files(view: View) -> Seen | None:
    if view.host is None:
        return None
    used, most = (view.host.value(f"memcached_host_open_files{end}") for end in ("", "_max"))
    if used is None or not most or used / most <= view.thresholds.connections.warning:
        return None
    text = f"{amount(used)} of {amount(most)} files that the host may have are open"
    return Seen(Severity.WARNING, f"{text} ({share(used / most)}).", {"more": twice(most)})


def _time_wait(view: View) -> Seen | None:
    waiting = view.now.value("memcached_host_tcp_sockets", state="timewait")
    most = setting(view, "net.ipv4.tcp_max_tw_buckets")
    overflows = sum(view.increases("memcached_host_tcp_timewait_overflows_total").values())
    near = bool(waiting and most and waiting / most > view.thresholds.connections.warning)
    if not overflows and not near:
        return None
    limit = f", of at most {amount(most)}" if most else ""
    if near:
        text = f"{amount(waiting or 0)} connections that have ended are kept in TIME_WAIT{limit}."
    else:
        text = (
            f"The kernel had no room for {count(overflows, 'connection')} in TIME_WAIT in"
            f" {time(view.seconds or 0)}{limit}."
        )
    return Seen(Severity.WARNING, text, {"more": twice(most)})


def _buffers(view: View) -> Seen | None:
    """Judge what autotuning may reach, which is what memcached's TCP connections use."""
    most = [setting(view, f"net.ipv4.tcp_{kind}", field="max") for kind in ("rmem", "wmem")]
    item = view.now.value("memcached_settings_item_size_max_bytes")
    if None in most or item is None or not is_full(view):
        return None
    smallest = min(number or 0.0 for number in most)
    if smallest >= item:
        return None
    text = f"A connection's buffer may grow to {size(smallest)}, an item to {size(item)}"
    return Seen(Severity.INFO, f"{text}.", {"most": f"{max(item, 2 * smallest):.0f}"})


HOST = (
    Check(
        name="oom_killed",
        judge=_oom_killed,
        why="If it was memcached, all items are gone; if it was a neighbour in the group, it is"
        " next.",
        remedy="Raise the group's memory limit, or lower -m: hash table, threads and connections"
        " come on top of it.",
        leave="Never.",
        runbook="MemcachedOomKilled",
    ),
    Check(
        name="cgroup_memory_tight",
        judge=_cgroup_memory,
        why="Hash table, threads and connections come on top of the items. At the group's limit the"
        " kernel kills memcached.",
        remedy="Start memcached with -m {less}, or give the group {more} (Kubernetes:"
        " resources.limits.memory; systemd: MemoryMax=).",
        leave="When it is known what comes on top, and that it fits.",
        runbook="MemcachedCgroupMemoryTight",
    ),
    Check(
        name="swapping",
        judge=_swapping,
        why="A get of what is in swap space waits for the disk, and so does everybody behind it on"
        " the same worker.",
        remedy="Lower -m or move neighbours. Keep memcached in RAM with -k (systemd:"
        " LimitMEMLOCK=infinity), or without swap for it (systemd: MemorySwapMax=0).",
        leave="When it is what nobody reads, and latency is well.",
        runbook="MemcachedSwapping",
    ),
    Check(
        name="open_files_high",
        judge=_open_files,
        why="Nobody on the host can open a file or a connection when they are used up.",
        remedy="See who has them (`lsof -n | awk '{{print $1}}' | sort | uniq -c | sort -n`), and"
        " raise it: sysctl -w fs.file-max={more}.",
        leave="As long as the number does not grow.",
    ),
    Check(
        name="time_wait_many",
        judge=_time_wait,
        why="Beyond the limit the kernel drops this state, which protects against late packets of"
        " old connections.",
        remedy="Let clients keep connections instead of one for each request. If they cannot:"
        " sysctl -w net.ipv4.tcp_max_tw_buckets={more}.",
        leave="They are on the side that closes first. Many of them alone do no harm.",
    ),
    Check(
        name="tcp_tw_recycle_on",
        judge=_recycle,
        why="Clients behind address translation cannot connect at times. Linux 4.12 has removed"
        " this setting for that reason.",
        remedy="sysctl -w net.ipv4.tcp_tw_recycle=0, and no such line below /etc/sysctl.d.",
        leave="Never.",
    ),
    Check(
        name="zone_reclaim_on",
        judge=_zone_reclaim,
        why="The kernel frees memory of one node, by disk writes or swapping, while another has"
        " some.",
        remedy="sysctl -w vm.zone_reclaim_mode=0; start memcached with numactl --interleave=all, or"
        " one memcached for each node.",
        leave="When each memcached is bound to one node, and fits.",
    ),
    Check(
        name="huge_pages_always",
        judge=_huge_pages,
        why="The kernel makes huge pages in the background, which costs latency now and then, and"
        " memory. memcached asks for them itself, with -L.",
        remedy="echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        leave="When latency is well: many hosts come with this mode. The mode never would switch -L"
        " off as well.",
    ),
    Check(
        name="tcp_buffers_small",
        judge=_buffers,
        why="A large item does not fit into a connection's buffer, so that its transfer takes more"
        " round trips.",
        remedy='sysctl -w net.ipv4.tcp_wmem="4096 16384 {most}" and net.ipv4.tcp_rmem="4096 131072'
        ' {most}".',
        leave="When items are far smaller than -I allows, and within a data centre.",
    ),
)
