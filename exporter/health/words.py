"""Numbers and texts as people read them."""

_SIZES = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_TIMES = ((172_800, 86_400, "d"), (7_200, 3_600, "h"), (120, 60, "min"), (1, 1, "s"))
"""From how many seconds on a unit is used, its seconds, and its name."""
_WHOLE, _LEAST = 100, 0.001


def amount(number: float) -> str:
    """Return a number: ``1,234,567``, ``12.3``, ``0.05``, or ``<0.001``."""
    if abs(number) >= _WHOLE or float(number).is_integer():
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= _LEAST else f"<{_LEAST}"


def count(number: float, one: str, more: str = "") -> str:
    """Return a number of things: ``1 item`` or ``3 items``, of which ``more`` is the plural."""
    return f"{amount(number)} {one if number == 1 else more or one + 's'}"


def twice(number: float | None) -> str:
    """Return twice a number as options take it, ``N`` when it is not known."""
    return f"{2 * number:.0f}" if number else "N"


def share(ratio: float) -> str:
    """Return a ratio in per cent: ``83 %`` or ``0.5 %``."""
    return f"{amount(100 * ratio)} %"


def size(number: float) -> str:
    """Return bytes: ``1.5 GiB``, ``64 MiB`` or ``12 B``."""
    for name, unit in _SIZES:
        if number >= unit:
            return f"{amount(number / unit)} {name}"
    return f"{amount(number)} B"


def time(seconds: float) -> str:
    """Return a time in seconds: ``3 d``, ``2 h``, ``30 min``, ``5 s`` or ``0.25 ms``."""
    if not seconds:
        return "0 s"
    for least, unit, name in _TIMES:
        if seconds >= least:
            return f"{amount(seconds / unit)} {name}"
    return f"{amount(1000 * seconds)} ms"


def visible(line: str) -> str:
    """Return a line without characters that a terminal would obey."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in line
    )
