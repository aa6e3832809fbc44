"""Durations as Go and Prometheus write them: ``1s``, ``500ms``, ``1m30s``."""

import re

PATTERN = r"^([0-9]+(\.[0-9]+)?(us|ms|s|m|h))+$(?!\n)"
"""Its end refuses a line end, before which `$` alone would match."""
REMEDY = "write a duration with its unit, such as 500ms, 1s or 1m30s"

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Return the seconds that the text stands for; raise ValueError with the remedy."""
    if not re.match(PATTERN, text):
        raise ValueError(f'"{text}" is no duration: {REMEDY}')
    return sum(
        float(number) * _SECONDS[unit]
        for number, _, unit in re.findall(r"([0-9]+(\.[0-9]+)?)(us|ms|s|m|h)", text)
    )
