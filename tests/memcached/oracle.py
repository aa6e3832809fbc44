"""An independent reading of the catalogue: slow, line by line, and through fractions."""

import re
from collections.abc import Mapping
from fractions import Fraction

from exporter.catalogue import SECTIONS
from exporter.catalogue.row import Row, Scale, Section
from tests.memcached.support import Samples

_FACTORS = {
    Scale.PLAIN: Fraction(1),
    Scale.MICROSECONDS: Fraction(1, 1_000_000),
    Scale.PERCENT: Fraction(1, 100),
    Scale.KIBIBYTES: Fraction(1024),
}
_TRUE, _FALSE = ("yes", "on", "1"), ("no", "off", "0")


def rows_by_key(section: Section) -> dict[tuple[str, bool], Row]:
    """Return a section's rows by key and by whether the key comes once per class."""
    return {(row.key, row.per_class): row for row in section.rows}


def wildcard(section: Section, key: str) -> Row | None:
    """Return the row whose key ends in any name and fits."""
    fitting = (
        row for row in section.rows if row.key.endswith("*") and key.startswith(row.key.rstrip("*"))
    )
    return next(fitting, None)


def split_key(section: Section, key: str) -> tuple[str, str]:
    """Return the class number of a key, empty when it has none, and the bare key."""
    found = re.fullmatch(rf"{section.class_prefix}(\d+):(\w+)", key)
    return (found[1], found[2]) if found else ("", key)


def number(row: Row, value: str) -> float | None:
    """Return a value in base units, None when it is out of bounds or unset."""
    if value in row.absent:
        return None
    if row.scale is Scale.BOOLEAN:
        return float(value in _TRUE) if value in _TRUE + _FALSE else None
    if row.scale is Scale.CPU_TIME:
        return float(value)
    exact = Fraction(value)
    if abs(exact) >= 2**63 or (exact < 0 and not row.signed):
        return None
    return float(exact * _FACTORS[row.scale])


def expected(replies: Mapping[str, Mapping[str, str]], **labels: str) -> Samples:
    """Return the samples that the catalogue promises for key and value of some sections."""
    samples: Samples = {}
    infos: dict[str, dict[str, str]] = {}
    for section in sorted(SECTIONS, key=lambda section: section.name == "items"):
        rows = rows_by_key(section)
        for key, value in replies.get(section.name, {}).items():
            slab, bare = split_key(section, key)
            row = rows.get((bare, bool(slab))) or wildcard(section, key)
            if row is None:
                continue
            if row.scale is Scale.TEXT:
                if value not in row.absent:
                    infos.setdefault(row.name, {})[row.label] = value
            elif (converted := number(row, value)) is not None:
                own = dict(row.labels) | ({"slab": slab} if slab else {})
                if row.dynamic:
                    own[row.dynamic[0]] = key.removeprefix(row.key.rstrip("*"))
                samples[row.name, frozenset((own | labels).items())] = converted
    for name, texts in infos.items():
        samples[name, frozenset((texts | labels).items())] = 1.0
    return samples


def pairs(raw: bytes) -> dict[str, str]:
    """Return key and value of a raw reply."""
    lines = (line.split(" ", 2) for line in raw.decode().split("\r\n") if line.startswith("STAT "))
    return {line[1]: line[2] if len(line) > 2 else "" for line in lines}
