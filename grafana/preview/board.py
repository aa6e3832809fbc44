"""A board as one picture: rows, and panels in their places."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grafana.preview import graphs, tiles
from grafana.preview.frames import organized, table
from grafana.preview.paper import BORDER, FAINT, PANEL, Box, Paper, width_of
from grafana.preview.prometheus import Series, Source
from grafana.preview.variables import Span, chosen, filled, span

_ROOT = Path(__file__).parents[2]
DASHBOARDS = _ROOT / "grafana" / "dashboards"
PICTURES = _ROOT / "docs" / "pictures"
WIDTH = 1600
COLUMNS = 24
LINE = 38
"""Pixels of a line of the grid, of which the last ones are between panels."""
_GAP = 8
_MARGIN = 16
_HEAD = 92
_TITLE = 32
_MARK_STEP = 60.0

Panel = Mapping[str, Any]


class View(NamedTuple):
    """What of a board is looked at."""

    now: float
    """In seconds since 1970."""
    seconds: float
    """How much of the past graphs show."""
    scrape_interval: float
    choices: Mapping[str, list[str]]
    """Values of variables; what is not in it is at All."""
    opened: bool = False
    """Whether closed rows are opened."""


def load(path: Path) -> dict[str, Any]:
    """Return a board as it is stored."""
    board: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return board


def placed(board: Mapping[str, Any], *, opened: bool) -> Iterator[tuple[Panel, Box]]:
    """Yield the panels and headings of rows with their places, in columns and lines of the grid."""
    moved = 0
    for panel in board["panels"]:
        yield panel, _place(panel, moved)
        if opened and panel.get("collapsed"):
            for inner in panel["panels"]:
                yield inner, _place(inner, moved)
            top = panel["gridPos"]["y"] + 1
            places = [inner["gridPos"] for inner in panel["panels"]]
            moved += max(place["y"] + place["h"] for place in places) - top


def _place(panel: Panel, moved: int) -> Box:
    place = panel["gridPos"]
    return Box(place["x"], place["y"] + moved, place["w"], place["h"])


def pixels(place: Box) -> Box:
    """Return where a place of the grid is on the sheet."""
    column = (WIDTH - 2 * _MARGIN + _GAP) / COLUMNS
    return Box(
        _MARGIN + place.x * column,
        _HEAD + place.y * LINE,
        place.width * column - _GAP,
        place.height * LINE - _GAP,
    )


def height(board: Mapping[str, Any], *, opened: bool) -> int:
    """Return how many pixels high the picture of a board is."""
    lines = max(place.y + place.height for _, place in placed(board, opened=opened))
    return round(_HEAD + lines * LINE + _MARGIN)


def draw(board: Mapping[str, Any], source: Source, view: View) -> Paper:
    """Draw a board with what the source answers now."""
    paper = Paper(WIDTH, height(board, opened=view.opened))
    _draw_head(paper, board, view)
    values = chosen(board, view.choices)
    marks = _marks(board, source, view, values)
    for panel, place in placed(board, opened=view.opened):
        box = pixels(place)
        if panel["type"] == "row":
            _draw_row(paper, box, panel, opened=view.opened)
        else:
            times = span(view.now, view.seconds, round(box.width), view.scrape_interval)
            found = answers(panel, source, values, times, view.now)
            _draw_panel(paper, box, panel, found, graphs.Period(times, marks))
    return paper


def answers(
    panel: Panel, source: Source, values: Mapping[str, str], times: Span, now: float
) -> dict[str, list[Series]]:
    """Return the answers to a panel's queries by their letters, of series that have any number."""
    found = {}
    for target in panel["targets"]:
        expr = filled(target["expr"], values, times)
        answer = (
            source.instant(expr, now)
            if target["instant"]
            else source.range(expr, times.start, times.end, times.step)
        )
        found[target["refId"]] = [series for series in answer if series.points]
    return found


def _marks(
    board: Mapping[str, Any], source: Source, view: View, values: Mapping[str, str]
) -> list[tuple[float, float]]:
    """Return when alerts fired; all graphs have marks for them."""
    times = span(view.now, view.seconds, round(view.seconds / _MARK_STEP), view.scrape_interval)
    return sorted(
        {
            (series.points[0][0], series.points[-1][0])
            for annotation in board["annotations"]["list"]
            for series in source.range(
                filled(annotation["expr"], values, times), times.start, times.end, times.step
            )
            if series.points
        }
    )


def _draw_head(paper: Paper, board: Mapping[str, Any], view: View) -> None:
    paper.text(_MARGIN, 26, board["title"], size=20, bold=True)
    minutes = f"Last {round(view.seconds / 60)} minutes"
    paper.text(WIDTH - _MARGIN, 26, minutes, size=13, colour=FAINT, align="right")
    x = float(_MARGIN)
    for variable in board["templating"]["list"]:
        if variable["hide"]:
            continue
        name = variable["label"]
        value = " + ".join(view.choices.get(variable["name"], ["All"]))
        if variable["type"] == "datasource":
            value = "Prometheus"
        for words, back in ((name, BORDER), (value, PANEL)):
            width = width_of(words, 12) + 20
            paper.box(Box(x, 48, width, 28), back, BORDER)
            paper.text(x + 10, 62, words, size=12)
            x += width
        x += 12
    right = float(WIDTH - _MARGIN)
    for link in reversed(board["links"]):
        paper.text(right, 62, f"▦ {link['title']}", size=12, colour=FAINT, align="right")
        right -= width_of(f"▦ {link['title']}", 12) + 24


def _draw_row(paper: Paper, box: Box, row: Panel, *, opened: bool) -> None:
    middle = box.y + box.height / 2
    closed = row["collapsed"] and not opened
    paper.text(box.x, middle, "▸" if closed else "▾", size=14, colour=FAINT)
    paper.text(box.x + 18, middle, row["title"], size=15, bold=True)
    if closed:
        x = box.x + 18 + width_of(row["title"], 15) * 1.12 + 12
        paper.text(x, middle, f"({len(row['panels'])} panels)", size=12, colour=FAINT)


def _draw_panel(
    paper: Paper,
    box: Box,
    panel: Panel,
    found: Mapping[str, Sequence[Series]],
    period: graphs.Period,
) -> None:
    paper.box(box, PANEL, BORDER)
    paper.text(
        box.x + 10, box.y + _TITLE / 2, panel["title"], size=13, bold=True, room=box.width - 40
    )
    inner = box.within(top=_TITLE, bottom=6)
    if not any(found.values()):
        middle = inner.x + inner.width / 2, inner.y + inner.height / 2
        paper.text(*middle, "No data", size=14, colour=FAINT, align="center")
        return
    match panel["type"]:
        case "timeseries":
            lines = graphs.lines(panel, found, period.times)
            graphs.draw_graph(paper, inner, panel, lines, period)
        case "heatmap":
            (answer,) = found.values()
            graphs.draw_heatmap(paper, inner, panel, answer, period.times)
        case "stat":
            ((series,),) = found.values()
            tiles.draw_stat(paper, inner, panel, series)
        case "bargauge":
            tiles.draw_bars(paper, inner, tiles.bars(panel, found))
        case "table":
            (organize,) = (
                one["options"] for one in panel["transformations"] if one["id"] == "organize"
            )
            titles, rows = organized(table(found), organize)
            tiles.draw_table(paper, inner, panel, titles, tiles.sorted_rows(panel, rows))
