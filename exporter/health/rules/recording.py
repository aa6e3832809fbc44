"""What alerts and dashboards compute from, kept under names of its own.

Numerators and denominators are summed apart, and a denominator of 0 gives no sample. What is summed
away is named (``without``), so that ``server`` and the labels of a configuration stay, and the
rules work where there is no ``server`` label as well. ``job`` is the exception: whole fleets have
no other common mark.
"""

from exporter.health.rules.shape import Group, Recording

_GETS = 'memcached_commands_total{$selector, command="get", status=~"hit|miss"}'
_GET_HITS = 'memcached_commands_total{$selector, command="get", status="hit"}'
# A set and a flush tell no outcome, and a cas counts as a set as well. With the legacy names they
# come a second time, under another status. A proxy counts in a family of its own.
_COMMANDS = """(
    rate(memcached_commands_total{$selector, command!~"cas|flush|set"}[RANGE])
  or
    rate(memcached_commands_total{$selector, status="attempt"}[RANGE])
  or
    rate(memcached_proxy_commands_total{$selector}[RANGE])
)"""


def _commands(selector: str, window: str) -> str:
    return f"sum without (command, status) (rate({selector}[{window}]))"


def _hit_rate(window: str) -> Recording:
    return Recording(
        f"server:memcached_get_hits_per_get:ratio_rate{window}",
        f"{_commands(_GET_HITS, window)}\n/\n({_commands(_GETS, window)} > 0)",
    )


def _traffic(window: str) -> tuple[Recording, ...]:
    return (
        Recording(f"server:memcached_gets:rate{window}", _commands(_GETS, window)),
        Recording(
            f"server:memcached_commands:rate{window}",
            f"sum without (command, status) {_COMMANDS.replace('RANGE', window)}",
        ),
        _hit_rate(window),
    )


CONNECTIONS = (
    # Both hold the last value for five minutes: a server at its limit may refuse the exporter too.
    Recording(
        "server:memcached_connections_used:ratio",
        """
last_over_time(memcached_current_connections{$selector}[5m])
/
(
  (
      last_over_time(memcached_max_connections{$selector}[5m])
    -
      last_over_time(memcached_reserved_fds{$selector}[5m])
    or
      last_over_time(memcached_max_connections{$selector}[5m])
  ) > 0
)
""",
    ),
    Recording(
        "server:memcached_open_fds:ratio",
        """
last_over_time(memcached_process_open_fds{$selector}[5m])
/
(last_over_time(memcached_process_max_fds{$selector}[5m]) > 0)
""",
    ),
    Recording(
        "job:memcached_servers_down:ratio",
        """
count by (job) (max_over_time(memcached_up{$selector}[2m]) == 0)
/
count by (job) (max_over_time(memcached_up{$selector}[2m]))
""",
    ),
)

_PAGES = "sum without (slab) (memcached_slab_current_pages{$selector})"
# Servers before 1.4.25 have no such pool.
_POOL = f"(memcached_slab_global_page_pool{{$selector}} or 0 * {_PAGES})"

MEMORY = (
    # With external storage the bytes of what lies on disk count as well.
    Recording(
        "server:memcached_memory_used:ratio",
        """
(
    clamp_min(memcached_current_bytes{$selector} - memcached_extstore_bytes_used{$selector}, 0)
  or
    memcached_current_bytes{$selector}
)
/
(memcached_limit_bytes{$selector} > 0)
""",
    ),
    Recording(
        "server:memcached_sets:rate5m",
        _commands('memcached_commands_total{$selector, command="set", status="attempt"}', "5m"),
    ),
    Recording(
        "server:memcached_items_evicted_per_set:ratio_rate5m",
        "rate(memcached_items_evicted_total{$selector}[5m])\n/\n"
        "(server:memcached_sets:rate5m{$selector} > 0)",
    ),
    # Over 15 minutes, since a full server evicts in bursts.
    Recording(
        "server:memcached_items_evicted_useful:ratio_rate15m",
        """
(
    rate(memcached_items_evicted_unfetched_total{$selector}[15m])
  +
    rate(memcached_items_evicted_active_total{$selector}[15m])
  or
    rate(memcached_items_evicted_unfetched_total{$selector}[15m])
)
/
(rate(memcached_items_evicted_total{$selector}[15m]) > 0)
""",
    ),
    # Whole pages' worth of free chunks in classes that do not evict, and the pool for all classes.
    Recording(
        "server:memcached_slab_pages_idle:ratio",
        f"""
(
    (
      sum without (slab) (
        floor(
          memcached_slab_chunks_free{{$selector}}
          /
          (memcached_slab_chunks_per_page{{$selector}} > 0)
        )
        unless
        increase(memcached_slab_items_evicted_total{{$selector}}[15m]) > 0
      )
      or
      0 * {_PAGES}
    )
  +
    {_POOL}
)
/
({_PAGES} + {_POOL} > 0)
""",
    ),
)

_PROBES = 'memcached_probe_duration_seconds_{0}{{$selector, operation="noop"}}[{1}]'
_PROBED = "sum without (operation) (rate(" + _PROBES.format("count", "WINDOW") + "))"
_PROBE_MEAN = f"""sum without (operation) (rate({_PROBES.format("sum", "WINDOW")}))
/
({_PROBED} > 0)"""
_PROBE_P99 = f"""(
  histogram_quantile(0.99, sum without (operation) (rate({_PROBES.format("bucket", "WINDOW")})))
  and
  {_PROBED} > 0
)"""


def _latency(operation: str, window: str, probes: str, ping: str) -> Recording:
    """Return the prober's figure, and where there is no prober that of the scrapes' pings."""
    return Recording(
        f"server:memcached_latency_seconds:{operation}{window}",
        f"""
{probes}
or
{ping}(PARAMETERmemcached_ping_seconds{{$selector}}[WINDOW])
unless on (job, instance, server)
{_PROBED} > 0
""".replace("WINDOW", window).replace("PARAMETER", "0.99, " if "quantile" in ping else ""),
    )


LATENCY = (
    _latency("p99_", "15m", _PROBE_P99, "quantile_over_time"),
    _latency("mean", "5m", _PROBE_MEAN, "avg_over_time"),
    _latency("mean", "1h", _PROBE_MEAN, "avg_over_time"),
    Recording(
        "server:memcached_probe_failures_per_probe:ratio_rate5m",
        """
sum without (operation) (rate(memcached_probe_failures_total{$selector}[5m]))
/
(
    sum without (operation) (rate(memcached_probe_failures_total{$selector}[5m]))
  +
    sum without (operation) (rate(memcached_probe_duration_seconds_count{$selector}[5m]))
  > 0
)
""",
    ),
)

RECORDING = Group(
    "memcached-recording", (*CONNECTIONS, *MEMORY, *_traffic("5m"), *_traffic("1h"), *LATENCY)
)
