"""Moments as people read them."""

from datetime import UTC, datetime

from exporter.health.words import time


def ago(then: float, now: float) -> str:
    """Return how long a Unix time is ago, in whole seconds or less exact."""
    seconds = round(now - then)
    return f"{time(seconds)} ago" if seconds >= 1 else "just now"


def moment(then: float) -> str:
    """Return a Unix time with its date, in UTC."""
    return datetime.fromtimestamp(then, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
