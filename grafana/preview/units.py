"""Numbers with their unit, as Grafana writes them."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
_DECIMAL = ("f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P")
_COUNTS = ("", "K", "M", "B", "T")
_SHORT = ("", " K", " Mil", " Bil", " Tri")
_SECONDS = (
    (1e-6, 1e-9, "ns"),
    (1e-3, 1e-6, "µs"),
    (1, 1e-3, "ms"),
    (60, 1, "s"),
    (3600, 60, "min"),
    (86400, 3600, "hour"),
    (604800, 86400, "day"),
    (31536000, 604800, "week"),
    (math.inf, 3.15569e7, "year"),
)
"""Below how many seconds which unit is used, and how many seconds it has."""
_DAYS = ((7, 1, "day"), (365, 7, "week"), (math.inf, 365, "year"))


class _Scaled(NamedTuple):
    number: float
    suffix: str


def formatted(number: float, unit: str, decimals: int | None = None) -> str:
    """Return a number with its unit; KeyError for a unit that no board uses."""
    if unit == "bool":
        return "True" if number else "False"
    scaled = _SCALES[unit](number)
    return _fixed(scaled.number, decimals) + scaled.suffix


def _fixed(number: float, decimals: int | None) -> str:
    text = f"{number:.{_digits(number) if decimals is None else decimals}f}"
    # What was not asked for with so many digits loses noughts at the end.
    return text.rstrip("0").rstrip(".") if decimals is None and "." in text else text


def _digits(number: float) -> int:
    """Return how many digits after the point make three of those that matter."""
    return 0 if number % 1 == 0 else max(0, 2 - math.floor(math.log10(abs(number))))


def _stepped(base: float, units: Sequence[str], first: int, number: float) -> _Scaled:
    """Return a number in the largest unit that leaves 1; the plain one is ``units[first]``."""
    power = math.floor(math.log(abs(number), base) + 1e-12) if number else 0
    power = min(max(power, -first), len(units) - 1 - first)
    return _Scaled(number / base**power, units[first + power])


def _listed(units: Sequence[tuple[float, float, str]], nought: str, number: float) -> _Scaled:
    if not number:
        return _Scaled(0, f" {nought}")
    size, name = next((size, name) for below, size, name in units if abs(number) < below)
    return _Scaled(number / size, f" {name}")


def _counted(symbol: str) -> partial[_Scaled]:
    return partial(_stepped, 1000, [f"{unit} {symbol}" for unit in _COUNTS], 0)


_SCALES: dict[str, Callable[[float], _Scaled]] = {
    "none": lambda number: _Scaled(number, ""),
    "short": partial(_stepped, 1000, _SHORT, 0),
    "percentunit": lambda number: _Scaled(number * 100, "%"),
    "bytes": partial(_stepped, 1024, [f" {unit}B" for unit in _BINARY], 0),
    "Bps": partial(_stepped, 1000, [f" {unit}B/s" for unit in _DECIMAL], 5),
    "ops": _counted("ops/s"),
    "cps": _counted("c/s"),
    "reqps": _counted("req/s"),
    "s": partial(_listed, _SECONDS, "s"),
    "d": partial(_listed, _DAYS, "day"),
}
