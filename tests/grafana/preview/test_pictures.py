"""The pictures in docs: one for each board, in step with it, and small."""

import re

import pytest
from PIL import Image

from grafana.preview.board import DASHBOARDS, PICTURES, WIDTH, height, load
from tests.grafana.boards import boards

DOCUMENT = PICTURES.parent / "dashboards.md"
MOST = 400_000
MOST_OF_ALL = 1_500_000
"""Bytes."""


def test_each_board_is_shown() -> None:
    """The document has a picture of each board, and there are no others."""
    shown = re.findall(r"!\[[^]]+\]\(pictures/([\w-]+)\.png\)", DOCUMENT.read_text())
    assert sorted(shown) == sorted(boards())
    assert sorted(path.stem for path in PICTURES.iterdir()) == sorted(boards())


@pytest.mark.parametrize("name", boards())
def test_pictures_are_in_step(name: str) -> None:
    """A picture is as high as its board is now; else `make pictures` draws it anew."""
    with Image.open(PICTURES / f"{name}.png") as picture:
        wanted = (WIDTH, height(load(DASHBOARDS / f"{name}.json"), opened=False))
        assert picture.size == wanted, "the board has changed: make pictures"


def test_pictures_are_small() -> None:
    """Nobody waits long for a document or a clone because of them."""
    sizes = [path.stat().st_size for path in PICTURES.iterdir()]
    assert max(sizes) <= MOST
    assert sum(sizes) <= MOST_OF_ALL
