"""Whole servers, with all that the rules read: what is no trouble must not look like any.

A healthy server that has been busy for long, an idle one, and one that was restarted or whose
statistics were reset, each with large counters from before: all rules are there, and nothing fires
but what is told.
"""

from tests.alerts.harness import SERVER, Case

_SLAB = '@{name}, slab="{slab}"'

GAUGES: dict[str, float] = {
    "memcached_up{@a}": 1,
    'memcached_scrape_section_success{@a, section="items"}': 1,
    "memcached_tls_certificate_not_after_timestamp_seconds{@a}": 8e6,
    'memcached_version_info{@a, version="1.6.18", libevent="2.1.12", pointer_size="64"}': 1,
    "memcached_max_connections{@a}": 1024,
    "memcached_reserved_fds{@a}": 20,
    "memcached_current_connections{@a}": 300,
    "memcached_accepting_connections{@a}": 1,
    "memcached_current_bytes{@a}": 600e6,
    "memcached_limit_bytes{@a}": 1e9,
    "memcached_extstore_bytes_used{@a}": 0,
    "memcached_slab_global_page_pool{@a}": 2,
    'memcached_slab_current_pages{@a, slab="1"}': 60,
    'memcached_slab_chunks_per_page{@a, slab="1"}': 10922,
    'memcached_slab_chunks_free{@a, slab="1"}': 200000,
    'memcached_slab_items_evicted_time_seconds{@a, slab="1"}': 90,
    "memcached_hash_is_expanding{@a}": 0,
    "memcached_ping_seconds{@a}": 0.0002,
    "memcached_extstore_io_queue_depth{@a}": 3,
    'memcached_proxy_backend_bad_connections{@a, backend="b1"}': 0,
    "memcached_exporter_malformed_values{@a}": 0,
    "memcached_exporter_series_dropped{@a}": 0,
}
"""Of a healthy server."""

COUNTERS: dict[str, tuple[float, float]] = {
    'memcached_commands_total{@a, command="get", status="hit"}': (1e9, 99000),
    'memcached_commands_total{@a, command="get", status="miss"}': (9e9, 600),
    'memcached_commands_total{@a, command="set", status="attempt"}': (1e9, 9000),
    'memcached_proxy_commands_total{@a, command="mg"}': (0, 0),
    "memcached_connections_rejected_total{@a}": (5000, 0),
    "memcached_connections_listener_disabled_total{@a}": (50, 0),
    "memcached_items_evicted_total{@a}": (9e8, 0),
    "memcached_items_evicted_unfetched_total{@a}": (8e8, 0),
    "memcached_items_evicted_active_total{@a}": (1e8, 0),
    'memcached_slab_items_evicted_total{@a, slab="1"}': (9e8, 0),
    'memcached_slab_items_outofmemory_total{@a, slab="1"}': (700, 0),
    "memcached_item_no_memory_total{@a}": (700, 0),
    "memcached_malloc_fails_total{@a}": (4, 0),
    "memcached_read_buffer_oom_total{@a}": (4, 0),
    "memcached_response_object_oom_total{@a}": (4, 0),
    "memcached_extstore_badcrc_total{@a}": (2, 0),
    "memcached_extstore_gets_oom_total{@a}": (2, 0),
    "memcached_extstore_gets_aborted_total{@a}": (2, 0),
    "memcached_proxy_backend_marked_bad_total{@a}": (9, 0),
}
"""Of the same server: what was counted before, and what is counted each minute."""

TELEMETRY: dict[str, str] = {
    "up{@exporter}": "1+0x90",
    'memcached_exporter_build_info{@exporter, version="1.0", python_version="3.11"}': "1+0x90",
    "memcached_exporter_config_last_reload_successful{@exporter}": "1+0x90",
    "memcached_exporter_web_config_last_reload_successful{@exporter}": "1+0x90",
    'memcached_exporter_discovery_servers{@exporter, source="file:s.yml"}': "2+0x90",
    'memcached_exporter_discovery_last_success_timestamp_seconds{@exporter, source="file:s.yml"}': (
        "0+60x90"
    ),
    'memcached_exporter_discovery_failures_total{@exporter, source="file:s.yml"}': "90+0x90",
    'memcached_exporter_scrape_errors_total{@exporter, reason="connection_limit"}': "90+0x90",
    'memcached_host_collector_success{@exporter, collector="cpu"}': "1+0x90",
    'memcached_host_series_dropped{@exporter, collector="nic"}': "0+0x90",
}
"""Of the exporter."""

PROCESS: dict[str, str] = {
    "memcached_process_open_fds{@a}": "330+0x90",
    "memcached_process_max_fds{@a}": "1024+0x90",
    'memcached_process_collector_success{@a, collector="process"}': "1+0x90",
    'memcached_process_series_dropped{@a, collector="threads"}': "0+0x90",
    'memcached_probe_duration_seconds_bucket{@a, operation="noop", le="0.001"}': "1e6+60x90",
    'memcached_probe_duration_seconds_bucket{@a, operation="noop", le="+Inf"}': "1e6+60x90",
    'memcached_probe_duration_seconds_count{@a, operation="noop"}': "1e6+60x90",
    'memcached_probe_duration_seconds_sum{@a, operation="noop"}': "900+0.01x90",
    'memcached_probe_failures_total{@a, operation="noop"}': "900+0x90",
}
"""Of the server's process and of the prober, which only the exporter's own page has."""

