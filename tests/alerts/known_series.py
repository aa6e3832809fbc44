"""Which series there are, with which labels: of the catalogue, and of Prometheus itself."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import promql_parser as promql

from exporter.catalogue.host.collectors import HOST_OWN, HOST_SECTIONS
from exporter.documentation import metrics_as_data

TARGET = frozenset({"job", "instance"})
"""Labels of every sample."""
SERVER = TARGET | {"server", "a label of the configuration"}
"""Labels of what is said about a server on /metrics."""


class Series(NamedTuple):
    """Samples that have the same labels."""

    labels: frozenset[str]
    fixed: tuple[tuple[str, str], ...] = ()
    """Labels that have one value in all of them."""

    @property
    def values(self) -> dict[str, str]:
        """The fixed labels."""
        return dict(self.fixed)

    def fits(self, matcher: promql.Matcher) -> bool:
        """Return whether a matcher can let such samples through."""
        value = self.values.get(matcher.name)
        if value is None:
            if matcher.name in self.labels:
                return True
            value = ""
        match str(matcher.op):
            case "MatchOp.Equal":
                return value == matcher.value
            case "MatchOp.NotEqual":
                return value != matcher.value
            case "MatchOp.Re":
                return re.fullmatch(matcher.value, value) is not None
        return re.fullmatch(matcher.value, value) is None


class Metric(NamedTuple):
    """A metric of the exporter or of Prometheus."""

    kind: str
    """``counter``, ``gauge`` or what else the exposition calls it."""
    on_metrics: tuple[Series, ...]
    """As it is on /metrics."""
    by_scrape: tuple[Series, ...]
    """As it is by /scrape."""


def _rows() -> Iterator[tuple[str, str, bool, dict[str, str]]]:
    """Yield name, type, whether it is about a server, and labels, with the value where fixed."""
    whole = {section.name for section in (HOST_OWN, *HOST_SECTIONS)} | {"exporter"}
    for row in metrics_as_data():
        yield row["name"], row["type"], row["section"] not in whole, row["labels"]
    yield "up", "gauge", False, {}


def _parts(kind: str, name: str) -> Iterator[tuple[str, str, set[str]]]:
    """Yield the names of a metric's samples, their kinds, and further labels."""
    if kind in {"histogram", "gaugehistogram", "summary"}:
        counts = "gauge" if kind == "gaugehistogram" else "counter"
        yield f"{name}_sum", counts, set()
        yield f"{name}_count", counts, set()
        if kind != "summary":
            yield f"{name}_bucket", counts, {"le"}
    else:
        yield name, kind, set()


def _all() -> dict[str, Metric]:
    found: dict[str, list[tuple[str, bool, dict[str, str]]]] = {}
    infos: dict[str, dict[str, str]] = {}
    for name, kind, about_server, labels in _rows():
        if kind == "info":
            # Each row is a label of one sample.
            infos.setdefault(name, {}).update(labels)
            found[name] = [(kind, about_server, infos[name])]
            continue
        for part, part_kind, more in _parts(kind, name):
            found.setdefault(part, []).append(
                (part_kind, about_server, labels | dict.fromkeys(more, ""))
            )
    return {
        name: Metric(
            rows[0][0],
            tuple(_series(SERVER if about else TARGET, labels) for _, about, labels in rows),
            tuple(_series(TARGET, labels) for _, _, labels in rows),
        )
        for name, rows in found.items()
    }


def _series(base: frozenset[str], labels: dict[str, str]) -> Series:
    fixed = tuple(sorted((name, value) for name, value in labels.items() if value))
    return Series(frozenset({*base, *labels}), fixed)


METRICS = _all()
