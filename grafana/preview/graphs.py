"""Graphs over time, and the heatmap."""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, MultipleLocator

from grafana.preview.display import NAMED, PALETTE, shown, steps
from grafana.preview.frames import legend
from grafana.preview.paper import BORDER, FAINT, TEXT, Box, Paper, width_of
from grafana.preview.prometheus import Series
from grafana.preview.variables import Span

_LEGEND_SHARE = 0.35
"""Most of a panel's height that a legend takes; one scrolls to see the rest."""
_LINE = 20
_SMALL = 11
_TIMES = 24
_TIME_STEPS = (60, 120, 300, 600, 900, 1800, 3600, 10800)
_MOST_TIMES = 6
"""Times of day below a graph, and how many seconds can be from one to the next."""
_NUMBER = 84
_BELOW = -0.02
"""Where the bars of alerts are: below the axis, in heights of a graph."""


class Period(NamedTuple):
    """What a graph's axis of time shows."""

    times: Span
    marks: list[tuple[float, float]]
    """From when to when, in seconds since 1970, an alert was firing."""


class Line(NamedTuple):
    """A series as a graph shows it."""

    name: str
    colour: str
    values: list[float]
    """One for each step; NaN where there is none."""

    @property
    def last(self) -> float:
        """The last number."""
        return next(value for value in reversed(self.values) if not math.isnan(value))

    @property
    def most(self) -> float:
        """The highest number."""
        return max(value for value in self.values if not math.isnan(value))


def lines(
    panel: Mapping[str, Any], answers: Mapping[str, Sequence[Series]], times: Span
) -> list[Line]:
    """Return the lines of a graph, in the order of its queries."""
    made: list[Line] = []
    for target in panel["targets"]:
        for series in answers[target["refId"]]:
            values = _at_each_step(series, times, math.nan)
            colour = PALETTE[len(made) % len(PALETTE)]
            made.append(Line(legend(series, target["legendFormat"]), colour, values))
    return made


def _steps(times: Span) -> list[float]:
    count = round((times.end - times.start) / times.step) + 1
    return [times.start + number * times.step for number in range(count)]


def _at_each_step(series: Series, times: Span, missing: float) -> list[float]:
    values = [missing] * len(_steps(times))
    for when, value in series.points:
        values[round((when - times.start) / times.step)] = value
    return values


def draw_graph(
    paper: Paper, box: Box, panel: Mapping[str, Any], found: Sequence[Line], period: Period
) -> None:
    """Draw lines, thresholds, when alerts fired, and the legend."""
    config = panel["fieldConfig"]["defaults"]
    times = period.times
    room = int(box.height * _LEGEND_SHARE // _LINE)
    rows = min(len(found) + 1, room)
    height = rows * _LINE
    _draw_legend(paper, box.within(top=box.height - height), found, rows - 1, config)
    stacked = config["custom"]["stacking"]["mode"] == "normal"
    curves = _curves(found, stacked=stacked)
    least = config["custom"].get("axisSoftMax", 0)
    most = max(float(np.nanmax(top)) for _, top in curves) * 1.05
    highest = config.get("max") or max(most, least) or 1
    ticks = ticks_of(highest, config)
    left = max(width_of(text, _SMALL) for text in ticks.values()) + 14
    axes = paper.plot(box.within(left=left, top=6, right=10, bottom=height + _TIMES + 6))
    _draw_curves(axes, found, curves, times, config["custom"]["fillOpacity"] / 100)
    _scale(axes, times)
    axes.set_ylim(0, highest)
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.grid(color=BORDER, lw=0.7)
    axes.set_axisbelow(True)
    if config["custom"]["thresholdsStyle"]["mode"] == "dashed":
        for step in steps(config):
            if step["value"] is not None and 0 < step["value"] <= highest:
                axes.axhline(step["value"], color=NAMED[step["color"]], lw=1.1, ls=(0, (6, 4)))
    _draw_marks(axes, period)


def _draw_marks(axes: Axes, period: Period) -> None:
    times = period.times
    for start, end in period.marks:
        if start > times.start:
            axes.axvline(start, color=NAMED["red"], lw=0.7, ls=(0, (3, 3)))
        below = Line2D(
            [max(start, times.start), end],
            [_BELOW, _BELOW],
            color=NAMED["red"],
            lw=2,
            solid_capstyle="butt",
            transform=axes.get_xaxis_transform(),
            clip_on=False,
        )
        axes.add_line(below)


Curve = tuple[np.ndarray, np.ndarray]
"""Bottom and top of what is filled."""


def _curves(found: Sequence[Line], *, stacked: bool) -> list[Curve]:
    """Return where lines are; each lies upon the ones before if they are stacked."""
    ground = np.zeros(len(found[0].values))
    curves = []
    for line in found:
        values = np.array(line.values)
        curves.append((ground, ground + values))
        if stacked:
            ground = ground + np.nan_to_num(values)
    return curves


def _draw_curves(
    axes: Axes, found: Sequence[Line], curves: Sequence[Curve], times: Span, opacity: float
) -> None:
    when = _steps(times)
    for line, (ground, top) in zip(found, curves, strict=True):
        axes.plot(when, top, color=line.colour, lw=1.2)
        axes.fill_between(when, ground, top, color=line.colour, alpha=opacity, lw=0)


def _scale(axes: Axes, times: Span) -> None:
    axes.set_xlim(times.start, times.end)
    seconds = times.end - times.start
    step = next((step for step in _TIME_STEPS if seconds <= step * _MOST_TIMES), _TIME_STEPS[-1])
    axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(lambda when, _: time.strftime("%H:%M", time.gmtime(when)))


def ticks_of(highest: float, config: Mapping[str, Any]) -> dict[float, str]:
    """Return round numbers for an axis from 0, and their texts; bytes are round in powers of 1024.

    Where the field has a number of digits after the point, none needs more.
    """
    size = 1024.0 ** math.floor(math.log(highest, 1024)) if config["unit"] == "bytes" else 1.0
    found = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest / size)
    ticks = [float(tick) * size for tick in found if 0 <= tick <= highest / size * 1.0001]
    decimals = config.get("decimals")
    if decimals is not None:
        ticks = [tick for tick in ticks if round(tick, decimals) == tick]
    return {tick: shown(tick, config).text for tick in ticks}


