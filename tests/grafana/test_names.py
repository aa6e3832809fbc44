"""What the boards ask for exists: metrics, labels and their values, and columns of tables."""

import re
from collections.abc import Iterator

import pytest

from tests.grafana.boards import (
    ALL,
    Board,
    Panel,
    annotations,
    boards,
    filled,
    label_values,
    name_of,
    panels,
    strings,
    targets,
    variable_query,
    variables,
)
from tests.grafana.known import flow, problems

QUERIES = [
    pytest.param(target["expr"], id=f"{name} {name_of(panel)} {target['refId']}")
    for name, board in boards().items()
    for panel in panels(board)
    for target in targets(panel)
]
PANELS = [
    pytest.param(panel, id=f"{name} {name_of(panel)}")
    for name, board in boards().items()
    for panel in panels(board)
]
of_each_board = pytest.mark.parametrize("board", boards().values(), ids=boards())


@pytest.mark.parametrize("text", QUERIES)
def test_metrics_and_labels_are_known(text: str) -> None:
    """Each metric is in the catalogue or recorded, each label is there, and sides can match."""
    assert problems(filled(text)) == []


@of_each_board
def test_annotations_are_known(board: Board) -> None:
    """Annotations ask for series and labels that exist."""
    for entry in annotations(board):
        assert problems(filled(entry["expr"])) == []
        labels = set().union(*(one.labels for one in flow(filled(entry["expr"])).series))
        for key in ("titleFormat", "textFormat"):
            assert set(re.findall(r"\{\{(\w+)\}\}", entry.get(key, ""))) <= labels
        assert set(filter(None, entry.get("tagKeys", "").split(","))) <= labels


@of_each_board
def test_values_of_variables_are_known(board: Board) -> None:
    """A variable lists the values of a label that its series have."""
    for name, variable in variables(board, "query").items():
        selector, label = label_values(variable_query(variable))
        assert label == name
        for text in one_by_one(filled(selector)):
            made = flow(text)
            assert made.problems == []
            # That by which servers are chosen is on all; `server` is on those of /metrics.
            assert any(label in series.labels for series in made.series)


def one_by_one(selector: str) -> Iterator[str]:
    """Yield a selector for each metric that it names, one or several."""
    found = re.search(r'__name__=~"([\w|]+)",? ?', selector)
    if not found:
        yield selector
        return
    for name in found[1].split("|"):
        yield name + selector.replace(found[0], "")


@of_each_board
def test_variables_do_not_depend_in_circles(board: Board) -> None:
    """What a variable is asked with was chosen before it."""
    known: set[str] = set()
    for name, variable in variables(board).items():
        used = set(re.findall(r"\$\{?(\w+)", variable_query(variable)))
        assert used <= known
        known.add(name)
    assert ALL.keys() <= known


@pytest.mark.parametrize("panel", PANELS)
def test_columns_are_there(panel: Panel) -> None:
    """A table renames, orders and leaves out columns that it has, and overrides those it shows."""
    if panel["type"] != "table":
        return
    has = columns(panel)
    shown = set(has)
    for transformation in panel.get("transformations", ()):
        options = transformation.get("options", {})
        for key in ("excludeByName", "indexByName", "renameByName"):
            assert set(options.get(key, {})) <= has, key
        renamed = options.get("renameByName", {})
        shown = {renamed.get(name, name) for name in shown}
    for override in panel["fieldConfig"]["overrides"]:
        if override["matcher"]["id"] == "byName":
            assert override["matcher"]["options"] in shown
    for url in strings(panel, "url"):
        fields = re.findall(r"\$\{__data\.fields(?:\.(\w+)|\[\"([^\"]+)\"\])", url)
        assert {plain or quoted for plain, quoted in fields} <= shown | has


def columns(panel: Panel) -> set[str]:
    """Return the columns of a table before it changes their names."""
    several = len(targets(panel)) > 1
    found = {"Time"}
    for target in targets(panel):
        found.add(f"Value #{target['refId']}" if several else "Value")
        found |= {name for one in flow(filled(target["expr"])).series for name in one.labels}
    return found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("memcached_no_such_metric", "no such series"),
        ('memcached_up{cluster="a"}', "no label cluster"),
        ('rate(memcached_commands_total{command="fetch"}[5m])', "nothing is like that"),
        ("memcached_slab_current_pages / memcached_malloced_bytes", "can never match"),
        (
            "memcached_malloced_bytes / on (job, instance, server) memcached_slab_current_pages",
            "several samples may match",
        ),
        ("sum by (sever) (memcached_up)", "labels that are nowhere"),
    ],
)
def test_what_is_wrong_is_found(text: str, problem: str) -> None:
    """A query with a name that does not exist, or that can match many with many, is refused."""
    assert problem in " ".join(problems(text))
