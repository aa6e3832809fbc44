"""The exporter itself: down, not scraped, or not doing all that it was told to."""

from exporter.health.rules.shape import Alert, Group, Severity

EXPORTER = Group(
    "memcached-exporter",
    (
        # Of all jobs' targets those count that have shown metrics of ours within the last day.
        Alert(
            name="MemcachedExporterDown",
            severity=Severity.CRITICAL,
            expr="""
max_over_time(up{$selector}[2m]) == 0
and on (job, instance)
(
    present_over_time(memcached_exporter_build_info{$selector}[1d])
  or
    present_over_time(memcached_up{$selector}[1d])
)
""",
            wait="1m",
            summary="The memcached exporter does not answer Prometheus.",
            description="The exporter gives Prometheus no answer for target"
            " {{ $labels.instance }} of job {{ $labels.job }}: nothing is known of the memcached"
            " servers behind it, which may well be up.",
        ),
        Alert(
            name="MemcachedExporterAbsent",
            severity=Severity.CRITICAL,
            expr="absent(memcached_up{$selector})",
            wait="5m",
            summary="Prometheus knows of no memcached server at all.",
            description="There has been no series `memcached_up`{{ with $labels.job }} of job"
            " {{ . }}{{ end }} for five minutes: the exporter is not among Prometheus' targets, or"
            " has no servers.",
        ),
        Alert(
            name="MemcachedConfigReloadFailed",
            severity=Severity.WARNING,
            expr="""
memcached_exporter_config_last_reload_successful{$selector} == 0
or
memcached_exporter_web_config_last_reload_successful{$selector} == 0
""",
            wait="5m",
            summary="The memcached exporter could not load its configuration anew.",
            description="The exporter at {{ $labels.instance }} goes on with the configuration of"
            " before, as its main or its web configuration file is broken. Its log names the"
            " place.",
        ),
        Alert(
            name="MemcachedDiscoveryFailing",
            severity=Severity.WARNING,
            expr="""
time() - memcached_exporter_discovery_last_success_timestamp_seconds{$selector} > ${discovery_age}
and
increase(memcached_exporter_discovery_failures_total{$selector}[15m]) > 0
""",
            wait="5m",
            summary="The memcached exporter cannot read a source of servers.",
            description="The exporter at {{ $labels.instance }} has"
            " {{ if gt $value 1e9 }}never read{{ else }}not read for"
            " {{ $value | humanizeDuration }}{{ end }} the source {{ $labels.source }} in full:"
            " the list of servers may be out of date.",
        ),
        Alert(
            name="MemcachedDiscoveryEmpty",
            severity=Severity.WARNING,
            expr='memcached_exporter_discovery_servers{$selector, source!="static"} == 0',
            wait="10m",
            summary="A source of memcached servers lists none.",
            description="The source {{ $labels.source }} of the exporter at"
            " {{ $labels.instance }} has listed no servers for ten minutes, so that none of them"
            " is watched.",
        ),
        Alert(
            name="MemcachedSeriesDropped",
            severity=Severity.INFO,
            expr="""
memcached_exporter_series_dropped{$selector} > 0
or
memcached_host_series_dropped{$selector} > 0
or
memcached_process_series_dropped{$selector} > 0
""",
            wait="15m",
            summary="The memcached exporter leaves out series beyond its limits.",
            description="{{ $value }} series of ${who}{{ with $labels.collector }} from the"
            " collector {{ . }}{{ end }} are left out, as there are too many.",
        ),
        Alert(
            name="MemcachedHostCollectorFailing",
            severity=Severity.INFO,
            expr="""
max_over_time(memcached_host_collector_success{$selector}[5m]) == 0
or
max_over_time(memcached_process_collector_success{$selector}[5m]) == 0
""",
            wait="15m",
            summary="The memcached exporter cannot read a part of its host's metrics.",
            description="The collector {{ $labels.collector }} of the exporter at"
            " {{ $labels.instance }}{{ with $labels.server }} fails for the process of"
            " {{ . }}{{ else }} fails{{ end }}. The reason is in its log.",
        ),
        Alert(
            name="MemcachedMalformedValues",
            severity=Severity.INFO,
            expr="memcached_exporter_malformed_values{$selector} > 0",
            wait="15m",
            summary="A memcached server sends values that are no numbers.",
            description="{{ $value }} values in the replies of ${who} are left out, as they cannot"
            " be numbers of their kind. The exporter's log shows them.",
        ),
    ),
)
