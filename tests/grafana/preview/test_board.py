"""Whole boards with made-up answers: where panels are, and what is written on them."""

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from PIL import Image

from grafana.preview.board import LINE, WIDTH, View, draw, pixels, placed
from grafana.preview.display import NAMED
from grafana.preview.paper import Box, Paper, cut, width_of
from grafana.preview.prometheus import Series
from tests.grafana.boards import Board, boards, panels, targets

NOW = 1_000_000.0
VIEW = View(NOW, 600, 15, {})
SERVERS = (
    {"server": "cache1:11211", "instance": "e:9150", "job": "memcached"},
    {"server": "cache2:11211", "instance": "e:9150", "job": "memcached"},
)


class Made:
    """A source whose answers a test makes up, from the query."""

    def __init__(self, answer: Callable[[str], list[Series]] = lambda _: []) -> None:
        self._answer = answer
        self.asked: list[str] = []

    def instant(self, expr: str, at: float) -> list[Series]:
        """Answer with one number each."""
        assert at == NOW
        self.asked.append(expr)
        return [Series(labels, [(at, points[-1][1])]) for labels, points in self._answer(expr)]

    def range(self, expr: str, start: float, end: float, step: float) -> list[Series]:
        """Answer with the last number at each step."""
        assert step >= 15
        self.asked.append(expr)
        times = [start + number * step for number in range(round((end - start) / step) + 1)]
        return [
            Series(labels, [(when, points[-1][1]) for when in times])
            for labels, points in self._answer(expr)
        ]


def two(*numbers: float) -> Callable[[str], list[Series]]:
    """Return what answers each query with one number a server."""
    return lambda _: [
        Series(labels, [(NOW, number)]) for labels, number in zip(SERVERS, numbers, strict=True)
    ]


def words(paper: Paper) -> Counter[str]:
    """Return all that is written on a sheet, but for the axes."""
    return Counter(text.get_text() for text in paper.page.texts)


def colours(paper: Paper) -> Counter[str]:
    """Return the colours of all boxes on a sheet."""
    boxes = [patch for patch in paper.page.patches if isinstance(patch, Rectangle)]
    return Counter(to_hex(box.get_facecolor()) for box in boxes)


