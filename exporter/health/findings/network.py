"""The network below memcached: accept queues, packets that wait or are lost, interrupts."""

import re

from exporter.health.findings.host import setting
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, count, share, time, twice

_FOR_WANT_OF_ROOM = re.compile(r"(port\.)?rx_.+|InDroppedDma")
"""Reasons of drops against which a longer ring helps, of the many that drivers count."""


def _queue(view: View) -> tuple[float, float] | None:
    """Return length and limit of the fullest accept queue."""
    lengths = view.now.by("address", "memcached_listen_queue_length")
    limits = view.now.by("address", "memcached_listen_queue_limit")
    known = [(length, limits[key]) for key, length in lengths.items() if limits.get(key)]
    return max(known, key=lambda pair: pair[0] / pair[1], default=None)


def _accept_queue(view: View) -> Seen | None:
    queue = _queue(view)
    if queue is None or queue[0] / queue[1] <= view.thresholds.network.accept_queue:
        return None
    text = f"{amount(queue[0])} connections wait to be accepted, of at most {amount(queue[1])}."
    return Seen(Severity.WARNING, text)


def _overflows(view: View) -> Seen | None:
    lost = sum(view.increases("memcached_host_tcp_listen_overflows_total").values())
    if not lost:
        return None
    queue, limit = _queue(view), view.thresholds.network.accept_queue
    known = queue is not None and queue[0] / queue[1] <= limit
    text = (
        f"The kernel turned away {count(lost, 'attempt')} to connect in {time(view.seconds or 0)}"
    )
    told = "; its own queue has room now" if known else ""
    return Seen(Severity.WARNING if known else Severity.CRITICAL, f"{text}{told}.")


def _softnet_dropped(view: View) -> Seen | None:
    lost = sum(view.host_increases("memcached_host_softnet_dropped_total").values())
    if not lost or not view.seconds:
        return None
    more = twice(setting(view, "net.core.netdev_max_backlog"))
    text = (
        f"The host dropped {count(lost, 'packet')} that waited for a CPU in {time(view.seconds)}."
    )
    return Seen(Severity.WARNING, text, {"more": more})


def _squeezed(view: View) -> Seen | None:
    grown = view.host_increases("memcached_host_softnet_squeezed_total").values()
    times = max(grown, default=0.0) / view.seconds if view.seconds else 0.0
    if times <= view.thresholds.network.squeezed:
        return None
    values = {
        "budget": twice(setting(view, "net.core.netdev_budget")),
        "microseconds": twice(setting(view, "net.core.netdev_budget_usecs")),
    }
    text = f"A CPU left packets waiting {amount(times)} times a second."
    return Seen(Severity.INFO, text, values)


def _dropped(view: View, device: str, direction: str) -> float:
    """Return how many packets a network card lost lately, in one direction."""
    queues = sum(
        grown
        for own, grown in view.host_increases("memcached_nic_queue_drops_total").items()
        if {("device", device), ("direction", direction)} <= set(own)
    )
    # Reasons overlap, and are of the queues' drops as well: the largest says the most.
    reasons = (
        grown
        for own, grown in view.host_increases("memcached_nic_drops_total").items()
        if dict(own)["device"] == device and _FOR_WANT_OF_ROOM.fullmatch(dict(own)["reason"])
    )
    return max(queues, max(reasons, default=0.0) if direction == "rx" else 0.0)


def _rings(view: View) -> Seen | None:
    if view.host is None:
        return None
    most = view.host.families.get("memcached_nic_ring_entries_max", {})
    for own, entries in view.host.families.get("memcached_nic_ring_entries", {}).items():
        told = dict(own)
        device, direction = told["device"], told["direction"]
        lost = _dropped(view, device, direction)
        if lost and entries < most.get(own, 0.0):
            text = (
                f"{device} lost {count(lost, 'packet')} in {time(view.seconds or 0)}, with"
                f" {amount(entries)} of {amount(most[own])} ring entries ({direction})."
            )
            values = {"device": device, "direction": direction, "most": f"{most[own]:.0f}"}
            return Seen(Severity.WARNING, text, values)
    return None


def _busy_device(view: View) -> tuple[str, float] | None:
    """Return a network card whose interrupts go to one CPU for the most part, and that part."""
    by_device: dict[str, list[float]] = {}
    for own, grown in view.host_increases("memcached_nic_cpu_interrupts_total").items():
        by_device.setdefault(dict(own)["device"], []).append(grown)
    limits = view.thresholds.network
    for device, counts in by_device.items():
        whole = sum(counts)
        many = bool(view.seconds) and whole / (view.seconds or 1) > limits.interrupt_floor
        if many and max(counts) / whole > limits.interrupt_share:
            return device, max(counts) / whole
    return None


