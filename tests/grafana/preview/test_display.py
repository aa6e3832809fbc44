"""Texts and colours of values, by a field's configuration."""

from typing import Any

import pytest

from grafana.preview.display import NAMED, Shown, shown, steps, threshold_colour
from tests.grafana.boards import boards, panels, strings

STEPS: list[dict[str, Any]] = [
    {"color": "red", "value": None},
    {"color": "orange", "value": 0.8},
    {"color": "green", "value": 0.95},
]
CONFIG: dict[str, Any] = {"unit": "percentunit", "thresholds": {"steps": STEPS}}
EMPTY = {
    "type": "special",
    "options": {"match": "null+nan", "result": {"text": "", "color": "transparent"}},
}
WORDS = {
    "type": "value",
    "options": {"0": {"text": "down", "color": "red"}, "1": {"text": "up", "color": "green"}},
}


@pytest.mark.parametrize(
    ("number", "colour"),
    [(-1, "red"), (0.7999, "red"), (0.8, "orange"), (0.9499, "orange"), (0.95, "green")],
)
def test_thresholds(number: float, colour: str) -> None:
    """A threshold is reached at its own number."""
    assert threshold_colour(number, STEPS) == colour
    assert shown(number, CONFIG).colour == NAMED[colour]


def test_what_is_missing_is_red_unless_it_is_mapped() -> None:
    """An empty cell has the lowest colour, as in Grafana; a mapping takes it away."""
    assert shown(None, CONFIG) == Shown("", NAMED["red"])
    assert shown(None, CONFIG | {"mappings": [EMPTY]}) == Shown("", "none")
    assert shown(0.9, CONFIG | {"mappings": [EMPTY]}) == Shown("90%", NAMED["orange"])


def test_words() -> None:
    """A number that has a word shows it in its own colour; others are numbers."""
    config = CONFIG | {"mappings": [WORDS, EMPTY]}
    assert shown(0.0, config) == Shown("down", NAMED["red"])
    assert shown(1.0, config) == Shown("up", NAMED["green"])
    assert shown(0.5, config) == Shown("50%", NAMED["red"])


def test_labels() -> None:
    """A label is shown as it is."""
    assert shown("127.0.0.1:11211", {"unit": "short"}).text == "127.0.0.1:11211"


def test_cells_without_a_number_have_no_colour_on_any_board() -> None:
    """A server without gets is not red: all coloured columns of the boards have the mapping."""
    coloured = 0
    for board in boards().values():
        for panel in panels(board):
            for override in panel["fieldConfig"]["overrides"]:
                properties = {one["id"]: one["value"] for one in override["properties"]}
                if "custom.cellOptions" in properties:
                    coloured += 1
                    config = {
                        "mappings": properties["mappings"],
                        "thresholds": properties.get("thresholds", {}),
                    }
                    assert shown(None, config) == Shown("", "none"), override["matcher"]
    assert coloured >= 10


def test_what_is_bad_when_low_is_seen_below_its_line() -> None:
    """The axis of such a graph ends above its highest threshold, however low the data is."""
    found = set()
    for board in boards().values():
        for panel in panels(board):
            config = panel["fieldConfig"]["defaults"]
            colours = [step["color"] for step in steps(config)]
            if panel["type"] == "timeseries" and colours[0] != "green":
                found.add(panel["title"])
                highest = config.get("max") or config["custom"]["axisSoftMax"]
                assert highest > steps(config)[-1]["value"], panel["title"]
    assert {"Age of evicted items", "Certificates that end", "Hit rate by job"} <= found


def test_all_colours_of_the_boards_are_known() -> None:
    """Each colour that a board names can be drawn."""
    used = {colour for board in boards().values() for colour in strings(board, "color")}
    assert {"red", "orange", "green"} <= used <= set(NAMED)
    assert steps({}) == []
