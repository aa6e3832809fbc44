"""A sheet to draw on, in pixels from its upper left corner."""

from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Literal, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextPath
from PIL import Image

BACK = "#111217"
PANEL = "#181b1f"
BORDER = "#2c3036"
TEXT = "#d5d6e0"
FAINT = "#8e9099"
_DPI = 100
_COLOURS = 256


class Box(NamedTuple):
    """A part of the sheet."""

    x: float
    y: float
    width: float
    height: float

    def within(self, left: float = 0, top: float = 0, right: float = 0, bottom: float = 0) -> "Box":
        """Return what is left of it inside of margins."""
        width, height = self.width - left - right, self.height - top - bottom
        return Box(self.x + left, self.y + top, width, height)


class Paper:
    """A sheet; ``save`` writes it as a PNG."""

    def __init__(self, width: float, height: float) -> None:
        self._size = width, height
        self._figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor=BACK)
        self.page = self._figure.add_axes((0, 0, 1, 1))
        self.page.set_axis_off()
        self.page.set_xlim(0, width)
        self.page.set_ylim(height, 0)

    def box(self, box: Box, colour: str, edge: str = "none", opacity: float = 1) -> None:
        """Draw a rectangle."""
        self.page.add_patch(
            Rectangle(
                (box.x, box.y),
                box.width,
                box.height,
                facecolor=colour,
                edgecolor=edge,
                linewidth=0.7,
                alpha=opacity,
            )
        )

    def text(  # noqa: PLR0913  # each is something that text has
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 12,
        colour: str = TEXT,
        align: Literal["left", "center", "right"] = "left",
        bold: bool = False,
        room: float | None = None,
    ) -> None:
        """Write words around the line at ``y``; what has no room in so many pixels is cut off."""
        self.page.text(
            x,
            y,
            words if room is None else cut(words, size, room),
            fontsize=_points(size),
            color=colour,
            ha=align,
            va="center_baseline",
            weight="bold" if bold else "normal",
            parse_math=False,
        )

    def plot(self, box: Box) -> Axes:
        """Return axes for a plot in a part of the sheet."""
        width, height = self._size
        axes = self._figure.add_axes(
            (
                box.x / width,
                1 - (box.y + box.height) / height,
                box.width / width,
                box.height / height,
            ),
            facecolor=PANEL,
        )
        axes.tick_params(colors=FAINT, labelsize=_points(11), length=0, pad=6)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return axes

    def save(self, path: Path) -> None:
        """Write the sheet in few colours, as a picture in a document should be small."""
        drawn = BytesIO()
        self._figure.savefig(drawn, format="png", dpi=_DPI)
        picture = Image.open(drawn).convert("RGB")
        picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _points(pixels: float) -> float:
    return pixels * 72 / _DPI


@cache
def width_of(words: str, size: float) -> float:
    """Return how many pixels words are wide, in letters so many pixels high."""
    return float(TextPath((0, 0), words, size=size).get_extents().width) if words else 0.0


def cut(words: str, size: float, room: float) -> str:
    """Return as much of the words as has room in so many pixels."""
    if width_of(words, size) <= room:
        return words
    fitting = len(words)
    while fitting and width_of(words[:fitting] + "…", size) > room:
        fitting -= 1
    return words[:fitting] + "…"
