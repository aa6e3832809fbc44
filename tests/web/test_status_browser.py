"""The pages in a real browser: what is seen, on which screen, and by whom."""

import itertools
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from exporter.health.thresholds import Connections, Thresholds
from exporter.memcached.member import State
from exporter.web.messages import Request, Response, plain
from exporter.web.server import HttpServer
from exporter.web.status.details import server_page
from exporter.web.status.pages import status_page
from exporter.web.status.rows import Row
from tests.web.browser import ask, chromium, complaints, contrast, luminance, scheme, screen
from tests.web.status import NOW, Moment, context, down, finding, levels, new, rates, row_of, up

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&amp;"
LONG = f"unix:/run/{'a-very-long-name-without-a-break' * 4}.sock"
THRESHOLDS = Thresholds(connections=Connections(warning=0.4, critical=0.6))
PAGES = ("/", f"/server?target={quote('busy:1')}")
LEAST_CONTRAST = 4.5
"""Of text to what is behind it, as WCAG 2.1 AA asks for."""

Browser = webdriver.Chrome


def busy(address: str, ratio: float) -> Row:
    """Return a server with a number for everything, and some past."""
    points = [
        Moment(
            NOW - 600 + i * 15,
            True,
            levels(uptime=9e4, connections_ratio=ratio, memory_ratio=0.9, ping_seconds=0.02 / i),
            rates(commands={"get": 100.0 * i}, hit_ratio=0.5, evictions=9.0, cpu=0.5),
        )
        for i in range(1, 20)
    ]
    points[7] = Moment(points[7].time, up=False)
    state = State(
        address=address,
        up=True,
        version="1.6.18",
        scraped=NOW - 12,
        left_out={"settings": "dangerous"},
    )
    kinds = ("critical", "warning", "info")
    found = tuple(finding(f"{kind}_one", kind, seen=f"seen {HOSTILE}") for kind in kinds)
    return row_of(state, points, found)


ROWS = [
    busy("busy:1", 0.7),
    busy("half:1", 0.5),
    busy("calm:1", 0.4),
    down(HOSTILE, version=HOSTILE, detail=HOSTILE),
    new(LONG),
    up("idle:1"),
]


