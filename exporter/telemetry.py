"""The exporter's metrics about itself, on a registry of their own (prometheus-client)."""

import platform
from collections.abc import Iterable, Iterator

import msgspec
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    Summary,
)
from prometheus_client.metrics import disable_created_metrics
from prometheus_client.utils import floatToGoString

from exporter import __version__
from exporter.catalogue.exporter import EXPORTER
from exporter.catalogue.row import Kind
from exporter.errors import Reason

PROBE_BUCKETS = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.0075),
    *(0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
"""Seconds: they resolve 0.1 to 50 ms, with the limits that people alert on (1, 5 and 10 ms)."""


class OwnFamily(msgspec.Struct, frozen=True):
    """A family about the exporter: its samples are name, labels and the text of the value."""

    name: str
    kind: Kind
    help: str
    samples: list[tuple[str, tuple[tuple[str, str], ...], str]]


_ROWS = {row.key: row for row in EXPORTER.rows}


class Telemetry:
    """Counts what the exporter does."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        build = Gauge(*_described("build_info"), registry=self._registry)
        build.labels(__version__, platform.python_version()).set(1)
        self._reloaded = Gauge(*_described("config_reload_successful"), registry=self._registry)
        self._reload_time = Gauge(*_described("config_reload_time"), registry=self._registry)
        self._web_reloaded = Gauge(*_described("web_reload_successful"), registry=self._registry)
        self._web_reloaded.set(1)
        self._discovered = Gauge(*_described("discovery_servers"), registry=self._registry)
        self._discovery_time = Gauge(*_described("discovery_time"), registry=self._registry)
        self._discovery_failures = Counter(
            *_described("discovery_failures"), registry=self._registry
        )
        self._errors = Counter(*_described("scrape_errors"), registry=self._registry)
        for reason in Reason:
            self._errors.labels(reason.value)
        self._pages = Summary(*_described("pages"), registry=self._registry)
        self._probes = Histogram(
            *_described("probes"), buckets=PROBE_BUCKETS, registry=self._registry
        )
        self._probe_failures = Counter(*_described("probe_failures"), registry=self._registry)

    def note_reload(self, *, success: bool) -> None:
        """Note an attempt to load the configuration, the one at start included."""
        self._reloaded.set(success)
        if success:
            self._reload_time.set_to_current_time()

    def note_web_reload(self, success: bool) -> None:  # noqa: FBT001, a callback's one argument
        """Note an attempt to read the web configuration file."""
        self._web_reloaded.set(success)

    def expect_discovery(self, source: str) -> None:
        """Let the series of a source of servers begin."""
        for family in (self._discovered, self._discovery_time, self._discovery_failures):
            family.labels(source)

    def note_discovery(self, source: str, *, servers: int, success: bool) -> None:
        """Note a look at a source, and how many servers are known of it now."""
        self._discovered.labels(source).set(servers)
        if success:
            self._discovery_time.labels(source).set_to_current_time()
        self._discovery_failures.labels(source).inc(not success)

    def forget_discovery(self, source: str) -> None:
        """Let the series of a source end."""
        for family in (self._discovered, self._discovery_time, self._discovery_failures):
            family.remove(source)

    def count_error(self, reason: Reason) -> None:
        """Count a scrape of a server that failed."""
        self._errors.labels(reason.value).inc()

    def observe_page(self, path: str, seconds: float) -> None:
        """Note how long a page took; ``path`` is one of the few that the exporter serves."""
        self._pages.labels(path).observe(seconds)

    def expect_probes(self, operations: Iterable[str], server: str) -> None:
        """Let the series of a server's probes begin at 0."""
        for operation in operations:
            self._probes.labels(operation, server)
            self._probe_failures.labels(operation, server)

    def forget_probes(self, operations: Iterable[str], server: str) -> None:
        """Let the series of a server's probes end: it is not probed any more."""
        for operation in operations:
            self._probes.remove(operation, server)
            self._probe_failures.remove(operation, server)

    def observe_probe(self, operation: str, server: str, seconds: float) -> None:
        """Note the round trip of a probe."""
        self._probes.labels(operation, server).observe(seconds)

    def count_probe_failure(self, operation: str, server: str) -> None:
        """Count a probe that was not answered."""
        self._probe_failures.labels(operation, server).inc()

    def collect(self) -> Iterator[OwnFamily]:
        """Yield all families; process and Python metrics are read now."""
        for metric in self._registry.collect():
            ending = "_total" if metric.type == "counter" else ""
            samples = [
                (sample.name, tuple(sample.labels.items()), floatToGoString(sample.value))  # type: ignore[no-untyped-call]
                for sample in metric.samples
            ]
            yield OwnFamily(metric.name + ending, Kind(metric.type), metric.documentation, samples)


def _described(key: str) -> tuple[str, str, tuple[str, ...]]:
    """Return name, help and label names of a row, as prometheus-client takes them."""
    row = _ROWS[key]
    return row.name, row.help, row.dynamic