def _draw_legend(
    paper: Paper, box: Box, found: Sequence[Line], rows: int, config: Mapping[str, Any]
) -> None:
    """Draw the legend's table: the highest line first, with its last and its highest number."""
    last, most = box.x + box.width - _NUMBER - 8, box.x + box.width - 8
    y = box.y + _LINE / 2
    hidden = len(found) - rows
    scroll = f"Name ({hidden} more when you scroll)" if hidden > 0 else "Name"
    paper.text(box.x + 8, y, scroll, size=_SMALL, colour=NAMED["blue"])
    paper.text(last, y, "Last *", size=_SMALL, colour=NAMED["blue"], align="right")
    paper.text(most, y, "Max ⌄", size=_SMALL, colour=NAMED["blue"], align="right")
    for line in sorted(found, key=lambda line: -line.most)[:rows]:
        y += _LINE
        paper.box(Box(box.x + 8, y - 2, 14, 4), line.colour)
        room = last - _NUMBER + 24 - box.x - 28
        paper.text(box.x + 28, y, line.name, size=12, room=room)
        for x, number in ((last, line.last), (most, line.most)):
            paper.text(x, y, shown(number, config).text, size=12, align="right")


def buckets(answers: Sequence[Series], times: Span) -> tuple[list[float], list[list[float]]]:
    """Return the upper bounds of a heatmap's rows, and what is in each at each step."""
    ordered = sorted(answers, key=lambda series: float(series.labels["le"]))
    counts = [_at_each_step(series, times, 0.0) for series in ordered]
    # A bucket of Prometheus has also what is in the ones below.
    below = [[0.0] * len(_steps(times)), *counts]
    rows = [
        [max(upper - lower, 0) for lower, upper in zip(*pair, strict=True)]
        for pair in itertools.pairwise(below)
    ]
    return [float(series.labels["le"]) for series in ordered], rows


def draw_heatmap(
    paper: Paper, box: Box, panel: Mapping[str, Any], answers: Sequence[Series], times: Span
) -> None:
    """Draw a heatmap of buckets: one row for each, the brighter the more is in it."""
    bounds, rows = buckets(answers, times)
    config = {"unit": panel["options"]["yAxis"]["unit"]}
    ticks = {
        row + 0.5: "+Inf" if math.isinf(bounds[row]) else shown(bounds[row], config).text
        for row in range(0, len(bounds), max(1, len(bounds) // 8))
    }
    left = max(width_of(text, _SMALL) for text in ticks.values()) + 14
    axes = paper.plot(box.within(left=left, top=6, right=10, bottom=_TIMES + 34))
    counts = np.array(rows)
    most = float(counts.max())
    exponent = panel["options"]["color"]["exponent"]
    edge = times.step / 2
    mesh = axes.pcolormesh(
        np.linspace(times.start - edge, times.end + edge, counts.shape[1] + 1),
        np.arange(len(rows) + 1),
        np.ma.masked_equal(counts, 0) ** exponent,
        cmap="Oranges_r",
        vmin=0,
        vmax=most**exponent or 1,
    )
    _scale(axes, times)
    axes.set_yticks(list(ticks), list(ticks.values()))
    bar = paper.plot(box.within(left=left, top=box.height - 22, right=10, bottom=14))
    bar.imshow(np.linspace(0, 1, 64).reshape(1, -1), aspect="auto", cmap=mesh.cmap)
    bar.set_xticks([])
    bar.set_yticks([])
    y = box.y + box.height - 6
    paper.text(box.x + left, y, "0", size=_SMALL, colour=FAINT)
    right = box.x + box.width - 10
    paper.text(
        right, y, shown(most, {"unit": "short"}).text, size=_SMALL, colour=TEXT, align="right"
    )
