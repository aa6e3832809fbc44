"""What bars and tables are made of."""

from typing import Any

import pytest

from grafana.preview.board import pixels
from grafana.preview.display import NAMED, Shown
from grafana.preview.frames import column_config
from grafana.preview.paper import Box
from grafana.preview.prometheus import Series
from grafana.preview.tiles import bars, column_widths, sorted_rows
from tests.grafana.boards import boards, panels

STEPS = [{"color": "green", "value": None}, {"color": "orange", "value": 0.8}]


def panel(**config: Any) -> dict[str, Any]:
    """Return a panel of bars."""
    defaults = {"unit": "percentunit", "thresholds": {"steps": STEPS}} | config
    targets = [{"refId": "A", "legendFormat": "{{server}}"}]
    return {"targets": targets, "fieldConfig": {"defaults": defaults}}


ANSWERS = {"A": [Series({"server": "a"}, [(0, 0.9)]), Series({"server": "b"}, [(0, 0.3)])]}


def test_bars() -> None:
    """The longest bar is the highest number, or the most that there can be."""
    first, second = bars(panel(), ANSWERS)
    assert first == ("a", 1, Shown("90%", NAMED["orange"]))
    assert (second[0], second[2]) == ("b", Shown("30%", NAMED["green"]))
    assert second[1] == pytest.approx(1 / 3)
    assert [share for _, share, _ in bars(panel(max=1), ANSWERS)] == [0.9, 0.3]


def test_bars_of_noughts() -> None:
    """Where all is 0 no bar has a length."""
    answers = {"A": [Series({"server": "a"}, [(0, 0.0)])]}
    assert bars(panel(), answers) == [("a", 0, Shown("0%", NAMED["green"]))]


@pytest.mark.parametrize(
    ("least", "widths"),
    [
        ([60, 60, 60, 60], [100, 100, 100, 100]),
        ([170, 60, 60, 60], [170, 230 / 3, 230 / 3, 230 / 3]),
        ([170, 90, 60, 60], [170, 90, 70, 70]),
        ([None, 60, 60, 60], [150, 250 / 3, 250 / 3, 250 / 3]),
        ([None, None, None, None], [150, 150, 150, 150]),
    ],
)
def test_column_widths(least: list[int | None], widths: list[float]) -> None:
    """Columns share the width, but for those that need more; 150 pixels where nothing is said."""
    configs = [{"custom": {} if one is None else {"minWidth": one}} for one in least]
    assert column_widths(configs, 400) == pytest.approx(widths)


def test_all_columns_of_the_boards_are_seen() -> None:
    """On a screen as wide as the pictures nobody scrolls a table to the side."""
    tables = [
        panel for board in boards().values() for panel in panels(board) if panel["type"] == "table"
    ]
    for table in tables:
        place = table["gridPos"]
        room = pixels(Box(place["x"], place["y"], place["w"], place["h"])).width - 16
        (organize,) = (one for one in table["transformations"] if one["id"] == "organize")
        titles = [title for title in organize["options"]["renameByName"].values() if title]
        widths = column_widths([column_config(table, title) for title in titles], room)
        assert sum(widths) <= room + 1e-6, table["title"]
    assert len(tables) == 8


def test_sorted_rows() -> None:
    """The highest is on top, and what has no number is below; words are in order."""
    rows: list[dict[str, float | str]] = [
        {"Server": "a", "Evictions": 2.0},
        {"Server": "b"},
        {"Server": "c", "Evictions": 7.0},
    ]
    by = {"options": {"sortBy": [{"displayName": "Evictions", "desc": True}]}}
    assert [row["Server"] for row in sorted_rows(by, rows)] == ["c", "a", "b"]
    by = {"options": {"sortBy": [{"displayName": "Server", "desc": False}]}}
    assert [row["Server"] for row in sorted_rows(by, rows[::-1])] == ["a", "b", "c"]
    assert sorted_rows({"options": {"sortBy": []}}, rows) == rows
