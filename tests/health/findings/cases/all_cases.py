"""All cases, as the checks are ordered."""

from tests.health.findings.cases import (
    connections,
    host,
    memory,
    network,
    settings,
    slabs,
    storage,
    traffic,
    workers,
)

TOPICS = (connections, memory, slabs, traffic, workers, storage, network, host, settings)
CASES = tuple(case for topic in TOPICS for case in topic.CASES)
