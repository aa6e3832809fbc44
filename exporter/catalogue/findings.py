"""What the exporter judges: findings as metrics."""

from exporter.catalogue.row import Section, gauge

FINDINGS = Section(
    name="findings",
    command="",
    rows=(
        gauge(
            "finding",
            "memcached_finding",
            "Something about the server, or the host that it runs on, is not as it should be; the"
            " value is always 1.",
            dynamic=("finding", "severity"),
            note="With `metrics.findings: true` or `--metrics.findings`, for configured servers."
            " Judged at most once a minute, over the time since then. docs/findings.md tells what"
            " each one means; at most one series for each. Alerts have rules of their own, which"
            " look at longer times.",
        ),
    ),
)
