"""Bars and lines as inline SVG: widths are attributes, since styles in tags are not allowed."""

from collections.abc import Iterator, Sequence

from exporter.health.thresholds import Thresholds
from exporter.observation.history import Point
from exporter.web.status.figures import Figure
from exporter.web.status.markup import NOTHING, Html, fill, join
from exporter.web.status.rows import STALE_SECONDS

BAR_WIDTH = 100
_BAR = """<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
 aria-label="{label}"><rect class="track" width="100" height="10"/>
<rect class="value {severity}" width="{width}" height="10"/>{marks}</svg>"""
_MARK = '<path class="mark {severity}" d="M{x} 0V10"/>'
_LINE = """<svg class="{kind}" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img"
 aria-label="{label}">{marks}{down}<path class="line" d="{path}"/></svg>"""
_LEVEL = '<path class="mark {severity}" d="M0 {y}H{width}"/>'
_DOWN = '<path class="down" d="{path}"/>'
SPARK = (120, 28)
"""Width and height of a small line, in units of its own."""
CHART = (600, 120)
_TICK = 6
"""Height of what marks a scrape that found the server down."""
_EDGE = 2
"""Room for half of a line's width at the upper and lower edge."""


class Canvas:
    """Where points are on a picture: the first is at its left edge, the last at its right one."""

    def __init__(self, points: Sequence[Point], figure: Figure, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.values = [figure.value(point) for point in points]
        self.top = figure.most or max((value or 0.0 for value in self.values), default=0.0) or 1.0
        self._times = [point.time for point in points]

    def x(self, index: int) -> int:
        """Return where a point's time is."""
        span = self._times[-1] - self._times[0]
        return round(self.width * (self._times[index] - self._times[0]) / span) if span else 0

    def y(self, value: float) -> int:
        """Return where a value is, 0 at the lower edge."""
        room = self.height - 2 * _EDGE
        return round(self.height - _EDGE - room * min(value / self.top, 1.0))

    def path(self) -> str:
        """Return the line; it breaks where a value is missing, or was missed for long."""
        return "".join(self._steps())

    def _steps(self) -> Iterator[str]:
        drawn = -1
        for index, value in enumerate(self.values):
            if value is None:
                continue
            near = drawn == index - 1 and drawn >= 0
            joined = near and self._times[index] - self._times[drawn] <= STALE_SECONDS
            place = f"{self.x(index)} {self.y(value)}"
            # A line of no length is a dot, so a value between two gaps is seen.
            yield f"L{place}" if joined else f"M{place}h0"
            drawn = index


def bar(figure: Figure, point: Point, thresholds: Thresholds) -> Html:
    """Return a ratio as a bar with marks at its thresholds; nothing when it is not known."""
    value = figure.value(point)
    if value is None:
        return NOTHING
    limits = figure.limits(thresholds)
    told = [f"{limit.severity} above {figure.words(limit.value)}" for limit in reversed(limits)]
    return fill(
        _BAR,
        label=", ".join((f"{figure.title} {figure.words(value)}", *told)),
        severity=figure.judge(point, thresholds) or "well",
        width=f"{BAR_WIDTH * min(value, 1.0):.4g}",
        marks=join(
            fill(_MARK, severity=limit.severity, x=f"{BAR_WIDTH * limit.value:.4g}")
            for limit in limits
        ),
    )


def spark(figure: Figure, points: Sequence[Point]) -> Html:
    """Return a small line of a figure's last values; nothing when there is none."""
    return _line("spark", figure, points, SPARK, NOTHING)


def chart(figure: Figure, points: Sequence[Point], thresholds: Thresholds) -> Html:
    """Return the same large, with lines at the thresholds that are within its scale."""
    canvas = Canvas(points, figure, CHART)
    marks = join(
        fill(_LEVEL, severity=limit.severity, y=canvas.y(limit.value), width=canvas.width)
        for limit in figure.limits(thresholds)
        if limit.value <= canvas.top
    )
    return _line("chart", figure, points, CHART, marks)


def extremes(figure: Figure, points: Sequence[Point]) -> str:
    """Return in words the last, lowest and highest value; empty when there is none."""
    values = [value for point in points if (value := figure.value(point)) is not None]
    if not values:
        return ""
    last = figure.value(points[-1])
    told = "not known" if last is None else figure.words(last)
    low, high = figure.words(min(values)), figure.words(max(values))
    return f"last {told}, lowest {low}, highest {high}"


def _line(
    kind: str, figure: Figure, points: Sequence[Point], size: tuple[int, int], marks: Html
) -> Html:
    told = extremes(figure, points)
    if not told:
        return NOTHING
    canvas = Canvas(points, figure, size)
    down = [canvas.x(index) for index, point in enumerate(points) if not point.up]
    return fill(
        _LINE,
        kind=kind,
        width=canvas.width,
        height=canvas.height,
        label=f"{figure.title}: {told}",
        marks=marks,
        down=fill(_DOWN, path="".join(f"M{x} {canvas.height}v-{_TICK}" for x in down))
        if down
        else NOTHING,
        path=canvas.path(),
    )
