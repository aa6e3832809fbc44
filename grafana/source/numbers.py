"""Thresholds and words for numbers, as Grafana's JSON."""

from collections.abc import Sequence
from typing import Any

from exporter.health.thresholds import Thresholds
from grafana.source.shape import Step


def steps_json(steps: Sequence[Step], thresholds: Thresholds) -> dict[str, Any]:
    """Return steps of colours, with the numbers of the thresholds."""
    made = [{"color": step.colour, "value": _number(step, thresholds)} for step in steps]
    return {"mode": "absolute", "steps": made or [{"color": "green", "value": None}]}


def _number(step: Step, thresholds: Thresholds) -> float | None:
    found: Any = step.threshold
    if isinstance(found, str):
        found, path = thresholds, found
        for name in path.split("."):
            found = getattr(found, name)
    return None if found is None else found * step.factor


def words_json(words: Sequence[tuple[float, str, str]]) -> list[dict[str, Any]]:
    """Return the mapping of numbers to words."""
    if not words:
        return []
    options = {
        f"{number:g}": {"index": index, "text": word, "color": colour}
        for index, (number, word, colour) in enumerate(words)
    }
    return [{"type": "value", "options": options}]
