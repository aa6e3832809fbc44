"""Expressions that several boards use, in the short forms of ``shape``.

They are those of the recording rules, with a window that fits what is looked at: the boards need no
rules to be loaded.
"""

SERVER_NAME = "{{server}} {{instance}}"
"""A legend: by /scrape there is no server, and the instance is its address."""


def rate(name: str, matchers: str = "") -> str:
    """Return a counter's growth per second, of each server."""
    return f"sum by ($by) (rate({name}{{$on{matchers}}}[$span]))"


def total(expr: str) -> str:
    """Return the sum over the chosen servers of an expression of ``rate``."""
    return expr.replace("sum by ($by) (", "sum(")


HITS = rate("memcached_commands_total", ', command="get", status="hit"')
GETS = rate("memcached_commands_total", ', command="get", status=~"hit|miss"')
SETS = rate("memcached_commands_total", ', command="set", status="attempt"')
EVICTIONS = rate("memcached_items_evicted_total")
REFUSED = rate("memcached_connections_rejected_total")
NO_MEMORY = rate("memcached_slab_items_outofmemory_total")
COMMANDS = """
sum by ($by) (
    rate(memcached_commands_total{$on, command!~"cas|flush|set"}[$span])
  or
    rate(memcached_commands_total{$on, status="attempt"}[$span])
  or
    rate(memcached_proxy_commands_total{$on}[$span])
)
"""
HIT_RATE = f"{HITS} / ({GETS} > 0)"
EVICTED_PER_SET = f"{EVICTIONS} / ({SETS} > 0)"

CONNECTIONS_USED = """
max by ($by) (
  memcached_current_connections{$on}
  /
  (
    (
        memcached_max_connections{$on} - memcached_reserved_fds{$on}
      or
        memcached_max_connections{$on}
    ) > 0
  )
)
"""
DESCRIPTORS_USED = """
max by ($by) (memcached_process_open_fds{$on} / (memcached_process_max_fds{$on} > 0))
"""
MEMORY_USED = """
max by ($by) (
  (
      clamp_min(memcached_current_bytes{$on} - memcached_extstore_bytes_used{$on}, 0)
    or
      memcached_current_bytes{$on}
  )
  /
  (memcached_limit_bytes{$on} > 0)
)
"""
USEFUL_EVICTED = f"""
sum by ($by) (
    rate(memcached_items_evicted_unfetched_total{{$on}}[$span])
  +
    rate(memcached_items_evicted_active_total{{$on}}[$span])
  or
    rate(memcached_items_evicted_unfetched_total{{$on}}[$span])
)
/
({EVICTIONS} > 0)
"""
_PAGES = "sum by ($by) (memcached_slab_current_pages{$on})"
_POOL = f"(sum by ($by) (memcached_slab_global_page_pool{{$on}}) or 0 * {_PAGES})"
PAGES_IDLE = f"""
(
    (
        sum by ($by) (
          floor(memcached_slab_chunks_free{{$on}} / (memcached_slab_chunks_per_page{{$on}} > 0))
          unless
          increase(memcached_slab_items_evicted_total{{$on}}[15m]) > 0
        )
      or
        0 * {_PAGES}
    )
  +
    {_POOL}
)
/
({_PAGES} + {_POOL} > 0)
"""
PING = "max by ($by) (avg_over_time(memcached_ping_seconds{$on}[$span]))"


def probe_quantile(quantile: float) -> str:
    """Return how long probes take at most, of so many of them; only where there are any."""
    return f"""
histogram_quantile(
  {quantile},
  sum by ($by, le) (rate(memcached_probe_duration_seconds_bucket{{$on, operation="noop"}}[$span]))
)
and
{rate("memcached_probe_duration_seconds_count", ', operation="noop"')} > 0
"""


PROBE_FAILURES = f"""
{rate("memcached_probe_failures_total")}
/
(
    {rate("memcached_probe_failures_total")}
  +
    {rate("memcached_probe_duration_seconds_count")}
  > 0
)
"""
