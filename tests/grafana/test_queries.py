"""Every query of every panel is asked of a real Prometheus, for All and for one server."""

import math
from collections.abc import Iterator

import pytest

from tests.grafana.boards import (
    Panel,
    annotations,
    boards,
    filled,
    label_values,
    name_of,
    panels,
    targets,
    variable_query,
    variables,
)
from tests.grafana.exceptions import ABOVE_ONE, MACHINE, OFF
from tests.grafana.expected import COUNTED, EXACT, FLEET, RECORDED, Central
from tests.grafana.known import exported, is_sent, only_on_metrics
from tests.grafana.world import SHORT, TIMES, World, running
from tests.processes import Memcached

PANELS = [
    pytest.param(panel, id=f"{name} {name_of(panel)}")
    for name, board in boards().items()
    for panel in panels(board)
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start all parts once."""
    with running(tmp_path_factory.mktemp("grafana")) as parts:
        yield parts


def choices(world: World) -> dict[str, list[dict[str, str]]]:
    """Return the variables for All and several, each server in either way, and one that is down."""
    addresses = [server.address for server in world.servers]
    return {
        "All": [TIMES],
        "several": [world.several()],
        "short windows": [TIMES | SHORT],
        "on /metrics": [world.one_server(one, by_scrape=False) for one in addresses],
        "by /scrape": [world.one_server(one, by_scrape=True) for one in addresses],
        "down": [world.one_server(world.dead, by_scrape=way) for way in (False, True)],
    }


def is_excused(expr: str, way: str, version: str) -> bool:
    """Return whether a query of servers of some version may be without data."""
    if way in {"down", "short windows"}:
        return True
    if way == "by /scrape" and only_on_metrics(filled(expr)):
        return True
    names = exported(filled(expr))
    return any(name.startswith((*OFF, *MACHINE)) or not is_sent(name, version) for name in names)


def ratios(panel: Panel) -> dict[str, str]:
    """Return refId and title of what a panel shows as a ratio."""
    config = panel["fieldConfig"]
    if config["defaults"].get("unit") == "percentunit":
        return {target["refId"]: panel["title"] for target in targets(panel)}
    titles = {
        override["matcher"]["options"]
        for override in config.get("overrides", ())
        for one in override["properties"]
        if one == {"id": "unit", "value": "percentunit"}
    }
    return {
        field.removeprefix("Value #"): title
        for change in panel.get("transformations", ())
        for field, title in change.get("options", {}).get("renameByName", {}).items()
        if title in titles
    }


@pytest.mark.parametrize("panel", PANELS)
def test_panel(world: World, panel: Panel) -> None:
    """Each query has data and no error, only true numbers, and ratios from 0 to 1."""
    shown_as_ratio = ratios(panel)
    for target in targets(panel):
        for way, chosen_values in choices(world).items():
            found = False
            for values in chosen_values:
                for labels, numbers in world.ask(
                    filled(target["expr"], values), instant=bool(target.get("instant"))
                ):
                    found = True
                    assert all(map(math.isfinite, numbers)), (target["refId"], way, labels)
                    title = shown_as_ratio.get(target["refId"])
                    if title is not None:
                        most = math.inf if title.startswith(tuple(ABOVE_ONE)) else 1 + 1e-9
                        assert all(0 <= number <= most for number in numbers), (labels, numbers)
            excused = is_excused(target["expr"], way, world.version)
            assert found or excused, (target["refId"], way, target["expr"])


def test_what_matches_many_with_many_is_refused(world: World) -> None:
    """A query that Prometheus refuses fails its panel's test, and the reason is told."""
    expr = "memcached_malloced_bytes / on (job) memcached_limit_bytes"
    with pytest.raises(AssertionError, match="many-to-many"):
        world.ask(expr, instant=True)


def test_what_is_excused_is_off(world: World) -> None:
    """A feature whose queries are excused is off indeed: none of its metrics has data."""
    for beginning in OFF:
        found = world.ask(f'{{__name__=~"{beginning}.+"}} > 0', instant=True)
        assert found == [], beginning


@pytest.mark.parametrize("name", boards())
def test_variables(world: World, name: str) -> None:
    """Each variable lists what there is to choose, and the next one what is left then."""
    servers = {server.address for server in world.servers} | {world.dead}
    wanted = {
        "job": {"memcached", "targets"},
        "instance": servers | {world.exporter},
        "server": servers,
    }
    after_a_choice = {
        "job": {"memcached", "targets"},
        "instance": {world.exporter},
        "server": servers,
    }
    one = world.one_server(world.busy.address, by_scrape=False)
    for variable, entry in variables(boards()[name], "query").items():
        selector, label = label_values(variable_query(entry))
        for values, expected in ((TIMES, wanted), (one, after_a_choice)):
            series = world.prometheus.get("series", **{"match[]": filled(selector, values)})
            assert {found[label] for found in series if label in found} == expected[variable]


@pytest.mark.parametrize("name", boards())
def test_annotations(world: World, name: str) -> None:
    """Alerts are found among what fires; there may be none."""
    for entry in annotations(boards()[name]):
        world.ask(filled(entry["expr"], TIMES), instant=False)


def expression(board: str, title: str, ref: str = "A", kind: str = "timeseries") -> str:
    """Return a query of a panel of one kind, of that about each server if there are two."""
    names = {title, f"{title} by server"}
    found = [
        target["expr"]
        for panel in panels(boards()[board])
        for target in targets(panel)
        if (panel["type"], target["refId"]) == (kind, ref) and panel["title"] in names
    ]
    assert len(found) == 1, f"no panel {title!r} with a query {ref}"
    return str(found[0])


def shown(world: World, central: Central, server: Memcached) -> list[float]:
    """Return what a panel shows of a server now, on /metrics and by /scrape."""
    expr = expression("memcached-server", central.title, central.ref)
    values = []
    for by_scrape in (False, True):
        chosen = world.one_server(server.address, by_scrape=by_scrape)
        for _, numbers in world.ask(filled(expr, chosen), instant=True):
            values += numbers
    return values


@pytest.mark.parametrize("central", EXACT, ids=lambda central: f"{central.title} {central.ref}")
def test_numbers_are_those_of_the_servers(world: World, central: Central) -> None:
    """What a panel shows is what the server says, to the last digit, in either way."""
    for server in world.servers:
        value = central.expected(world.stats[server.address])
        assert shown(world, central, server) == [pytest.approx(value)] * 2


@pytest.mark.parametrize("title", ["Hit rate", "Hit rate of other commands", "Evictions per set"])
def test_without_traffic_there_is_no_rate_of_it(world: World, title: str) -> None:
    """What did not happen was neither good nor bad (E03): no line, not 0 and not 100 %."""
    expr = expression("memcached-server", title)
    assert world.ask(filled(expr, TIMES), instant=True)
    assert world.ask(filled(expr, TIMES | SHORT), instant=True) == []


@pytest.mark.parametrize("title", FLEET)
def test_the_fleet_is_counted(world: World, title: str) -> None:
    """All servers are counted, those that are down too."""
    expr = expression("memcached-fleet", title, kind="stat")
    assert world.ask(filled(expr, TIMES), instant=True) == [({}, [FLEET[title]])]


def test_pages_of_slab_classes(world: World) -> None:
    """The slab board shows of each class the pages that the server says it has."""
    expr = expression("memcached-slabs", "Pages by class")
    said = {
        key.removesuffix(":total_pages"): [float(value)]
        for key, value in world.busy.stats("slabs").items()
        if key.endswith(":total_pages")
    }
    assert len(said) > 3
    for by_scrape in (False, True):
        chosen = world.one_server(world.busy.address, by_scrape=by_scrape)
        found = world.ask(filled(expr, chosen), instant=True)
        assert {labels["slab"]: pages for labels, pages in found} == said


@pytest.mark.parametrize("central", COUNTED, ids=lambda central: central.title)
def test_rates_are_what_the_servers_counted(world: World, central: Central) -> None:
    """A rate times its window is what was counted; Prometheus adds for the time after a scrape."""
    assert central.expected(world.stats[world.busy.address]) > 100
    for server in world.servers:
        counted = central.expected(world.stats[server.address])
        values = shown(world, central, server)
        assert len(values) == 2
        for value in values:
            assert counted * 0.999 <= value * float(TIMES["__range_s"]) <= counted * 1.2


@pytest.mark.parametrize(("board", "title", "record"), RECORDED)
def test_panels_show_what_alerts_are_raised_on(
    world: World, board: str, title: str, record: str
) -> None:
    """Where a line says that an alert is raised, the curve is what the alert looks at."""
    on_board = by_target(world.ask(filled(expression(board, title), TIMES), instant=True))
    recorded = by_target(world.ask(record, instant=True))
    assert on_board.keys() == recorded.keys()
    for key, value in recorded.items():
        assert on_board[key] == pytest.approx(value, rel=0.15, abs=1e-3), key


def by_target(found: list[tuple[dict[str, str], list[float]]]) -> dict[tuple[str, ...], float]:
    """Return values by what they are about, without the labels of the configuration."""
    names = ("job", "instance", "server", "device")
    made = {tuple(labels.get(name, "") for name in names): now for labels, (now,) in found}
    assert len(made) == len(found)
    return made
