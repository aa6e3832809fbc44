"""The CSV file has whole lines, is read back as it was, and what is no such file is refused."""

import csv
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.errors import ConfigurationError, ExporterError
from exporter.watch.columns import COLUMNS
from exporter.watch.record import HEADER, Record, read_baseline
from exporter.watch.rows import Event, Row
from tests.watch.made_up import START, row

GOOD = ("2026-01-31T12:00:05.000Z", "5.000", "10.0.0.1:11211", "up", "", "")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that is not there yet."""
    return tmp_path / "run.csv"


@pytest.fixture
def record(path: Path) -> Iterator[Record]:
    """A file that is being written."""
    record = Record(path)
    yield record
    record.close()


def figure_of(name: str) -> float:
    """Return a value that only one column has."""
    return HEADER.index(name) * 1.5


def complete() -> Row:
    """Return a row in which all is known."""
    figures = {column.name: figure_of(column.name) for column in COLUMNS}
    return row(12.5, "/run/a, b.sock", event=Event.RESTART, told=figures)


def test_a_row_is_a_line(path: Path, record: Record) -> None:
    """Each cell stands below its name; times are in UTC and in seconds."""
    record.add([complete()])
    with path.open(newline="") as file:
        header, cells = csv.reader(file)
    assert tuple(header) == HEADER
    told = dict(zip(header, cells, strict=True))
    assert told["time"] == "2023-11-14T22:13:32.500Z"
    assert told["elapsed_seconds"] == "12.500"
    assert told["server"] == "/run/a, b.sock"
    assert (told["state"], told["reason"], told["event"]) == ("up", "", "restart")
    assert {name: float(told[name]) for name in HEADER[6:]} == {
        name: figure_of(name) for name in HEADER[6:]
    }


def test_what_is_not_known_is_empty(path: Path, record: Record) -> None:
    """A server that is down has a state and a reason, and no 0."""
    record.add([row(up=False, event=Event.DOWN)])
    line = path.read_text().splitlines()[1]
    assert line == f"2023-11-14T22:13:25.000Z,5.000,10.0.0.1:11211,down,refused,down{',' * 25}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1000000.0, "1000000"),
        (123456789012.0, "123456789012"),
        (0.5, "0.5"),
        (0.000012345, "0.000012345"),
        (1 / 3, "0.333333333333"),
        (1.5e-9, "0.0000000015"),
    ],
)
def test_numbers_have_no_exponent(path: Path, record: Record, value: float, text: str) -> None:
    """Nor zeros at their end."""
    record.add([row(items=value)])
    cells = dict(zip(HEADER, path.read_text().splitlines()[1].split(","), strict=True))
    assert cells["items"] == text


def test_it_is_read_back_as_it_was(path: Path, record: Record) -> None:
    """A file that is still being written is whole after each interval."""
    first, second = complete(), row(up=False, event=Event.DOWN)
    record.add([first, second])
    assert read_baseline(path) == [first, second]
    record.add([row(10.0, items=7.0)])
    assert read_baseline(path)[2].figures == {"interval_seconds": 5.0, "items": 7.0}
    assert read_baseline(path)[2].time == START + 10.0


def test_a_file_that_exists_is_not_overwritten(path: Path) -> None:
    """It may be the baseline of tomorrow."""
    path.write_text("mine")
    with pytest.raises(ConfigurationError) as refused:
        Record(path)
    assert str(refused.value) == f"--csv: {path}: exists already: remove it, or name another file"
    assert path.read_text() == "mine"


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    """The reason is told."""
    with pytest.raises(ConfigurationError) as refused:
        Record(tmp_path / "missing" / "run.csv")
    assert str(refused.value) == (
        f"--csv: {tmp_path}/missing/run.csv: no such file or directory: name a file that can be"
        " made"
    )


def test_a_full_disk_leaves_whole_lines(path: Path, record: Record) -> None:
    """What has room for half of the next lines keeps none of them."""
    record.add([row(items=7.0)])
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
    try:
        with pytest.raises(ExporterError) as refused:
            record.add([row(10.0, items=8.0)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(refused.value) == (
        f"--csv: {path}: cannot be written any more: no room is left: its lines up to here are good"
    )
    assert path.read_bytes() == before


def lines(*changed: tuple[str, str]) -> str:
    """Return a file with two lines, the second one with some cells changed."""
    good = (*GOOD, *("1" for _ in COLUMNS))
    bad = [dict(changed).get(name, cell) for name, cell in zip(HEADER, good, strict=True)]
    return "\n".join(map(",".join, (HEADER, good, bad))) + "\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1, column time: is not there"),
        ("nonsense\n", "line 1, column time: is not there"),
        (lines().replace("hit_ratio", "hits"), "line 1, column hit_ratio: is not there"),
        (lines().replace("items", "hit_ratio"), "line 1, column hit_ratio: stands twice"),
        (",".join(HEADER) + "\n", "has no interval"),
        (lines()[:-20], "line 3, column read_bytes_per_second: the line ends before it"),
        (
            lines() + "2026-01-31T12:00:10.000Z,10.0",
            "line 4, column server: the line ends before it",
        ),
        (lines()[:-1] + ",1\n", f"line 3, column {HEADER[-1]}: the line goes on after it"),
        (lines(("items", "many")), "line 3, column items: 'many' is no number from 0"),
        (lines(("items", "-1")), "line 3, column items: '-1' is no number from 0"),
        (lines(("items", "nan")), "line 3, column items: 'nan' is no number from 0"),
        (lines(("items", "inf")), "line 3, column items: 'inf' is no number from 0"),
        (lines(("items", "1,5")), "line 3, column involuntary_switches_per_second: the line goes"),
        (lines(("elapsed_seconds", "")), "line 3, column elapsed_seconds: '' is no number from 0"),
        (lines(("time", "noon")), "line 3, column time: 'noon' is no time such as 2030-01-31T"),
        (lines(("state", "on")), "line 3, column state: 'on' is neither up nor down"),
        (lines(("event", "fire")), "line 3, column event: 'fire' is none of down, up, restart, re"),
        (lines(("server", "")), "line 3, column server: is empty"),
        (lines(("server", '"open')), "line 3: unexpected end of data"),
        (lines(("server", '"a"b')), "line 3: ',' expected after '\"'"),
        ("\ufeff" + lines(), "line 1, column time: is not there"),
        (lines().replace(",", ";"), "line 1, column time: is not there"),
        ("\n\n" + lines(), "line 1, column time: is not there"),
    ],
)
def test_a_malformed_baseline(path: Path, text: str, what: str) -> None:
    """One line names file, line, column and remedy."""
    path.write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        read_baseline(path)
    message = str(refused.value)
    assert message.startswith(f"--baseline: {path}: {what}"), message
    assert message.endswith(": use a whole file that `memcached-exporter watch --csv` wrote")
    assert message.isprintable()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "no such file or directory"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"time\0", "line 1, column time: is not there"),
    ],
)
def test_a_baseline_that_is_no_text(path: Path, content: bytes | None, what: str) -> None:
    """One line names file and remedy."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        read_baseline(path)
    assert str(refused.value).startswith(f"--baseline: {path}: {what}: use a whole file")


def test_a_directory_is_no_baseline(tmp_path: Path) -> None:
    """The reason is told."""
    with pytest.raises(ConfigurationError, match="is a directory: use a whole file"):
        read_baseline(tmp_path)


def test_columns_of_a_later_release_are_ignored(path: Path) -> None:
    """And those that decide nothing may be missing."""
    names = [name for name in HEADER if name != "items"]
    cells = [*GOOD, *("1" for _ in names[6:])]
    path.write_text(",".join([*names, "wonders"]) + "\n" + ",".join([*cells, "x"]) + "\n")
    (read,) = read_baseline(path)
    assert read.figures == dict.fromkeys(names[6:], 1.0)
