"""Samples become snapshots: what a page says, as numbers that can be asked for by name."""

import functools
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from exporter.catalogue import FAMILIES
from exporter.catalogue.host.collectors import HOST_SECTIONS, PROCESS_SECTIONS
from exporter.health.snapshot import Labels, Snapshot
from exporter.host.host import Portion
from exporter.memcached.member import Outcome
from exporter.memcached.translation import Samples

_INDEX = {family.name: family.index for family in FAMILIES}
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_ROWS = {
    section.name: {row.key: row for row in section.rows}
    for section in (*HOST_SECTIONS, *PROCESS_SECTIONS)
}


class _Families(Mapping[str, Mapping[Labels, float]]):
    """The families of a scrape; one becomes numbers when it is first asked for.

    A server has some two thousand samples, and those who look want few of them.
    """

    def __init__(self, samples: Samples, others: dict[str, dict[Labels, float]]) -> None:
        self._samples = samples
        self._known: dict[str, Mapping[Labels, float]] = dict(others)

    def __getitem__(self, name: str) -> Mapping[Labels, float]:
        found: Mapping[Labels, float] | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: Any = None, /) -> Any:
        """Return a family; much is absent, and Mapping's own way is to raise and catch an error."""
        found = self._known.get(name)
        if found is None and name in _INDEX and (samples := self._samples[_INDEX[name]]):
            found = {_labels(prefix): float(value) for prefix, value in samples.items()}
            self._known[name] = found
        return default if found is None else found

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None

    def __iter__(self) -> Iterator[str]:
        told = (family.name for family in FAMILIES if self._samples[family.index])
        return iter(dict.fromkeys((*told, *self._known)))

    def __len__(self) -> int:
        return len(list(iter(self)))


def server_snapshot(outcome: Outcome, process: Iterable[Portion] = ()) -> Snapshot:
    """Return the snapshot of a server that was read, with what was read of its process."""
    return Snapshot(_Families(outcome.result.samples, _families(process)), outcome.taken)


def host_snapshot(portions: Iterable[Portion]) -> Snapshot:
    """Return the snapshot of the host from what its collectors brought."""
    return Snapshot(_families(portions), time.monotonic())


def _families(portions: Iterable[Portion]) -> dict[str, dict[Labels, float]]:
    families: dict[str, dict[Labels, float]] = {}
    for portion in portions:
        rows = _ROWS[portion.gathered.section.name]
        for key, values, number in portion.gathered.samples:
            row = rows[key]
            told = (pair for pair in zip(row.dynamic, values, strict=True) if pair[1])
            families.setdefault(row.name, {})[(*told, *row.labels)] = number
    return families


@functools.lru_cache(maxsize=16384)
def _labels(prefix: str) -> Labels:
    """Return the labels of a sample's text up to its value."""
    return tuple((name, _ESCAPED.sub(_unescape, value)) for name, value in _LABEL.findall(prefix))


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
