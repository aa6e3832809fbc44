"""Panels of the present moment: tiles with a number, bars, tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from grafana.preview.display import Shown, shown
from grafana.preview.frames import Row, column_config, legend
from grafana.preview.paper import BACK, BORDER, FAINT, PANEL, TEXT, Box, Paper, width_of
from grafana.preview.prometheus import Series

_ROW = 36
_HALF_A_TITLE = 16
_LEAST_WIDTH = 150
_NAMES = 0.5
_ABOVE = 18
_LOW_BAR = 40
"""Up to this height, in pixels, names stand before bars."""
_TALLEST_BAR = 300


def draw_stat(paper: Paper, box: Box, panel: Mapping[str, Any], series: Series) -> None:
    """Draw one number as large as fits, on its colour where the panel has thresholds."""
    found = shown(series.points[-1][1], panel["fieldConfig"]["defaults"])
    coloured = panel["options"]["colorMode"] == "background"
    if coloured:
        paper.box(box.within(left=6, right=6, bottom=6), found.colour, opacity=0.85)
    size = min(box.height * 0.5, 12 * (box.width - 40) / (1.1 * width_of(found.text, 12)))
    middle = box.x + box.width / 2, box.y + box.height / 2 - 3
    colour = BACK if coloured else TEXT
    paper.text(*middle, found.text, size=size, colour=colour, align="center", bold=coloured)


def bars(
    panel: Mapping[str, Any], answers: Mapping[str, Sequence[Series]]
) -> list[tuple[str, float, Shown]]:
    """Return name, length from 0 to 1, and what is written at the end of each bar."""
    config = panel["fieldConfig"]["defaults"]
    found = [
        (legend(series, target["legendFormat"]), series.points[-1][1])
        for target in panel["targets"]
        for series in answers[target["refId"]]
    ]
    most = config.get("max") or max((number for _, number in found), default=0) or 1
    return [(name, min(max(number / most, 0), 1), shown(number, config)) for name, number in found]


def draw_bars(paper: Paper, box: Box, found: Sequence[tuple[str, float, Shown]]) -> None:
    """Draw a bar for each series, its number after it, and its name above it or before it."""
    height = min(box.height / len(found), _TALLEST_BAR)
    above = _ABOVE if height > _LOW_BAR else 0
    numbers = max(width_of(now.text, 13) for _, _, now in found) + 12
    widest = max(width_of(name, 12) for name, _, _ in found) + 12
    names = 0 if above else min(widest, (box.width - 16) * _NAMES)
    for place, (name, share, now) in enumerate(found):
        row = Box(box.x + 8, box.y + place * height, box.width - 16, height - 4)
        y = row.y + (above or row.height) / 2
        paper.text(row.x, y, name, size=12, room=row.width if above else names - 8)
        bar = row.within(left=names, top=above, right=numbers)
        paper.box(bar, BORDER, opacity=0.6)
        paper.box(bar._replace(width=max(bar.width * share, 1)), now.colour, opacity=0.9)
        middle = row.x + row.width, bar.y + bar.height / 2
        paper.text(*middle, now.text, size=13, colour=now.colour, align="right")


def column_widths(configs: Sequence[Mapping[str, Any]], width: float) -> list[float]:
    """Return how wide columns are: all alike, but for those that need more than their share."""
    least = [config["custom"].get("minWidth", _LEAST_WIDTH) for config in configs]
    wide: dict[int, float] = {}
    # What needs more than its share leaves less to the others, who may then need more as well.
    for _ in configs:
        share = (width - sum(wide.values())) / max(len(configs) - len(wide), 1)
        wide |= {place: most for place, most in enumerate(least) if most > share}
    share = (width - sum(wide.values())) / max(len(configs) - len(wide), 1)
    return [wide.get(place, share) for place in range(len(configs))]


def sorted_rows(panel: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    """Return rows as a table shows them at first; those without a number are the lowest."""
    made = list(rows)
    for by in panel["options"]["sortBy"]:
        made.sort(key=lambda row: _rank(row.get(by["displayName"])), reverse=by["desc"])
    return made


def _rank(value: float | str | None) -> tuple[float, str]:
    if value is None:
        return float("-inf"), ""
    return (0, value) if isinstance(value, str) else (value, "")


def draw_table(
    paper: Paper, box: Box, panel: Mapping[str, Any], titles: Sequence[str], rows: Sequence[Row]
) -> None:
    """Draw a table; columns and rows without room are left to those who scroll."""
    configs = [column_config(panel, title) for title in titles]
    widths = column_widths(configs, box.width - 16)
    fitting = int((box.height - _ROW) // _ROW)
    right = box.x + box.width - 8
    x = box.x + 8
    for title, config, width in zip(titles, configs, widths, strict=True):
        if x + 1 >= right:
            break
        room = min(width, right - x)
        numeric = any(isinstance(row.get(title), int | float) for row in rows)
        for place, row in enumerate([None, *rows[:fitting]]):
            cell = Box(x, box.y + place * _ROW, room, _ROW)
            now = Shown(title, "none") if row is None else shown(row.get(title), config)
            _draw_cell(
                paper,
                cell,
                now,
                header=row is None,
                link=bool(config.get("links")),
                coloured=config["custom"]["cellOptions"]["type"] == "color-background",
                right=numeric,
            )
        x += width
    if len(rows) > fitting:
        note = f"{len(rows) - fitting} more when you scroll"
        paper.text(right, box.y - _HALF_A_TITLE, note, size=11, colour=FAINT, align="right")


def _draw_cell(  # noqa: PLR0913  # each is something that a cell has
    paper: Paper,
    box: Box,
    now: Shown,
    *,
    header: bool,
    link: bool,
    coloured: bool,
    right: bool,
) -> None:
    paper.box(box, PANEL, BORDER)
    plain = header or not coloured or now.colour == "none"
    if not plain:
        paper.box(box.within(1, 1, 1, 1), now.colour, opacity=0.85)
    colour = "#6e9fff" if header or link else TEXT if plain else BACK
    x = box.x + box.width - 8 if right else box.x + 8
    paper.text(
        x,
        box.y + box.height / 2,
        now.text,
        size=12.5,
        colour=colour,
        align="right" if right else "left",
        room=box.width - 12,
    )