_STEADY = {name: f"{value:.15g}+0x90" for name, value in GAUGES.items()}
_LIFE = {
    "memcached_start_time_seconds{@a}": "-999000+0x90",
    "memcached_uptime_seconds{@a}": "999000+60x90",
}
BUSY = (
    _STEADY
    | _LIFE
    | {name: f"{start:.15g}+{step:.15g}x90" for name, (start, step) in COUNTERS.items()}
)
IDLE = _STEADY | _LIFE | {name: f"{start:.15g}+0x90" for name, (start, _) in COUNTERS.items()}
RESET = BUSY | {
    name: f"{start:.15g}+{step:.15g}x30 {step / 3:.15g}+{step:.15g}x59"
    for name, (start, step) in COUNTERS.items()
}
RESTARTED = (
    {name: f"{value:.15g}+0x30 _x2 {value:.15g}+0x57" for name, value in GAUGES.items()}
    | {
        name: f"{start:.15g}+{step:.15g}x30 _x2 0+{step:.15g}x57"
        for name, (start, step) in COUNTERS.items()
    }
    | {
        "memcached_up{@a}": "1+0x30 0+0x1 1+0x57",
        "memcached_start_time_seconds{@a}": "-999000+0x30 _x2 1970+0x57",
        "memcached_uptime_seconds{@a}": "999000+60x30 _x2 2+60x57",
        # The cache is cold at first.
        'memcached_commands_total{@a, command="get", status="hit"}': (
            "1e9+99000x30 _x2 0+9900x15 148500+99000x41"
        ),
        'memcached_commands_total{@a, command="get", status="miss"}': (
            "9e9+600x30 _x2 0+89700x15 1345500+600x41"
        ),
    }
)
_TIMES = ("5m", "20m", "32m", "34m", "36m", "40m", "50m", "65m", "88m")
_NOTHING: dict[str, list[str]] = {time: [] for time in _TIMES}
_RESTART = "MemcachedRestarted{info, @a}"

CASES = (
    Case("a busy server, counters large from before", BUSY | TELEMETRY, _NOTHING),
    Case("E03: an idle server", IDLE | TELEMETRY, _NOTHING),
    Case(
        "the same with its process and a prober",
        BUSY | TELEMETRY | PROCESS,
        _NOTHING,
        None,
        [SERVER],
    ),
    Case("stats reset", RESET | TELEMETRY, _NOTHING),
    Case(
        "a restart",
        RESTARTED | TELEMETRY,
        _NOTHING | {time: [_RESTART] for time in ("36m", "40m", "50m")},
    ),
    Case(
        "a server that sends nothing but that it is there", {"memcached_up{@a}": "1+0x90"}, _NOTHING
    ),
    Case("nothing but the exporter", TELEMETRY, _NOTHING, None, [SERVER]),
    Case(
        "E14: the server is down, its exporter is not",
        {name: f"{text.split('x')[0]}x10 _x80" for name, text in BUSY.items()}
        | {"memcached_up{@a}": "1+0x10 0+0x79"}
        | TELEMETRY,
        {"14m": ["MemcachedDown{critical, @a}"], "60m": ["MemcachedDown{critical, @a}"]},
    ),
    Case(
        "E14: the exporter is down, and nothing is known of the server",
        {name: f"{text.split('x')[0]}x10 _x80" for name, text in (BUSY | TELEMETRY).items()}
        | {"up{@exporter}": "1+0x10 0+0x79"},
        {
            "14m": ["MemcachedExporterDown{critical, @exporter}"],
            "60m": [
                "MemcachedExporterDown{critical, @exporter}",
                "MemcachedExporterAbsent{critical}",
            ],
        },
        None,
        [SERVER],
        "1m",
        True,
    ),
)

SELECTED = (
    Case(
        "what is not selected is not looked at",
        {
            'up{job="other", instance="x:1"}': "0+0x30",
            'memcached_exporter_build_info{job="other", instance="x:1"}': "1+0x30",
            'memcached_up{job="other", instance="x:1"}': "0+0x30",
            'memcached_current_connections{job="other", instance="x:1"}': "99+0x30",
            'memcached_max_connections{job="other", instance="x:1"}': "100+0x30",
            'memcached_item_no_memory_total{job="other", instance="x:1"}': "0+1x30",
            'memcached_ping_seconds{job="other", instance="x:1"}': "9+0x30",
            "memcached_item_no_memory_total{@a}": "0+1x30",
        },
        {"20m": ["MemcachedOutOfMemory{critical, @a}"]},
    ),
    Case(
        "absence is told of the job that is selected",
        {'memcached_up{job="other", instance="x:1"}': "1+0x30"},
        {"20m": ['MemcachedExporterAbsent{critical, job="memcached"}']},
        (
            "20m",
            'MemcachedExporterAbsent{critical, job="memcached"}',
            (
                "There has been no series `memcached_up` of job memcached for five minutes: the"
                " exporter is not among Prometheus' targets, or has no servers."
            ),
        ),
        [SERVER],
        "1m",
        True,
    ),
)
