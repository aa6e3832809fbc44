"""The history has what scrapes found, is bounded, and never costs a page anything."""

import msgspec
import pytest
import structlog

from exporter.catalogue.host.collectors import HOST_SECTIONS, PROCESS_SECTIONS
from exporter.configuration import Module
from exporter.errors import ReadError, Reason
from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import INCREASING, View
from exporter.health.thresholds import Connections, Thresholds
from exporter.host.collector import Collector
from exporter.host.host import Portion, Subject
from exporter.memcached.member import Outcome
from exporter.observation import history as module
from exporter.observation.history import LEAST_SECONDS, POINTS, WINDOW_SECONDS, History, Point
from tests.memcached.support import LABELS, reading, stats_reply, translate

ADDRESS = LABELS[0][1]
HOW = Module(name="default", timeout=1, sections=(), assume_no_napi_ids=False, max_reply_bytes=9)


class Clock:
    """The time as the history sees it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Return seconds since anything."""
        return self.now

    def time(self) -> float:
        """Return Unix time."""
        return 1.7e9 + self.now


_CPU = next(section for section in HOST_SECTIONS if section.name == "cpu")
_PROCESS = next(section for section in PROCESS_SECTIONS if section.name == "process")
OF_HOST = [Portion(Collector(_CPU, list).gather())]
OF_PROCESS = [Portion(Collector(_PROCESS, lambda: [("fd", (), 31.0)]).gather(), LABELS)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Set the time by hand."""
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def history() -> History:
    """A history that follows one server."""
    history = History(Thresholds(), frozenset())
    history.follow({ADDRESS: "default"})
    return history


def answered(clock: Clock, /, *, address: str = ADDRESS, **stats: int) -> Outcome:
    """Return the outcome of a scrape that brought these statistics just now."""
    told = {key: str(value) for key, value in {"pid": 1, "uptime": int(clock.now), **stats}.items()}
    result = translate(reading({"stats": stats_reply(**told)}), labelled=True)
    return Outcome(result, "", HOW, Subject(address, LABELS), taken=clock.now)


def failed(address: str = ADDRESS) -> Outcome:
    """Return the outcome of a scrape that failed."""
    error = ReadError(Reason.REFUSED, "connection refused")
    return Outcome(translate(reading({})), "", HOW, Subject(address, LABELS), error)


def test_a_point_has_levels_and_rates(clock: Clock, history: History) -> None:
    """The rates are since the point before, so the first has none."""
    history.note(
        [answered(clock, get_hits=10, get_misses=0, curr_connections=5, max_connections=100)], []
    )
    clock.now += 15
    history.note(
        [answered(clock, get_hits=25, get_misses=15, curr_connections=6, max_connections=100)], []
    )
    first, second = history.points(ADDRESS)
    assert first.up
    assert second.up
    assert (first.time, second.time) == (1.7e9 + 1000.0, 1.7e9 + 1015.0)
    assert (first.connections_ratio, second.connections_ratio) == (0.05, 0.06)
    assert (first.gets, first.commands, first.hit_ratio) == (None, None, None)
    assert (second.gets, second.commands, second.hit_ratio) == (2.0, 2.0, 0.5)
    present = history.present(ADDRESS)
    assert present
    assert present.levels.connections == 6.0
    assert present.rates
    assert present.rates.seconds == 15.0
    assert present.rates.commands == {"get": 2.0}


def test_a_failure_is_a_gap(clock: Clock, history: History) -> None:
    """It has no numbers, nor has the first point after it rates."""
    history.note([answered(clock, get_hits=10)], [])
    clock.now += 15
    history.note([failed()], [])
    assert history.present(ADDRESS) is None
    clock.now += 15
    history.note([answered(clock, get_hits=20)], [])
    points = history.points(ADDRESS)
    assert [point.up for point in points] == [True, False, True]
    assert points[1] == Point(1.7e9 + 1015.0, up=False)
    assert points[2].uptime
    assert points[2].commands is None


def test_scrapes_of_several_clients_make_one_point(clock: Clock, history: History) -> None:
    """Two Prometheus servers that scrape shortly after one another see the same."""
    for pause in (0.0, LEAST_SECONDS - 0.5, 0.5):
        clock.now += pause
        history.note([answered(clock, get_hits=int(clock.now))], [])
    points = history.points(ADDRESS)
    assert [point.time - 1.7e9 for point in points] == [1000.0, 1000.0 + LEAST_SECONDS]


def test_the_history_is_bounded(clock: Clock, history: History) -> None:
    """The oldest points go, and of the last look few families stay."""
    for _ in range(POINTS + 20):
        history.note([answered(clock, get_hits=int(clock.now), curr_items=1)], [])
        clock.now += 15
    assert len(history.points(ADDRESS)) == POINTS
    assert history.points(ADDRESS)[0].time == 1.7e9 + 1000.0 + 20 * 15
    track = history._tracks[ADDRESS]
    assert track.last
    assert set(track.last.families) <= set(INCREASING)
    assert track.judged
    assert set(track.judged[0].families) <= set(INCREASING)


def test_other_servers_are_not_kept(clock: Clock, history: History) -> None:
    """Neither targets that nobody configured, nor servers that have left the configuration."""
    history.note([answered(clock, address="10.0.0.1:11211")], [])
    assert history.points("10.0.0.1:11211") == ()
    history.note([answered(clock)], [])
    history.follow({"10.0.0.1:11211": "default"})
    assert history.points(ADDRESS) == ()
    history.note([answered(clock, address="10.0.0.1:11211")], [])
    assert len(history.points("10.0.0.1:11211")) == 1


def test_a_reload_keeps_what_is_known(clock: Clock, history: History) -> None:
    """Servers that stay keep their points."""
    history.note([answered(clock)], [])
    history.follow({"10.0.0.1:11211": "default", ADDRESS: "default"})
    assert len(history.points(ADDRESS)) == 1


def test_findings_are_those_of_the_thresholds(clock: Clock, history: History) -> None:
    """They come with the first look, go when all is well, and when the server is silent."""
    history.note([answered(clock, curr_connections=850, max_connections=1000)], [])
    assert [finding.name for finding in history.findings(ADDRESS)] == ["connections_high"]
    clock.now += 15
    history.note([failed()], [])
    assert history.findings(ADDRESS) == ()
    clock.now += 15
    history.thresholds = Thresholds(connections=Connections(warning=0.9))
    history.note([answered(clock, curr_connections=850, max_connections=1000)], [])
    assert history.findings(ADDRESS) == ()


def test_findings_are_made_once_a_minute(
    clock: Clock, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each judges the time since the one before it."""
    windows: list[float | None] = []

    def judge(view: View) -> Seen | None:
        windows.append(view.seconds)
        return Seen(Severity.INFO, "seen") if view.seconds else None

    check = Check(name="test", judge=judge, why="", remedy="", leave="")
    monkeypatch.setattr(module, "CHECKS", (check,))
    for _ in range(9):
        history.note([answered(clock, get_hits=int(clock.now))], [])
        clock.now += 15
    assert windows == [None, WINDOW_SECONDS, WINDOW_SECONDS]
    assert [finding.name for finding in history.findings(ADDRESS)] == ["test"]


def test_what_is_ignored_is_not_told(clock: Clock, history: History) -> None:
    """At once, when the configuration changes, and the other way round."""
    full = answered(clock, curr_connections=990, max_connections=1000, limit_maxbytes=10, bytes=9)
    history.note([full], [])
    assert [found.name for found in history.findings(ADDRESS)] == [
        "connections_high",
        "memory_high",
    ]
    history.ignored = frozenset({"connections_high"})
    assert [found.name for found in history.findings(ADDRESS)] == ["memory_high"]
    history.ignored = frozenset()
    assert len(history.findings(ADDRESS)) == 2


def test_a_large_fleet_is_judged_in_turns(clock: Clock) -> None:
    """At most a tenth at a time, none twice before all others, and all within a few scrapes."""
    addresses = [f"10.0.0.{number}:11211" for number in range(250)]
    history = History(Thresholds(), frozenset())
    history.follow(dict.fromkeys(addresses, "default"))
    judged = []
    for _ in range(11):
        told = {"curr_connections": 850, "max_connections": 1000}
        history.note([answered(clock, address=address, **told) for address in addresses], [])
        judged.append(sum(bool(history.findings(address)) for address in addresses))
        clock.now += WINDOW_SECONDS / 4  # so the first are due again before the last had a turn
    assert judged == [25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 250]


def test_only_servers_on_this_host_are_judged_with_it(
    clock: Clock, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host says nothing about a server that runs elsewhere."""
    hosts: list[bool] = []
    files: list[float | None] = []

    def judge(view: View) -> Seen | None:
        hosts.append(view.host is not None)
        files.append(view.now.value("memcached_process_open_fds"))
        return None

    monkeypatch.setattr(
        module, "CHECKS", (Check(name="x", judge=judge, why="", remedy="", leave=""),)
    )
    history.note([answered(clock)], [], OF_HOST)
    clock.now += WINDOW_SECONDS
    history.note([answered(clock)], OF_PROCESS, OF_HOST)
    assert hosts == [False, True]
    assert files == [None, 31.0]


def test_the_host_of_another_page(
    clock: Clock, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``/scrape`` does not read the host: what another page found counts, unless it is old."""
    hosts: list[bool] = []

    def judge(view: View) -> Seen | None:
        hosts.append(view.host is not None)
        return None

    monkeypatch.setattr(
        module, "CHECKS", (Check(name="x", judge=judge, why="", remedy="", leave=""),)
    )
    history.note([answered(clock)], OF_PROCESS)
    history.note([], [], OF_HOST)
    for _ in range(3):
        clock.now += WINDOW_SECONDS
        history.note([answered(clock)], OF_PROCESS)
    assert hosts == [False, True, True, False]


def test_another_module_is_another_matter(clock: Clock, history: History) -> None:
    """What it finds, or fails at, says nothing about the server as it is configured."""
    history.note([answered(clock, curr_connections=9, max_connections=10)], [])
    known = history.points(ADDRESS), history.findings(ADDRESS), history.present(ADDRESS)
    clock.now += WINDOW_SECONDS
    other = msgspec.structs.replace(HOW, name="other")
    for outcome in (failed(), answered(clock)):
        history.note([msgspec.structs.replace(outcome, module=other)], [])
    assert (history.points(ADDRESS), history.findings(ADDRESS), history.present(ADDRESS)) == known
    history.follow({ADDRESS: "other"})
    assert history.points(ADDRESS) == ()


def test_a_fault_in_the_history_costs_no_page(clock: Clock, history: History) -> None:
    """It is logged."""
    broken = msgspec.structs.replace(answered(clock), result=None)
    with structlog.testing.capture_logs() as logs:
        history.note([broken], [])
    assert [line["event"] for line in logs] == ["the status page misses a scrape"]
    history.note([answered(clock)], [])


def test_check_names_are_unique() -> None:
    """A finding is known by its name."""
    assert len({check.name for check in CHECKS}) == len(CHECKS)
