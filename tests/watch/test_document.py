"""docs/watch.md says what the command does."""

import re
from pathlib import Path

from exporter.watch.columns import COLUMNS
from exporter.watch.record import HEADER
from exporter.watch.rows import Event
from exporter.watch.shown import SHOWN

DOCUMENT = (Path(__file__).parents[2] / "docs" / "watch.md").read_text()


def table(title: str) -> dict[str, str]:
    """Return the second column of a table by its first one."""
    _, _, rest = DOCUMENT.partition(f"\n| {title} |")
    lines = rest.split("\n\n")[0].splitlines()[2:]
    return dict(re.findall(r"^\| `(.*?)` \| (.*?) \|", "\n".join(lines), re.MULTILINE))


def test_the_columns_are_those_of_the_file() -> None:
    """In their order and with their meaning."""
    told = table("column")
    assert tuple(told) == HEADER
    assert {column.name: told[column.name] for column in COLUMNS} == {
        column.name: column.meaning for column in COLUMNS
    }


def test_the_events_are_those_of_the_file() -> None:
    """None is left out."""
    assert list(table("event")) == [event for event in Event if event]


def test_the_titles_of_lines_are_explained() -> None:
    """Each that is not plain English stands in the text."""
    for shown in SHOWN:
        assert shown.title in DOCUMENT, shown.title
