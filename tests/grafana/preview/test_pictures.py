"""The pictures in docs: one for each board, in step with it, and small."""

import re

import pytest
from PIL import Image

from grafana.preview.board import DASHBOARDS, PICTURES, WIDTH, height, load
from tests.grafana.boards import boards

DOCUMENT = PICTURES.parent / "dashboards.md"
README = PICTURES.parents[1] / "README.md"
MOST = 400_000
MOST_OF_ALL = 1_500_000
"""Bytes."""


def test_each_board_is_shown() -> None:
    """The document has a picture of each board, and there are none of boards that are gone."""
    shown = re.findall(r"!\[[^]]+\]\(pictures/([\w-]+)\.png\)", DOCUMENT.read_text())
    assert sorted(shown) == sorted(boards())
    assert sorted(path.stem for path in PICTURES.glob("memcached-*.png")) == sorted(boards())


def test_no_picture_is_forgotten() -> None:
    """Each is shown somewhere, so that none grows old unseen."""
    texts = [README, *DOCUMENT.parent.rglob("*.md")]
    told = "".join(text.read_text() for text in texts)
    assert [path.name for path in PICTURES.iterdir() if f"pictures/{path.name})" not in told] == []


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
