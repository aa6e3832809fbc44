"""Values as memcached prints them become numbers as Prometheus reads them, without rounding.

Texts are passed on, shifted or multiplied in decimal; nothing goes through a float.
"""

import re
from collections.abc import Callable
from decimal import Decimal

from exporter.catalogue.row import Row, Scale

_NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?\Z")
_CPU_TIME = re.compile(r"([0-9]{1,18})([.:])([0-9]{1,6})\Z")
_TRUTH = {"yes": "1", "on": "1", "1": "1", "no": "0", "off": "0", "0": "0"}
_UNDERFLOW = 2**63
"""memcached's counters are unsigned: what reaches this went below zero or is rubbish."""


def convert(row: Row, text: str) -> str | None:
    """Return a value in the row's base unit, or None when the text is no value of its kind."""
    if row.scale is Scale.BOOLEAN:
        return _TRUTH.get(text)
    if row.scale is Scale.CPU_TIME:
        return _cpu_time(text)
    if not _NUMBER.match(text):
        return None
    number = Decimal(text)
    if abs(number) >= _UNDERFLOW or (number < 0 and not row.signed):
        return None
    scaled = _SCALES.get(row.scale)
    return text if scaled is None else f"{scaled(number):f}"


_SCALES: dict[Scale, Callable[[Decimal], Decimal]] = {
    Scale.MICROSECONDS: lambda number: number.scaleb(-6),
    Scale.PERCENT: lambda number: number.scaleb(-2),
    Scale.KIBIBYTES: lambda number: number * 1024,
}


def _cpu_time(text: str) -> str | None:
    """Read ``1.500000``, and ``1:500000`` in which the second part is whole microseconds."""
    found = _CPU_TIME.match(text)
    if not found:
        return None
    seconds, separator, fraction = found.groups()
    return f"{seconds}.{fraction if separator == '.' else fraction.zfill(6)}"
