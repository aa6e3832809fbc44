"""What the checks look at: a server as it is, as it was, and the host if it runs on this one."""

from functools import cached_property

import msgspec

from exporter.health.figures import COUNTERS, START, Levels, Rates, levels, rates, was_reset
from exporter.health.snapshot import Labels, Snapshot, increase
from exporter.health.thresholds import Thresholds

INCREASING = (
    START,
    *COUNTERS,
    "memcached_connections_listener_disabled_total",
    "memcached_connections_yielded_total",
    "memcached_auth_errors_total",
    "memcached_items_evicted_unfetched_total",
    "memcached_items_evicted_active_total",
    "memcached_item_no_memory_total",
    "memcached_item_too_large_total",
    "memcached_malloc_fails_total",
    "memcached_read_buffer_oom_total",
    "memcached_response_object_oom_total",
    "memcached_slab_items_evicted_total",
    "memcached_slab_items_outofmemory_total",
    "memcached_extstore_badcrc_total",
    "memcached_extstore_gets_oom_total",
    "memcached_extstore_gets_aborted_total",
    "memcached_proxy_backend_marked_bad_total",
    "memcached_thread_cpu_seconds_total",
    "memcached_thread_runqueue_wait_seconds_total",
    "memcached_thread_context_switches_total",
    "memcached_cgroup_cpu_periods_total",
    "memcached_cgroup_throttled_periods_total",
    "memcached_cgroup_oom_kills_total",
    "memcached_host_tcp_listen_overflows_total",
    "memcached_host_tcp_timewait_overflows_total",
)
"""The families of a server whose increase the checks ask for: what is kept of the past."""

INCREASING_ON_HOST = (
    "memcached_host_softnet_dropped_total",
    "memcached_host_softnet_squeezed_total",
    "memcached_nic_drops_total",
    "memcached_nic_queue_drops_total",
    "memcached_nic_cpu_interrupts_total",
)
"""The same, of the host."""


class Pings(msgspec.Struct, frozen=True):
    """Round trips over the window, in seconds."""

    p50: float | None
    """None when all failed."""
    p99: float | None
    count: int
    failed: int


class View(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """Everything that checks of one server may look at."""

    thresholds: Thresholds
    now: Snapshot
    """The server with its settings and, where it runs on this host, its process."""
    before: Snapshot | None = None
    """The same some time ago, with the families of ``INCREASING``; None at the first look."""
    host: Snapshot | None = None
    """None for a server that does not run on this host."""
    host_before: Snapshot | None = None
    pings: Pings | None = None
    """None where nobody has measured them."""

    @cached_property
    def levels(self) -> Levels:
        """How the server is."""
        return levels(self.now)

    @cached_property
    def rates(self) -> Rates | None:
        """What the server did lately; None at the first look and after a restart."""
        return rates(self.before, self.now) if self.before else None

    @cached_property
    def seconds(self) -> float | None:
        """The time since ``before``; None at the first look and after a restart."""
        if self.before is None or was_reset(self.before, self.now):
            return None
        return self.now.taken - self.before.taken

    def increases(self, name: str) -> dict[Labels, float]:
        """Return how much each counter of one of ``INCREASING`` has grown over ``seconds``."""
        if name not in INCREASING:
            raise KeyError(name)
        return increase(self.before, self.now, name) if self.seconds else {}

    def host_increases(self, name: str) -> dict[Labels, float]:
        """Return the same of the host, for one of ``INCREASING_ON_HOST``."""
        if name not in INCREASING_ON_HOST:
            raise KeyError(name)
        if self.host is None or self.host_before is None:
            return {}
        return increase(self.host_before, self.host, name)
