"""Servers that are down, were restarted, or differ from what they should be."""

from exporter.health.rules.shape import Alert, Group, Severity

_VALID_FOR = """
last_over_time(memcached_tls_certificate_not_after_timestamp_seconds{$selector}[6h]) - time()
"""
"""Once it has expired the exporter cannot connect any more, so the last value is held."""
_CERTIFICATE = "The certificate of a memcached server expires soon or has expired."
_CERTIFICATE_TEXT = (
    "The TLS certificate of memcached on ${who} is valid for {{ $value | humanizeDuration }} more."
    " Below zero it has expired, and clients that verify it cannot connect."
)

SERVERS = Group(
    "memcached-servers",
    (
        Alert(
            name="MemcachedDown",
            severity=Severity.CRITICAL,
            expr="max_over_time(memcached_up{$selector}[2m]) == 0",
            wait="1m",
            summary="A memcached server does not answer the exporter.",
            description="memcached on ${who} has not answered for two minutes. The reason is in"
            " the exporter's log and on its page.",
        ),
        Alert(
            name="MemcachedManyDown",
            severity=Severity.CRITICAL,
            expr="""
job:memcached_servers_down:ratio{$selector} > ${fleet_down}
and
count by (job) (max_over_time(memcached_up{$selector}[2m]) == 0) >= ${fleet_down_servers}
""",
            wait="1m",
            summary="Many memcached servers do not answer at once.",
            description="{{ $value | humanizePercentage }} of the memcached servers of job"
            " {{ $labels.job }} do not answer, more than ${fleet_down|percent}: look for a common"
            " cause, such as the network or the exporter's host.",
        ),
        Alert(
            name="MemcachedRestarted",
            severity=Severity.INFO,
            expr="changes(memcached_start_time_seconds{$selector}[30m]) > 0",
            wait="2m",
            summary="A memcached server was restarted and lost what it held.",
            description="memcached on ${who} was restarted in the last half hour (restarts:"
            " {{ $value }}): what it held is gone.",
        ),
        Alert(
            name="MemcachedVersionSkew",
            severity=Severity.INFO,
            expr="""
count by (job) (
  count by (job, version) (last_over_time(memcached_version_info{$selector}[10m]))
) > 1
""",
            wait="1h",
            summary="The memcached servers of a job run different versions.",
            description="The memcached servers of job {{ $labels.job }} have run"
            " {{ $value }} different versions for an hour.",
        ),
        Alert(
            name="MemcachedSectionFailing",
            severity=Severity.WARNING,
            expr="max_over_time(memcached_scrape_section_success{$selector}[5m]) == 0",
            wait="10m",
            summary="A part of a memcached server's statistics cannot be read.",
            description="The section {{ $labels.section }} of memcached on ${who} has failed for"
            " ten minutes, so that its metrics are missing. The reason is in the exporter's log.",
        ),
        Alert(
            name="MemcachedCertificateExpiring",
            severity=Severity.WARNING,
            expr=f"{_VALID_FOR.strip()}"
            "\n  < 86400 * ${certificate_days} >= 86400 * ${certificate_days_critical}",
            wait="5m",
            summary=_CERTIFICATE,
            description=_CERTIFICATE_TEXT,
        ),
        Alert(
            name="MemcachedCertificateExpiring",
            severity=Severity.CRITICAL,
            expr=f"{_VALID_FOR.strip()} < 86400 * ${{certificate_days_critical}}",
            wait="5m",
            summary=_CERTIFICATE,
            description=_CERTIFICATE_TEXT,
        ),
    ),
)
