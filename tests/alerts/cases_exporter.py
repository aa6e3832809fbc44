"""Cases for the alerts about the exporter itself."""

from tests.alerts.harness import SERVER, TARGET, Case

_BUILD = 'memcached_exporter_build_info{@exporter, version="1.0", python_version="3.11"}'
_FAILURES = 'memcached_exporter_discovery_failures_total{@exporter, source="dns:cache"}'
_SUCCESS = (
    'memcached_exporter_discovery_last_success_timestamp_seconds{@exporter, source="dns:cache"}'
)
_DISCOVERY_FAILING = 'MemcachedDiscoveryFailing{warning, @exporter, source="dns:cache"}'
_DISCOVERED = 'memcached_exporter_discovery_servers{@exporter, source="%s"}'
_DOWN = "MemcachedExporterDown{critical, @exporter}"
_ABSENT = "MemcachedExporterAbsent{critical}"
_RELOADED = "memcached_exporter_config_last_reload_successful{@exporter}"
_WEB_RELOADED = "memcached_exporter_web_config_last_reload_successful{@exporter}"

DOWN = (
    Case(
        "E14: the exporter does not answer, and the server may well be up",
        {
            "up{@exporter}": "1+0x5 0+0x30",
            'up{job="other", instance="x:1"}': "0+0x35",
            _BUILD: "1+0x5 _x30",
            "memcached_up{@a}": "1+0x5 _x30",
        },
        {"7m": [], "12m": [_DOWN], "30m": [_DOWN]},
        (
            "12m",
            _DOWN,
            (
                "The exporter gives Prometheus no answer for target exporter:9150 of job"
                " memcached: nothing is known of the memcached servers behind it, which may well"
                " be up."
            ),
        ),
        ways=[SERVER],
    ),
    Case(
        "E14: the exporter answers, and the server is down",
        {"up{@exporter}": "1+0x35", _BUILD: "1+0x35", "memcached_up{@a}": "1+0x5 0+0x30"},
        {"12m": []},
        ways=[SERVER],
    ),
    Case(
        "one of two targets that are read through it",
        {
            "up{@a}": "1+0x5 0+0x30",
            "up{@b}": "1+0x35",
            "memcached_up{@a}": "1+0x5 _x30",
            "memcached_up{@b}": "1+0x35",
        },
        {"12m": ["MemcachedExporterDown{critical, @a}"]},
        ways=[TARGET],
    ),
    Case(
        "every other scrape fails",
        {"up{@exporter}": "1 0 1 0 1 0 1 0 1 0", _BUILD: "1 _ 1 _ 1 _ 1 _ 1 _"},
        {"8m": [], "9m": []},
        ways=[SERVER],
    ),
    Case(
        "the target was taken out of the configuration",
        {"up{@exporter}": "1+0x5 _x30", _BUILD: "1+0x5 _x30"},
        {"12m": [], "30m": []},
        ways=[SERVER],
    ),
)

ABSENT = (
    Case(
        "there never was anything",
        {'up{job="other", instance="x:1"}': "1+0x30"},
        {"4m": [], "7m": [_ABSENT]},
        (
            "7m",
            _ABSENT,
            (
                "There has been no series `memcached_up` for five minutes: the exporter is"
                " not among Prometheus' targets, or has no servers."
            ),
        ),
        ways=[SERVER],
        absent=True,
    ),
    Case(
        "E14: the series end, and come back",
        {"memcached_up{@a}": "1+0x5 _x24 1+0x10"},
        {"12m": [], "18m": [_ABSENT], "31m": []},
        absent=True,
    ),
    Case(
        "one of two servers ends",
        {"memcached_up{@a}": "1+0x5 _x24", "memcached_up{@b}": "1+0x30"},
        {"18m": [], "29m": []},
        absent=True,
    ),
    Case("a server is down", {"memcached_up{@a}": "0+0x30"}, {"2m": []}, absent=True),
)

_FAILED = "MemcachedConfigReloadFailed{warning, @exporter}"
_FAILED_TEXT = (
    "The exporter at exporter:9150 goes on with the configuration of before, as its main or its web"
    " configuration file is broken. Its log names the place."
)
RELOAD = (
    Case(
        "the main file",
        {_RELOADED: "1+0x5 0+0x14 1+0x10", _WEB_RELOADED: "1+0x30"},
        {"9m": [], "12m": [_FAILED], "22m": []},
        ("12m", _FAILED, _FAILED_TEXT),
        ways=[SERVER],
    ),
    Case(
        "the web file",
        {_RELOADED: "1+0x30", _WEB_RELOADED: "1+0x5 0+0x14"},
        {"9m": [], "12m": [_FAILED]},
        ("12m", _FAILED, _FAILED_TEXT),
        ways=[SERVER],
    ),
    Case("both", {_RELOADED: "0+0x30", _WEB_RELOADED: "0+0x30"}, {"12m": [_FAILED]}, ways=[SERVER]),
)

