"""The shape of a dashboard: what a table of panels is made of.

Expressions have four short forms. ``{$on}`` stands for the matchers that choose servers,
``{$host}`` for those of what has no server, such as a network card; further matchers may follow:
``x{$on, command="get"}``. ``by ($by)`` keeps what names a server, ``[$span]`` is the window that
fits the time between scrapes.
"""

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What a panel draws."""

    TIME_SERIES = "timeseries"
    STAT = "stat"
    BARS = "bargauge"
    TABLE = "table"
    HEATMAP = "heatmap"


class Step(msgspec.Struct, frozen=True):
    """A colour from a number on."""

    colour: str
    threshold: str | float | None
    """A threshold by its name, such as ``connections.warning``, or a number; None is the base."""
    factor: float = 1
    """What the threshold is multiplied by."""


class Query(msgspec.Struct, frozen=True):
    """One query of a panel."""

    expr: str
    legend: str = ""


class Column(msgspec.Struct, frozen=True):
    """A column of numbers in a table, or a label of its rows when there is no expression."""

    title: str
    """Empty for a column that is not shown."""
    expr: str = ""
    label: str = ""
    unit: str = "short"
    steps: tuple[Step, ...] = ()
    words: tuple[tuple[float, str, str], ...] = ()
    """Numbers shown as words: the number, the word, its colour."""
    link: tuple[str, str] = ("", "")
    """Title and URL of where a click leads."""
    least: int = 0
    """Pixels that it needs at least to be read; 0 for a column of numbers or short words."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One panel."""

    title: str
    text: str
    """How to read it, and what to do."""
    kind: Kind = Kind.TIME_SERIES
    unit: str = "short"
    queries: tuple[Query, ...] = ()
    columns: tuple[Column, ...] = ()
    """Of a table, instead of queries."""
    sorted_by: str = ""
    """Title of the column by which rows of a table are sorted at first."""
    highest_first: bool = False
    steps: tuple[Step, ...] = ()
    words: tuple[tuple[float, str, str], ...] = ()
    """Numbers shown as words: the number, the word, its colour."""
    runbooks: tuple[str, ...] = ()
    """Alerts whose runbooks say more."""
    width: int = 8
    """In columns; a board has 24."""
    height: int = 8
    stack: bool = False
    """Whether series lie on top of each other."""
    highest: float | None = None
    """Where the axis ends; None for where the data does."""
    decimals: int | None = None


class Section(msgspec.Struct, frozen=True):
    """A row of panels under a heading."""

    title: str
    panels: tuple[Panel, ...]
    folded: bool = False
    """Whether it is closed at first: for what few have, or few look at."""


class Board(msgspec.Struct, frozen=True):
    """A dashboard."""

    uid: str
    title: str
    text: str
    sections: tuple[Section, ...]


def above(warning: str | float, critical: str | float | None = None) -> tuple[Step, ...]:
    """Return steps for a number that is bad when it is high."""
    steps = (Step("green", None), Step("orange", warning))
    return steps if critical is None else (*steps, Step("red", critical))


def below(critical: str | float, warning: str | float | None = None) -> tuple[Step, ...]:
    """Return steps for a number that is bad when it is low."""
    if warning is None:
        return (Step("red", None), Step("green", critical))
    return (Step("red", None), Step("orange", critical), Step("green", warning))


ANY = 1e-9
"""The threshold of what should never happen."""
NEVER = (Step("green", None), Step("red", ANY))
"""Steps for a number that is 0 when all is well."""
