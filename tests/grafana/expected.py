"""What panels should show: the same by `stats`, and what the rules record of it."""

from collections.abc import Callable
from typing import NamedTuple

from tests.processes import Memcached

Stats = dict[str, int]


class Central(NamedTuple):
    """A query of the server's board, and the same by `stats`."""

    title: str
    ref: str
    expected: Callable[[Stats], float]


def whole_numbers(server: Memcached) -> Stats:
    """Return the statistics of a server that are whole numbers."""
    return {name: int(value) for name, value in server.stats().items() if value.isdecimal()}


def commands(stats: Stats) -> int:
    """Return all commands that a server has counted; a cas counts as a set."""
    words = ("get", "delete", "incr", "decr", "touch")
    outcomes = sum(stats[f"{word}_{end}"] for word in words for end in ("hits", "misses"))
    return outcomes + stats["cmd_set"] + stats["cmd_flush"]


EXACT = [
    Central(
        "Hit rate",
        "A",
        lambda stats: stats["get_hits"] / (stats["get_hits"] + stats["get_misses"]),
    ),
    # The one that asks for the statistics is not there when Prometheus asks.
    Central("Connections open and at most", "A", lambda stats: stats["curr_connections"] - 1),
    Central("Connections open and at most", "B", lambda stats: stats["max_connections"]),
    Central("Items", "A", lambda stats: stats["curr_items"]),
    Central("Memory of items", "A", lambda stats: stats["bytes"]),
    Central("Memory of items", "C", lambda stats: stats["limit_maxbytes"]),
]
"""To the last digit."""

COUNTED = [
    Central("Evictions", "A", lambda stats: stats["evictions"]),
    Central("Commands by server", "A", commands),
]
"""Rates, and what was counted."""

FLEET = {"Servers known": 8, "Servers down": 2}
"""What the fleet's board says of four servers that are read in two ways, one of which is down."""

RECORDED = [
    ("memcached-server", "Connections used", "server:memcached_connections_used:ratio"),
    ("memcached-server", "Descriptors used", "server:memcached_open_fds:ratio"),
    ("memcached-server", "Memory used", "server:memcached_memory_used:ratio"),
    ("memcached-server", "Hit rate", "server:memcached_get_hits_per_get:ratio_rate5m"),
    ("memcached-server", "Commands by server", "server:memcached_commands:rate5m"),
    (
        "memcached-server",
        "Evictions per set",
        "server:memcached_items_evicted_per_set:ratio_rate5m",
    ),
    (
        "memcached-server",
        "Evicted items of use",
        "server:memcached_items_evicted_useful:ratio_rate15m",
    ),
    (
        "memcached-server",
        "Probes that fail",
        "server:memcached_probe_failures_per_probe:ratio_rate5m",
    ),
    ("memcached-server", "Pages that lie idle", "server:memcached_slab_pages_idle:ratio"),
    ("memcached-slabs", "Pages that lie idle", "server:memcached_slab_pages_idle:ratio"),
    (
        "memcached-host",
        "Memory in swap",
        "server:memcached_process_swap_bytes_per_memory_bytes:ratio",
    ),
    (
        "memcached-host",
        "Context switches per CPU",
        "instance:memcached_host_context_switches_per_cpu:ratio_rate5m",
    ),
    (
        "memcached-host",
        "Interrupts on the busiest CPU",
        "device:memcached_nic_cpu_interrupts_max_per_all:ratio_rate5m",
    ),
]
"""Board, title, and the series that the rules record of the same, on which alerts are raised."""
