"""Where panels stand: from left to right, as long as they fit in the grid."""

from collections.abc import Sequence
from typing import Any

from grafana.source.shape import Panel

COLUMNS = 24


def places(panels: Sequence[Panel], top: int) -> tuple[list[dict[str, Any]], int]:
    """Return the place of each panel below a line of the grid, and the first free line."""
    found: list[dict[str, Any]] = []
    left, height = 0, 0
    for panel in panels:
        if left + panel.width > COLUMNS:
            left, top, height = 0, top + height, 0
        found.append({"h": panel.height, "w": panel.width, "x": left, "y": top})
        left, height = left + panel.width, max(height, panel.height)
    return found, top + height
