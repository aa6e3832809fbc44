"""The boards fit Grafana's own model of a dashboard, as the foundation SDK has it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

BOARDS = sorted((Path(__file__).parents[2] / "grafana" / "dashboards").glob("*.json"))
NOT_IN_THE_MODEL = {
    # Grafana has them, as its own source and its boards show.
    ".annotations.list[].titleFormat",
    ".annotations.list[].textFormat",
    ".annotations.list[].tagKeys",
    ".annotations.list[].step",
    ".annotations.list[].useValueForTime",
}


def lost(board: Any, read: Any, path: str = "") -> Iterator[str]:
    """Yield where what was read and written again is not what the board says."""
    if isinstance(board, dict):
        for key, value in board.items():
            if key not in read:
                yield f"{path}.{key}"
            else:
                yield from lost(value, read[key], f"{path}.{key}")
    elif isinstance(board, list):
        if len(board) != len(read):
            yield path
        for value, other in zip(board, read, strict=False):
            yield from lost(value, other, f"{path}[]")
    elif board != read:
        yield path


def written_again(board: Any) -> Any:
    """Return what Grafana's model makes of a board."""
    return json.loads(JSONEncoder().encode(Dashboard.from_json(board)))


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_the_model_takes_all_of_it(path: Path) -> None:
    """No key is unknown to it, but those of annotations that it lacks."""
    board = json.loads(path.read_text())
    assert set(lost(board, written_again(board))) <= NOT_IN_THE_MODEL


@pytest.mark.parametrize(
    ("place", "key"),
    [((), "tittle"), (("panels", 0), "dataSource"), (("panels", 1, "gridPos"), "width")],
)
def test_an_unknown_key_is_noticed(place: tuple[str | int, ...], key: str) -> None:
    """The comparison finds what the model drops, on each level."""
    board = json.loads(BOARDS[0].read_text())
    spot = board
    for step in place:
        spot = spot[step]
    spot[key] = "x"
    assert any(found.endswith(f".{key}") for found in lost(board, written_again(board)))
