"""The exporter's metrics about itself, on a registry of their own (prometheus-client)."""

import platform

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    Summary,
)
from prometheus_client.exposition import generate_latest as generate_text
from prometheus_client.metrics import disable_created_metrics
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from exporter import __version__
from exporter.errors import Reason


class Telemetry:
    """Counts what the exporter does."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        build = Gauge(
            "memcached_exporter_build_info",
            "The exporter's version and the Python that runs it; the value is always 1.",
            ["version", "python_version"],
            registry=self._registry,
        )
        build.labels(__version__, platform.python_version()).set(1)
        self._errors = Counter(
            "memcached_exporter_scrape_errors",
            "Scrapes of a memcached server that failed, by reason.",
            ["reason"],
            registry=self._registry,
        )
        for reason in Reason:
            self._errors.labels(reason.value)
        self._pages = Summary(
            "memcached_exporter_page_duration_seconds",
            "Time that pages took to make, waiting for memcached included, in seconds.",
            ["path"],
            registry=self._registry,
        )

    def count_error(self, reason: Reason) -> None:
        """Count a scrape of a server that failed."""
        self._errors.labels(reason.value).inc()

    def observe_page(self, path: str, seconds: float) -> None:
        """Note how long a page took; ``path`` is one of the few that the exporter serves."""
        self._pages.labels(path).observe(seconds)

    def render(self, *, openmetrics: bool) -> bytes:
        """Return the metrics in the text format, or in OpenMetrics with its end mark."""
        if openmetrics:
            return bytes(generate_openmetrics(self._registry))  # type: ignore[no-untyped-call]
        return bytes(generate_text(self._registry))