DISCOVERY = (
    Case(
        "no good look for longer than a quarter of an hour",
        {_FAILURES: "0+0x4 1+1x60", _SUCCESS: "240+0x60"},
        {"19m": [], "23m": [], "26m": [_DISCOVERY_FAILING]},
        (
            "30m",
            _DISCOVERY_FAILING,
            (
                "The exporter at exporter:9150 has not read for 26m 0s the"
                " source dns:cache in full: the list of servers may be out of date."
            ),
        ),
        ways=[SERVER],
    ),
    Case(
        "at the boundary of its age all the time",
        {_FAILURES: "0+1x60", _SUCCESS: "-900+60x60"},
        {"30m": []},
        ways=[SERVER],
    ),
    Case(
        "a little older than that",
        {_FAILURES: "0+1x60", _SUCCESS: "-901+60x60"},
        {"30m": [_DISCOVERY_FAILING]},
        ways=[SERVER],
    ),
    Case(
        "failures between good looks",
        {_FAILURES: "0+1x60", _SUCCESS: "0+60x60"},
        {"30m": []},
        ways=[SERVER],
    ),
    Case(
        "a source that is looked at rarely, and does not fail",
        {_FAILURES: "5+0x60", _SUCCESS: "0+0x60"},
        {"30m": []},
        ways=[SERVER],
    ),
    Case(
        "E10: one failure long ago",
        {_FAILURES: "0+0x5 1+0x60", _SUCCESS: "0+0x60"},
        {"30m": [], "60m": []},
        ways=[SERVER],
    ),
    Case(
        "one of two sources is empty; the list in the configuration may be",
        {
            _DISCOVERED % "dns:cache": "3+0x5 0+0x30",
            _DISCOVERED % "file:servers.yml": "1+0x35",
            _DISCOVERED % "static": "0+0x35",
        },
        {
            "15m": [],
            "17m": ['MemcachedDiscoveryEmpty{warning, @exporter, source="dns:cache"}'],
        },
        (
            "17m",
            'MemcachedDiscoveryEmpty{warning, @exporter, source="dns:cache"}',
            (
                "The source dns:cache of the exporter at exporter:9150 has listed no servers for"
                " ten minutes, so that none of them is watched."
            ),
        ),
        ways=[SERVER],
    ),
)

_DROPPED = "MemcachedSeriesDropped{info, @a}"
_COLLECTOR = 'memcached_%s_collector_success{%s, collector="%s"}'
_MALFORMED = "MemcachedMalformedValues{info, @a}"
INCOMPLETE = (
    Case(
        "series of one of two servers are left out",
        {
            "memcached_exporter_series_dropped{@a}": "7+0x30",
            "memcached_exporter_series_dropped{@b}": "0+0x30",
        },
        {"14m": [], "16m": [_DROPPED]},
        ("16m", _DROPPED, "7 series of WHO are left out, as there are too many."),
    ),
    Case(
        "series of the host and of a process are left out",
        {
            'memcached_host_series_dropped{@exporter, collector="nic"}': "1+0x30",
            'memcached_process_series_dropped{@a, collector="threads"}': "2+0x30",
            'memcached_process_series_dropped{@b, collector="threads"}': "0+0x30",
        },
        {
            "16m": [
                'MemcachedSeriesDropped{info, @a, collector="threads"}',
                'MemcachedSeriesDropped{info, @exporter, collector="nic"}',
            ]
        },
        ways=[SERVER],
    ),
    Case(
        "a collector of the host fails",
        {
            _COLLECTOR % ("host", "@exporter", "nic"): "1+0x5 0+0x30",
            _COLLECTOR % ("host", "@exporter", "cpu"): "1+0x35",
            _COLLECTOR % ("host", "@exporter", "tcp"): "0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0",
        },
        {
            "20m": [],
            "27m": ['MemcachedHostCollectorFailing{info, @exporter, collector="nic"}'],
        },
        (
            "27m",
            'MemcachedHostCollectorFailing{info, @exporter, collector="nic"}',
            "The collector nic of the exporter at exporter:9150 fails. The reason is in its log.",
        ),
        ways=[SERVER],
    ),
    Case(
        "a collector of one of two processes fails",
        {
            _COLLECTOR % ("process", "@a", "threads"): "1+0x5 0+0x30",
            _COLLECTOR % ("process", "@b", "threads"): "1+0x35",
            _COLLECTOR % ("process", "@c", "threads"): " ".join(["0 1"] * 18),
        },
        {
            "20m": [],
            "27m": ['MemcachedHostCollectorFailing{info, @a, collector="threads"}'],
        },
        (
            "27m",
            'MemcachedHostCollectorFailing{info, @a, collector="threads"}',
            (
                "The collector threads of the exporter at exporter:9150 fails for the process of"
                " WHO. The reason is in its log."
            ),
        ),
        ways=[SERVER],
    ),
    Case(
        "one of two servers sends what is no number",
        {
            "memcached_exporter_malformed_values{@a}": "3+0x20 0+0x10",
            "memcached_exporter_malformed_values{@b}": "0+0x30",
        },
        {"14m": [], "16m": [_MALFORMED], "21m": []},
        (
            "16m",
            _MALFORMED,
            (
                "3 values in the replies of WHO are left out, as they cannot be numbers"
                " of their kind. The exporter's log shows them."
            ),
        ),
    ),
)

CASES = (*DOWN, *ABSENT, *RELOAD, *DISCOVERY, *INCOMPLETE)
