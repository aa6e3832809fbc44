"""The numbers beyond which something is wrong: the one place where they stand.

The rules for Prometheus, the lines in dashboards and the command `check` all read them. Ratios are
from 0 to 1, times are in seconds. Why each is what it is: docs/thresholds.md.
"""

from typing import Annotated

import msgspec

Ratio = Annotated[
    float, msgspec.Meta(gt=0, le=1, description="Write a ratio above 0 and at most 1, such as 0.8.")
]
Number = Annotated[float, msgspec.Meta(gt=0, description="Write a number above 0.")]
Window = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[1-9][0-9]{0,3}[smhd]$(?!\n)",
        description="Write a duration of Prometheus with one unit, such as 15m.",
    ),
]


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class Connections(_Group, frozen=True, kw_only=True):
    """Open connections, or descriptors, to what the server can really take."""

    warning: Ratio = 0.8
    critical: Ratio = 0.95


class HitRate(_Group, frozen=True, kw_only=True):
    """Gets that find their key, to all gets."""

    warning: Ratio = 0.8
    target: Ratio = 0.95
    floor: Number = 1.0
    """Gets a second below which a rate says nothing."""
    warm_up: Number = 1800
    """Seconds after a start in which a cache may be cold."""


class Evictions(_Group, frozen=True, kw_only=True):
    """Items that were thrown out to make room."""

    per_hour: Number = 10000
    per_set: Ratio = 0.1
    """Evictions to items stored."""
    young: Number = 3600
    """Seconds since its last use below which an evicted item was recently used."""
    useful: Ratio = 0.1
    """Evicted items that were in use or were never read, to all evicted ones."""
    floor: Number = 1.0
    """Stores a second below which a share of them says nothing."""
    idle_pages: Ratio = 0.05
    """Memory pages that lie idle while some slab class evicts, to all pages."""


class Latency(_Group, frozen=True, kw_only=True):
    """Round trips of a command that needs no work, in seconds."""

    p99: Number = 0.005
    mean: Number = 0.010
    floor: Number = 0.0005
    """Mean below which a rise says nothing."""
    probe_failures: Ratio = 0.05
    """Probes that failed, to all; no time, but the other half of what the prober tells."""


class WorkerCpu(_Group, frozen=True, kw_only=True):
    """Share of one CPU that the busiest worker uses."""

    warning: Ratio = 0.8
    critical: Ratio = 0.9


class WorkerWait(_Group, frozen=True, kw_only=True):
    """Share of its time that a worker waits for a CPU though it could run."""

    warning: Ratio = 0.1
    critical: Ratio = 0.3


class Workers(_Group, frozen=True, kw_only=True):
    """memcached's worker threads."""

    cpu: WorkerCpu = WorkerCpu()
    imbalance: Number = 2.0
    """CPU time of the busiest worker to the average of all."""
    imbalance_floor: Ratio = 0.5
    """Share of one CPU below which an uneven load does no harm."""
    wait: WorkerWait = WorkerWait()


class ContextSwitches(_Group, frozen=True, kw_only=True):
    """Changes of what a CPU runs, per second."""

    involuntary: Number = 500
    """For each worker thread, taken off the CPU before it was done."""
    per_cpu: Number = 10000
    """For each CPU of the host."""


class Network(_Group, frozen=True, kw_only=True):
    """The network below memcached."""

    squeezed: Number = 10
    """Times a second that a CPU left packets waiting."""
    accept_queue: Ratio = 0.5
    """Connections that wait to be accepted, to their highest number."""
    interrupt_share: Ratio = 0.8
    """Share of all interrupts of a network card that one CPU serves."""
    interrupt_floor: Number = 1000
    """Interrupts of a network card a second below which one CPU can serve them all."""


class Thresholds(_Group, frozen=True, kw_only=True):
    """All of them, as the key `thresholds` of the configuration sets them."""

    connections: Connections = Connections()
    memory: Ratio = 0.85
    """Memory for items to its limit; also the limit to that of the control group."""
    hit_rate: HitRate = HitRate()
    evictions: Evictions = Evictions()
    latency: Latency = Latency()
    workers: Workers = Workers()
    context_switches: ContextSwitches = ContextSwitches()
    decline: Ratio = 0.2
    """Fall of throughput or hit rate, or rise of latency, against the same hour a week ago."""
    decline_floor: Number = 10
    """Commands a second below which a fall of throughput says nothing."""
    network: Network = Network()
    throttled: Ratio = 0.1
    """Periods in which the control group's CPU quota stopped memcached, to all periods."""
    swapped: Ratio = 0.01
    """Memory of memcached in swap space, to all of its memory; a little of it is never missed."""
    fleet_down: Ratio = 0.3
    """Servers of a job that are down, to all, beyond which it is one common trouble."""
    fleet_down_servers: Number = 3
    """Servers that must be down for that at least."""
    certificate_days: Number = 14
    """Days before a certificate ends."""
    certificate_days_critical: Number = 1
    """The same, when it is urgent."""
    discovery_age: Number = 900
    """Seconds without a good look at a source of servers that fails."""
    hash_expansion: Window = "30m"
    """Time in which a hash table should have been moved to its larger one."""
    waste: Ratio = 0.2
    """Memory of items that is lost to chunks larger than they, to all of it."""
    yields: Ratio = 0.01
    """Times that a connection had to let others go first, to all commands."""
    extstore_queue: Number = 1000
    """Reads and writes that wait for the external storage."""
