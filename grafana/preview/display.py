"""How a number is shown: its text and its colour, by a field's configuration."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grafana.preview.units import formatted

NAMED = {
    "green": "#73bf69",
    "yellow": "#fade2a",
    "orange": "#ff9830",
    "red": "#f2495c",
    "blue": "#5794f2",
    "transparent": "none",
}
"""Colours of Grafana's dark theme by the names that boards use."""
PALETTE = (
    *("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#705da0"),
    *("#37872d", "#fade2a", "#447ebc", "#c15c17", "#890f02", "#0a437c", "#6d1f62", "#584477"),
    *("#b7dbab", "#f4d598", "#70dbed", "#f9ba8f", "#f29191", "#82b5d8", "#e5a8e2", "#aea2e0"),
)
"""Colours of series in a graph, one after the other."""


class Shown(NamedTuple):
    """What stands in a cell, on a bar or in a tile."""

    text: str
    colour: str


def shown(value: float | str | None, config: Mapping[str, Any]) -> Shown:
    """Return text and colour of a value; what is missing has the colour of the lowest threshold."""
    text, colour = _mapped(value, config.get("mappings", ()))
    if isinstance(value, int | float):
        if text is None:
            text = formatted(value, config.get("unit", "none"), config.get("decimals"))
        number = value
    else:
        if text is None:
            text = value or ""
        number = float("-inf")
    return Shown(text, NAMED[colour or threshold_colour(number, steps(config))])


def steps(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the thresholds of a field, from the lowest."""
    found: list[dict[str, Any]] = config.get("thresholds", {}).get("steps", [])
    return found


def threshold_colour(number: float, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the colour of the highest threshold that a number reaches."""
    reached = [step for step in steps if step["value"] is None or number >= step["value"]]
    return str(reached[-1]["color"]) if reached else "green"


def _mapped(
    value: float | str | None, mappings: Sequence[Mapping[str, Any]]
) -> tuple[str | None, str | None]:
    """Return the word for a value and its colour, where there is one."""
    for mapping in mappings:
        if mapping["type"] == "value" and isinstance(value, int | float):
            found = mapping["options"].get(f"{value:g}")
        elif mapping["type"] == "special" and mapping["options"]["match"] == "null+nan":
            found = mapping["options"]["result"] if value is None else None
        else:
            found = None
        if found:
            return found.get("text"), found.get("color")
    return None, None