def only(name: str, title: str) -> Board:
    """Return a board with one of its panels."""
    board = boards()[name]
    (panel,) = (panel for panel in panels(board) if panel["title"] == title)
    place = panel["gridPos"] | {"x": 0, "y": 0}
    return board | {"panels": [panel | {"gridPos": place}]}


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("name", boards())
def test_places(name: str, opened: bool) -> None:
    """Panels keep within the sheet, none lies on another, and no closed row shows its panels."""
    found = [(panel, pixels(place)) for panel, place in placed(boards()[name], opened=opened)]
    everything = list(panels(boards()[name]))
    closed = sum(len(panel["panels"]) for panel, _ in found if panel["type"] == "row")
    shown = [panel for panel, _ in found if panel["type"] != "row"]
    assert len(shown) == len(everything) - (0 if opened else closed)
    for _, box in found:
        assert box.x >= 16
        assert box.x + box.width <= WIDTH - 16 + 1e-6
    for (_, one), (_, other) in itertools.combinations(found, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y


def test_pixels() -> None:
    """A third of the width and 8 lines, less the gap, as in Grafana."""
    box = pixels(Box(8, 2, 8, 8))
    assert box.width == pytest.approx((WIDTH - 2 * 16 - 2 * 8) / 3)
    assert box.height == 8 * LINE - 8
    assert box.y - pixels(Box(0, 0, 24, 1)).y == 2 * LINE


@pytest.mark.parametrize("name", boards())
def test_without_data(name: str) -> None:
    """Every panel says that it has no data, and every query was asked."""
    source = Made()
    paper = draw(boards()[name], source, VIEW._replace(opened=True))
    everything = list(panels(boards()[name]))
    assert words(paper)["No data"] == len(everything)
    titles = {panel["title"] for panel in everything}
    assert titles <= set(words(paper))
    assert len(source.asked) == 1 + sum(len(targets(panel)) for panel in everything)
    assert not [expr for expr in source.asked if "$" in expr]


def test_closed_rows_ask_nothing() -> None:
    """A closed row says how many panels it has."""
    source = Made()
    paper = draw(boards()["memcached-server"], source, VIEW)
    assert words(paper)["(6 panels)"] >= 2
    assert not [expr for expr in source.asked if "extstore_io_queue" in expr]


def test_variables_are_shown_and_asked_for() -> None:
    """The head names what is chosen, and the queries have it."""
    source = Made()
    view = VIEW._replace(choices={"server": ["cache1:11211"]})
    paper = draw(only("memcached-server", "Connections used by server"), source, view)
    assert {"Server", "cache1:11211", "Last 10 minutes"} <= set(words(paper))
    assert words(paper)["All"] == 2
    assert 'server=~"cache1:11211"' in source.asked[-1]
    assert 'job=~".+", instance=~".+"' in source.asked[-1]


def test_a_graph() -> None:
    """The legend names the servers, the highest first, with the last and the highest number."""
    board = only("memcached-server", "Connections used by server")
    source = Made(lambda expr: [] if "ALERTS" in expr else two(0.25, 0.875)(expr))
    paper = draw(board, source, VIEW)
    texts = [text.get_text() for text in paper.page.texts]
    assert texts[texts.index("Name") :] == [
        *("Name", "Last *", "Max ⌄"),
        *("cache2:11211 e:9150", "87.5%", "87.5%"),
        *("cache1:11211 e:9150", "25%", "25%"),
    ]
    (axes,) = (axes for axes in paper.page.figure.axes if axes is not paper.page)
    thresholds = [line for line in axes.lines if line.is_dashed()]
    levels = {(np.asarray(line.get_ydata())[0], line.get_color()) for line in thresholds}
    # The other threshold, 0.95, is above all that is shown.
    assert levels == {(0.8, NAMED["orange"])}


def test_a_low_line_is_seen_below_its_threshold() -> None:
    """Items of a minute are far below an hour: the axis reaches up to the line all the same."""
    board = only("memcached-server", "Age of evicted items")
    paper = draw(board, Made(lambda expr: [] if "ALERTS" in expr else two(60, 90)(expr)), VIEW)
    axes = paper.page.figure.axes[1]
    assert axes.get_ylim() == pytest.approx((0, 3960))
    (threshold,) = (line for line in axes.lines if line.is_dashed())
    assert np.asarray(threshold.get_ydata())[0] == 3600


def test_a_long_legend_is_scrolled() -> None:
    """What has no room in the legend is counted."""
    many = [Series({"server": str(n), "instance": ""}, [(NOW, float(n))]) for n in range(9)]
    source = Made(lambda expr: [] if "ALERTS" in expr else many)
    paper = draw(only("memcached-server", "Connections used by server"), source, VIEW)
    assert "Name (6 more when you scroll)" in words(paper)
    assert {"8", "7", "6"} <= set(words(paper))
    assert "5" not in words(paper)


def test_a_series_without_a_number_is_not_there() -> None:
    """What Prometheus answers with no number, or an infinite one, has no bar, and no line."""

    class Half(Made):
        def instant(self, expr: str, at: float) -> list[Series]:
            """Leave the second server without a number."""
            first, second = super().instant(expr, at)
            return [first, Series(second.labels, [])]

    paper = draw(only("memcached-fleet", "Lowest hit rates"), Half(two(0.5, 0.9)), VIEW)
    assert words(paper)["cache1:11211 e:9150"] == 1
    assert words(paper)["cache2:11211 e:9150"] == 0


def test_a_tile() -> None:
    """A number stands on the colour of its threshold; a word has its own."""
    source = Made(lambda expr: [Series({}, [(NOW, 0.9)])])
    paper = draw(only("memcached-server", "Connections used"), source, VIEW)
    assert words(paper)["90.0%"] == 1
    assert colours(paper)[NAMED["orange"]] == 1
    source = Made(lambda expr: [Series({}, [(NOW, 0.0)])])
    paper = draw(only("memcached-server", "Answering"), source, VIEW)
    assert words(paper)["Down"] == 1
    assert colours(paper)[NAMED["red"]] == 1


def test_a_table() -> None:
    """The fleet's table joins its queries, the server with most alerts first, in its colours."""

    def answer(expr: str) -> list[Series]:
        if "ALERTS" in expr:
            return two(0, 3)(expr)
        if "memcached_up" in expr:
            return two(1, 0)(expr)
        if "memcached_version_info" in expr:
            found = two(1, 1)(expr)
            return [Series(one.labels | {"version": "1.6.18"}, one.points) for one in found[:1]]
        # The server that is down says nothing else.
        return two(0.5, 0)(expr)[:1]

    paper = draw(only("memcached-fleet", "Servers"), Made(answer), VIEW)
    texts = [text.get_text() for text in paper.page.texts]
    column = texts[texts.index("Server", texts.index("Servers")) :]
    assert column[:3] == ["Server", "cache2:11211", "cache1:11211"]
    column = texts[texts.index("Answers") :]
    assert column[:6] == ["Answers", "down", "up", "Alerts", "3", "0"]
    column = texts[texts.index("Hit rate") :]
    assert column[:6] == ["Hit rate", "", "50%", "Memory used", "", "50%"]
    # Down and a hit rate of 50 %; an empty cell has no colour.
    assert colours(paper)[NAMED["red"]] == 3
    assert texts[-3:] == ["Latency", "", "500 ms"]


def test_bars() -> None:
    """Each bar has the name of its server and its number."""
    paper = draw(only("memcached-fleet", "Lowest hit rates"), Made(two(0.5, 0.99)), VIEW)
    assert {"cache1:11211 e:9150", "50%", "cache2:11211 e:9150", "99%"} <= set(words(paper))
    assert (colours(paper)[NAMED["red"]], colours(paper)[NAMED["green"]]) == (1, 1)


def test_a_heatmap() -> None:
    """Its colours reach from 0 to the most that is in a cell."""

    def answer(expr: str) -> list[Series]:
        counts = {"0.001": 3.0, "0.01": 40.0, "+Inf": 40.0}
        return [Series({"le": le}, [(NOW, count)]) for le, count in counts.items()]

    paper = draw(only("memcached-server", "Probes by latency"), Made(answer), VIEW)
    texts = [text.get_text() for text in paper.page.texts]
    assert texts[-2:] == ["0", "37"]
    axes = paper.page.figure.axes[1]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1 ms", "10 ms", "+Inf"]


def test_a_heatmap_of_noughts() -> None:
    """Where nothing was measured nothing is drawn, and nothing fails."""
    answer = [Series({"le": le}, [(NOW, 0.0)]) for le in ("0.001", "+Inf")]
    board = only("memcached-server", "Probes by latency")
    paper = draw(board, Made(lambda _: answer), VIEW)
    assert [text.get_text() for text in paper.page.texts][-2:] == ["0", "0"]


def test_alerts_are_marks() -> None:
    """A graph shows when an alert began, and how long it fired."""

    class Firing(Made):
        def range(self, expr: str, start: float, end: float, step: float) -> list[Series]:
            """Fire for two minutes."""
            if "ALERTS" in expr:
                return [Series({}, [(NOW - 240, 1.0), (NOW - 120, 1.0)])]
            return super().range(expr, start, end, step)

    board = only("memcached-server", "Connections used by server")
    paper = draw(board, Firing(two(0.1, 0.2)), VIEW)
    axes = paper.page.figure.axes[1]
    red = [line for line in axes.lines if line.get_color() == NAMED["red"]]
    times = {tuple(np.asarray(line.get_xdata())) for line in red}
    assert times == {(NOW - 240, NOW - 240), (NOW - 240, NOW - 120)}


def test_saved(tmp_path: Path) -> None:
    """A picture has the size of the sheet, and is small."""
    paper = draw(only("memcached-fleet", "Lowest hit rates"), Made(two(0.5, 0.99)), VIEW)
    paper.save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert (picture.width, picture.format) == (WIDTH, "PNG")
        colours = picture.convert("RGB").getcolors()
    assert colours
    assert (0x73, 0xBF, 0x69) not in {rgb for _, rgb in colours}  # a bar lets its ground through
    assert len(colours) > 20


def test_cut() -> None:
    """Words that have no room end in dots, and are no wider than the room."""
    assert cut("127.0.0.1:11211", 12, 500) == "127.0.0.1:11211"
    short = cut("127.0.0.1:11211", 12, 60)
    assert short.endswith("…")
    assert "127.0.0.1:11211".startswith(short[:-1])
    assert 40 < width_of(short, 12) <= 60
