"""The rules of Grafana's dashboard-linter and of this house, on all boards; and on bad ones."""

from pathlib import Path

import pytest

from tests.grafana.boards import RUNBOOKS, boards, strings
from tests.grafana.example import BAD, Bad, changed, good_board
from tests.grafana.house import BOARDS_OF_ALERTS, HOUSE, UIDS
from tests.grafana.official import OFFICIAL

RULES = OFFICIAL | HOUSE

each_rule = pytest.mark.parametrize("rule", RULES)


@each_rule
@pytest.mark.parametrize("name", sorted(boards()))
def test_board(name: str, rule: str) -> None:
    """No board breaks a rule."""
    assert list(RULES[rule](boards()[name])) == []


def test_there_are_the_boards_that_others_link_to() -> None:
    """Each file is named after its board's uid, and alerts lead to boards that are there."""
    assert {name: board["uid"] for name, board in boards().items()} == {uid: uid for uid in UIDS}
    assert boards().keys() >= BOARDS_OF_ALERTS


def test_each_runbook_is_linked() -> None:
    """Whoever sees something odd on a board is one click from what to do, for each alert."""
    linked = {Path(url).stem for board in boards().values() for url in strings(board, "url")}
    assert {path.stem for path in RUNBOOKS.iterdir()} - linked == set()


def test_titles_of_boards_differ() -> None:
    """Each board has a title of its own, of the same kind."""
    titles = [board["title"] for board in boards().values()]
    assert len(set(titles)) == len(titles)


@each_rule
def test_a_good_board_breaks_no_rule(rule: str) -> None:
    """What is as it should be gets no complaint."""
    assert list(RULES[rule](good_board())) == []


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: f"{bad.rule}: {bad.place}={bad.value}"[:70])
def test_a_bad_board_breaks_its_rule(bad: Bad) -> None:
    """A board with one fault is refused by the rule about it."""
    assert list(RULES[bad.rule](changed(bad)))


def test_each_rule_was_seen_to_refuse() -> None:
    """No rule is there that never complains; Grafana's linter has 17."""
    assert {bad.rule for bad in BAD} == RULES.keys()
    assert len(OFFICIAL) == 17
