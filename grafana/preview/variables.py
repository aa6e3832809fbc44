"""What Grafana puts into queries: the chosen values of variables, and times."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from grafana.preview.prometheus import PreviewError

_PLACE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
_SPECIAL = re.compile(r"[\\$^*{}\[\]'+?.()|]")
_ROUND = (
    (0.75, 0.5),
    (1.5, 1),
    (3.5, 2),
    (7.5, 5),
    (12.5, 10),
    (17.5, 15),
    (25, 20),
    (45, 30),
    (90, 60),
    (210, 120),
    (450, 300),
    (750, 600),
    (1050, 900),
    (1500, 1200),
    (2700, 1800),
    (5400, 3600),
)
"""Up to how many seconds between points Grafana makes which of it."""


class Span(NamedTuple):
    """The times of a panel's queries, in seconds."""

    start: float
    end: float
    step: float
    rate_interval: float


def span(now: float, seconds: float, points: int, scrape_interval: float) -> Span:
    """Return the times of a graph that ends now and has room for so many points."""
    wanted = seconds / max(points, 1)
    rounded = next((made for most, made in _ROUND if wanted < most), 7200)
    step = max(rounded, scrape_interval)
    # Points lie at whole steps, so that a graph does not jitter when it is drawn anew.
    start, end = ((now - seconds) // step * step, now // step * step)
    return Span(start, end, step, max(step + scrape_interval, 4 * scrape_interval))


def chosen(board: Mapping[str, Any], choices: Mapping[str, list[str]]) -> dict[str, str]:
    """Return what each variable of a board stands for; those without a choice are at All.

    PreviewError for a choice of what is no variable of the board.
    """
    known = {one["name"] for one in board["templating"]["list"] if one["type"] == "query"}
    if choices.keys() - known:
        wrong = ", ".join(sorted(choices.keys() - known))
        raise PreviewError(f"{wrong}: no such variable; there are {', '.join(sorted(known))}")
    values = {}
    for variable in board["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "constant":
            values[name] = variable["query"]
        elif variable["type"] == "query":
            picked = choices.get(name)
            values[name] = _pattern(picked) if picked else variable["allValue"]
    return values


def _pattern(values: list[str]) -> str:
    """Return values as Grafana writes them between the quotes of a matcher."""
    # Escaped for the regular expression, and each backslash once more for the text in quotes.
    escaped = [_SPECIAL.sub(r"\\\g<0>", value).replace("\\", r"\\") for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def filled(text: str, values: Mapping[str, str], times: Span) -> str:
    """Return a query with variables and times put in; KeyError for one that is not known."""
    known = {**values, "__rate_interval": _duration(times.rate_interval)}
    return _PLACE.sub(lambda place: known[place[1] or place[2]], text)


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms" if seconds % 1 else f"{round(seconds)}s"