def site(request: Request) -> Response:
    """Answer as the exporter does for these servers."""
    pages = {"/": status_page, "/server": server_page}
    page = pages.get(request.path)
    return page(request, ROWS, context(thresholds=THRESHOLDS)) if page else plain(404, "not found")


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    """One browser for the whole file, since it takes a second to start."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Browser:
    """The browser as it is for most people."""
    screen(running, 1280)
    scheme(running, "light")
    complaints(running)
    return running


@pytest.fixture
def show(browser: Browser, serve: Callable[..., HttpServer]) -> Callable[[str], Browser]:
    """Open one of the pages."""
    host, port = serve(site).server_address[:2]

    def open_page(path: str) -> Browser:
        browser.get(f"http://{host!s}:{port}{path}")
        return browser

    return open_page


Show = Callable[[str], Browser]


@pytest.mark.parametrize("path", PAGES)
def test_the_console_is_silent(show: Show, path: str) -> None:
    """No error, nothing that the policy forbids, nothing that is not found."""
    assert complaints(show(path)) == []


def test_the_policy_is_obeyed(show: Show) -> None:
    """The style is in force; a script that got in would not run, and a style in a tag not apply."""
    browser = show("/")
    assert ask(browser, "getComputedStyle(document.querySelector('.tiles')).display") == "grid"
    ask(browser, "document.body.insertAdjacentHTML('beforeend', '<p id=odd style=color:red>odd')")
    red = ask(browser, "getComputedStyle(document.querySelector('#odd')).color")
    assert red != "rgb(255, 0, 0)"
    assert any("style-src" in told for told in complaints(browser))


def test_hostile_texts_are_read_as_they_are(show: Show) -> None:
    """Names, versions, errors and findings that look like markup are text."""
    browser = show("/")
    assert browser.title == "1 down - memcached-exporter"
    assert ask(browser, "document.scripts.length + document.images.length") == 0
    seen = ask(browser, "document.querySelector('tr.down').innerText")
    assert seen.count(HOSTILE) == 3
    link = ask(browser, "document.querySelector('tr.down a').href")
    browser.get(link)
    assert ask(browser, "document.querySelector('h1').innerText") == HOSTILE
    assert complaints(browser) == []


@pytest.mark.parametrize("name", ["light", "dark"])
def test_bars_have_their_width_and_colour(show: Show, name: str) -> None:
    """A bar is as wide as its ratio says, and as red as the words beside it."""
    browser = show("/")
    scheme(browser, name)
    bars = ask(
        browser,
        """[...document.querySelectorAll('td.connections')].filter(c => c.querySelector('svg'))
        .map(c => [
            c.closest('tr').querySelector('th').innerText,
            c.querySelector('.value').getBoundingClientRect().width
                / c.querySelector('.track').getBoundingClientRect().width,
            getComputedStyle(c.querySelector('.value')).fill,
            c.querySelector('b') && c.querySelector('b').innerText,
            c.querySelector('b') && getComputedStyle(c.querySelector('b')).color,
            [...c.querySelectorAll('.mark')].map(m =>
                (m.getBoundingClientRect().x - c.querySelector('.track').getBoundingClientRect().x)
                / c.querySelector('.track').getBoundingClientRect().width),
        ])""",
    )
    found = {bar[0]: bar[1:] for bar in bars}
    assert found.keys() == {"busy:1", "half:1", "calm:1"}
    for address, ratio, word in (
        ("busy:1", 0.7, "critical"),
        ("half:1", 0.5, "warning"),
        ("calm:1", 0.4, None),
    ):
        width, fill, told, colour, marks = found[address]
        assert width == pytest.approx(ratio, abs=0.01)
        assert told == word
        assert colour in {fill, None}
        assert sorted(marks) == pytest.approx([0.4, 0.6], abs=0.02)
    assert len({bar[1] for bar in found.values()}) == 3


@pytest.mark.parametrize("path", [*PAGES, f"/server?target={quote(LONG)}", "/?state=down"])
@pytest.mark.parametrize("width", [360, 800])
def test_narrow_screens(show: Show, path: str, width: int) -> None:
    """Nothing lies beyond the edge, whatever the length of a name."""
    browser = show(path)
    screen(browser, width)
    assert ask(browser, "document.documentElement.scrollWidth") == width
    beyond = ask(
        browser,
        """[...document.querySelectorAll('body *')]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
        .map(e => e.outerHTML.slice(0, 80))""",
    )
    assert beyond == []


def test_narrow_screens_name_each_number(show: Show) -> None:
    """Where the columns are gone, their titles stand at the cells."""
    browser = show("/")
    cells = "[...document.querySelectorAll('tr.up td')]"
    titles = f"{cells}.map(c => getComputedStyle(c, '::before').content)"
    assert set(ask(browser, titles)) == {"none"}
    screen(browser, 360)
    assert '"Hit rate"' in ask(browser, titles)


def test_the_formula_of_contrast() -> None:
    """Black on white has the most there is, and a known grey has what is known of it."""
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("name", ["light", "dark"])
def test_texts_can_be_read(show: Show, path: str, name: str) -> None:
    """Each text, and each line of a picture, stands out from what is behind it."""
    browser = show(path)
    scheme(browser, name)
    pairs = ask(
        browser,
        """(() => {
        const behind = e => {
            for (; e; e = e.parentElement) {
                const colour = getComputedStyle(e).backgroundColor
                if (!colour.endsWith(', 0)')) return colour
            }
            return 'rgb(255, 255, 255)'
        }
        const texts = [...document.querySelectorAll('body *')].filter(e =>
            [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        const lines = [...document.querySelectorAll('.line')]
        return [...texts.map(e => [e.tagName, getComputedStyle(e).color, behind(e)]),
            ...lines.map(e => ['line', getComputedStyle(e).stroke, behind(e)])]
        })()""",
    )
    assert len(pairs) > 40
    weak = [pair for pair in pairs if contrast(pair[1], pair[2]) < LEAST_CONTRAST]
    assert weak == []
    dark = luminance(ask(browser, "getComputedStyle(document.documentElement).backgroundColor"))
    assert dark < 0.1 if name == "dark" else dark > 0.9


@pytest.mark.parametrize("path", PAGES)
def test_what_a_screen_reader_is_told(show: Show, path: str) -> None:
    """Language, title, landmarks, one heading of the first rank, headers of tables, pictures."""
    browser = show(path)
    assert ask(browser, "document.documentElement.lang") == "en"
    assert browser.title
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert ask(browser, "document.querySelectorAll(arguments[0]).length", landmark) == 1
    ranks = ask(browser, "[...document.querySelectorAll('h1, h2, h3')].map(e => +e.tagName[1])")
    assert all(second - first <= 1 for first, second in itertools.pairwise(ranks))
    without = ask(browser, "document.querySelectorAll('th:not([scope])').length")
    headless = (
        "[...document.querySelectorAll('tbody tr')].filter(r => !r.querySelector('th')).length"
    )
    assert (without, ask(browser, headless)) == (0, 0)
    pictures = ask(
        browser,
        "[...document.querySelectorAll('svg')].map(e => [e.role, e.getAttribute('aria-label')])",
    )
    assert len(pictures) >= 6
    assert {role for role, _ in pictures} == {"img"}
    assert all(label for _, label in pictures)
    names = ask(browser, "[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(names) == len(set(names))
    sections = "[...document.querySelectorAll('[aria-labelledby]')]"
    labelled = f"{sections}.map(e => e.getAttribute('aria-labelledby'))"
    assert set(ask(browser, labelled)) <= set(names)


def test_the_keyboard_reaches_all_links(show: Show) -> None:
    """In the order of the page, and one sees where one is."""
    browser = show("/")
    links = ask(browser, "document.querySelectorAll('a').length")
    reached = []
    for _ in range(links):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(
            ask(browser, "[...document.querySelectorAll('a')].indexOf(document.activeElement)")
        )
        if len(reached) == 3:
            assert ask(browser, "getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached == list(range(links))


def test_paper_is_white(show: Show) -> None:
    """Printed, a page is dark on white also for those who prefer it dark, without navigation."""
    browser = show("/")
    scheme(browser, "dark", media="print")
    style = "getComputedStyle(document.documentElement).{}"
    assert ask(browser, style.format("backgroundColor")) == "rgb(255, 255, 255)"
    assert ask(browser, style.format("color")) == "rgb(0, 0, 0)"
    assert ask(browser, "getComputedStyle(document.querySelector('nav')).display") == "none"


def test_one_can_walk_around(show: Show) -> None:
    """From the fleet to a server and back, and to those that are down."""
    browser = show("/")
    browser.find_element("link text", "busy:1").click()
    assert ask(browser, "document.querySelector('h1').innerText") == "busy:1"
    browser.find_element("link text", "memcached-exporter").click()
    browser.find_element("link text", "1 down").click()
    rows = "[...document.querySelectorAll('tbody tr')].map(r => r.className)"
    assert ask(browser, rows) == ["down"]
    browser.find_element("link text", "Show all").click()
    assert len(ask(browser, rows)) == len(ROWS)
