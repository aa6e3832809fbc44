"""The yardstick that needs no code: pymemcache reads, prometheus_client writes.

``python -m bench.library PORT`` prints a page as JSON, and then, for each number that it reads, the
seconds of each of so many scrapes. The exporter's own metrics, HTTP and gzip are left out.
"""

import sys
import time
from collections.abc import Iterator

import msgspec
import pymemcache  # type: ignore[import-untyped]
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from bench.contestants import ACCEPT
from bench.processes import HOST
from exporter.catalogue import FAMILIES, SECTIONS
from exporter.catalogue.row import Kind, Row, Scale, Section

_SECTIONS = [s for s in SECTIONS if s.name in {"stats", "settings", "items", "slabs"}]
_FACTORS = {Scale.MICROSECONDS: 1e-6, Scale.PERCENT: 1e-2, Scale.KIBIBYTES: 1024.0}
_TRUTH = {b"yes": 1.0, b"on": 1.0, b"no": 0.0, b"off": 0.0}
_ENDINGS = {Kind.COUNTER: "_total", Kind.INFO: "_info"}


class Memcached(Collector):
    """A custom collector in prometheus_client's manner; what a key means is looked up once."""

    def __init__(self, port: int) -> None:
        self._server = f"{HOST}:{port}"
        self._client = pymemcache.Client((HOST, port), timeout=10, no_delay=True)
        self._families = {family.name: family for family in FAMILIES}
        self._places: dict[tuple[str, bytes], tuple[Row, dict[str, str]] | None] = {}

    def collect(self) -> Iterator[Metric]:
        """Read the four sections and make their families."""
        metrics: dict[str, Metric] = {}
        infos: dict[str, dict[str, str]] = {}
        for section in _SECTIONS:
            for key, value in self._client.stats(*section.command.split()[1:]).items():
                try:
                    place = self._places[section.name, key]
                except KeyError:
                    place = self._places[section.name, key] = self._place(section, key)
                if place is None:
                    continue
                row, labels = place
                if row.absent and _text(value) in row.absent:
                    continue
                if row.scale is Scale.TEXT:
                    infos.setdefault(row.name, {"server": self._server})[row.label] = _text(value)
                    continue
                metric = metrics.get(row.name) or self._metric(metrics, row.name)
                metric.add_sample(row.name, labels, _number(row, value))
        for name, labels in infos.items():
            self._metric(metrics, name).add_sample(name, labels, 1.0)
        yield from metrics.values()

    def _metric(self, metrics: dict[str, Metric], name: str) -> Metric:
        family = self._families[name]
        base = name.removesuffix(_ENDINGS.get(family.kind, ""))
        metric = metrics[name] = Metric(base, family.help, family.kind)
        return metric

    def _place(self, section: Section, key: bytes) -> tuple[Row, dict[str, str]] | None:
        slab, _, name = key.decode().removeprefix(section.class_prefix).rpartition(":")
        for row in section.rows:
            if (row.key, row.per_class) == (name, bool(slab)):
                own = {"slab": slab} if slab else {}
                return row, own | dict(row.labels) | {"server": self._server}
        return None


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _number(row: Row, value: bytes | float) -> float:
    if isinstance(value, bytes):
        return _TRUTH[value] if row.scale is Scale.BOOLEAN else float(value)
    return value * _FACTORS.get(row.scale, 1.0)


def main() -> None:
    """Make pages until standard input ends."""
    registry = CollectorRegistry()
    registry.register(Memcached(int(sys.argv[1])))
    generate, _ = choose_encoder(ACCEPT)
    _answer(generate(registry).decode())
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            began = time.perf_counter()
            generate(registry)
            seconds.append(time.perf_counter() - began)
        _answer(seconds)


def _answer(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