def _queues(view: View) -> Seen | None:
    found = _busy_device(view)
    if found is None or view.host is None:
        return None
    device, part = found
    cpus = view.host.value("memcached_host_cpus", state="online") or 0.0
    for kind in ("combined", "rx"):
        now = view.host.value("memcached_nic_channels", device=device, kind=kind)
        most = view.host.value("memcached_nic_channels_max", device=device, kind=kind)
        if now and most and now < most and now < cpus:
            text = f"One CPU takes {share(part)} of the interrupts of {device}, which has"
            values = {"device": device, "kind": kind, "wanted": f"{min(most, cpus):.0f}"}
            told = f"{text} {amount(now)} of {amount(most)} queues."
            return Seen(Severity.WARNING, told, values)
    return None


def _one_queue(view: View) -> Seen | None:
    found = _busy_device(view)
    if found is None or view.host is None or _queues(view):
        return None
    device, part = found
    cpus = view.host.value("memcached_host_cpus", state="online") or 0.0
    spread = view.host.value("memcached_nic_rps_queues", device=device)
    kinds = view.host.by("kind", "memcached_nic_channels_max", device=device)
    single = max(kinds.get("combined", 0.0), kinds.get("rx", 0.0)) == 1
    if not single or spread != 0 or cpus <= 1:
        return None
    text = f"One CPU takes {share(part)} of the interrupts of {device}, which has but one queue."
    mask = f"{2 ** int(min(cpus, 32)) - 1:x}"
    return Seen(Severity.INFO, text, {"device": device, "mask": mask})


NETWORK = (
    Check(
        name="listen_overflows",
        judge=_overflows,
        why="A client that is turned away tries again after a second: it looks like a hang.",
        remedy="Start memcached with a larger -b, together with net.core.somaxconn; see why it does"
        " not accept in time (CPU, throttling).",
        leave="When another program in this network namespace is known to be the one.",
        runbook="MemcachedListenOverflows",
    ),
    Check(
        name="accept_queue_long",
        judge=_accept_queue,
        why="memcached accepts at once, so it is kept from running: by CPU, throttling, or its"
        " connection limit.",
        remedy="See its main thread (top -H -p PID) and the connection limit (-c).",
        leave="For the moment in which many clients start.",
        runbook="MemcachedAcceptQueueLong",
    ),
    Check(
        name="softnet_drops",
        judge=_softnet_dropped,
        why="Packets that are lost are sent again, after some hundred milliseconds.",
        remedy="sysctl -w net.core.netdev_max_backlog={more}. It is the queue of RPS, of loopback"
        " and of virtual devices; drops in the network card itself are another matter.",
        leave="Single ones, long ago.",
        runbook="MemcachedSoftnetDrops",
    ),
    Check(
        name="nic_drops",
        judge=_rings,
        why="The network card had no room for packets, as the CPU did not fetch them in time.",
        remedy="ethtool -G {device} {direction} {most}. On many cards that interrupts the link for"
        " a second.",
        leave="As long as drops do not go on: a longer ring costs latency and cache.",
        runbook="MemcachedNicDrops",
    ),
    Check(
        name="nic_queues_few",
        judge=_queues,
        why="This one CPU bounds what the host can receive.",
        remedy="ethtool -L {device} {kind} {wanted}, and irqbalance to spread the interrupts. On"
        " many cards that interrupts the link for a second.",
        leave="When that CPU is not busy with it: `mpstat -P ALL 5 1`, column %soft, below 50 %.",
        runbook="MemcachedNicQueuesFew",
    ),
    Check(
        name="nic_one_queue",
        judge=_one_queue,
        why="This one CPU bounds what the host can receive, and the card can have no more queues.",
        remedy="Spread the work behind the interrupt: echo {mask} >"
        " /sys/class/net/{device}/queues/rx-0/rps_cpus",
        leave="When that CPU is not busy with it: `mpstat -P ALL 5 1`, column %soft, below 50 %.",
        runbook="MemcachedNicQueuesFew",
    ),
    Check(
        name="softnet_squeezed",
        judge=_squeezed,
        why="A CPU had more packets than its budget for one round; the rest waited.",
        remedy="sysctl -w net.core.netdev_budget={budget} net.core.netdev_budget_usecs="
        "{microseconds}: both, as either ends a round.",
        leave="It comes in bursts, and is harmless unless packets are dropped.",
        runbook="MemcachedSoftnetSqueezed",
    ),
)
