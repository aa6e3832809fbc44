"""All checks, in the order in which findings of equal weight are shown."""

from exporter.health.findings.connections import CONNECTIONS

CHECKS = (*CONNECTIONS,)
