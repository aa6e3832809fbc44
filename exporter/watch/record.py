"""The CSV file: written line by line while the watch goes on, and read as a baseline later."""

import csv
import io
import math
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from exporter.errors import ConfigurationError, ExporterError
from exporter.watch.columns import (
    COLUMNS,
    GETS,
    HIT_RATIO,
    INTERVAL,
    PING_P50,
    PING_P99,
    THROUGHPUT,
)
from exporter.watch.rows import Event, Row

HEAD = ("time", "elapsed_seconds", "server", "state", "reason", "event")
"""The columns before the figures."""
FIGURES = tuple(column.name for column in COLUMNS)
HEADER = (*HEAD, *FIGURES)
_NEEDED = (*HEAD, INTERVAL, THROUGHPUT, GETS, HIT_RATIO, PING_P50, PING_P99)
"""What a baseline must have; a later release may add columns."""
_STATES = ("down", "up")


class Record:
    """A CSV file that is being written: whole lines only, each one at once.

    Raises ConfigurationError when the file exists or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            raise ConfigurationError(
                f"--csv: {path}: exists already: remove it, or name another file"
            ) from None
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"--csv: {path}: {_why(error)}: name a file that can be made"
            ) from error
        self._length = 0
        self._write([HEADER])

    def add(self, rows: Sequence[Row]) -> None:
        """Write the rows of one interval. Raises ExporterError when there is no room for them."""
        self._write([_cells(row) for row in rows])

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _write(self, lines: Sequence[Sequence[str]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        data = text.getvalue().encode()
        why = "no room is left"
        try:
            complete = os.write(self._file, data) == len(data)
        except OSError as error:
            complete, why = False, _why(error)
        if not complete:
            os.ftruncate(self._file, self._length)
            raise ExporterError(
                f"--csv: {self._path}: cannot be written any more: {why}: its lines up to here"
                " are good"
            )
        self._length += len(data)


class _CellError(Exception):
    """What is wrong with a line of a baseline, and in which column."""

    def __init__(self, column: str, what: str) -> None:
        super().__init__(f"column {column}: {what}")


def read_baseline(path: Path) -> list[Row]:
    """Read a CSV file that was written by an earlier watch.

    Raises ConfigurationError, which names the line and the column.
    """
    line = 1
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            _check_header(header)
            rows = []
            for cells in lines:
                line = lines.line_num
                rows.append(_row(_by_column(header, cells)))
    except _CellError as error:
        raise _refusal(f"{path}: line {line}, {error}") from error
    except csv.Error as error:
        raise _refusal(f"{path}: line {line + 1}: {error}") from error
    except UnicodeDecodeError as error:
        raise _refusal(f"{path}: is not UTF-8 text") from error
    except (OSError, ValueError) as error:
        raise _refusal(f"{path}: {_why(error)}") from error
    if not rows:
        raise _refusal(f"{path}: has no interval")
    return rows


def _refusal(what: str) -> ConfigurationError:
    return ConfigurationError(
        f"--baseline: {what}: use a whole file that `memcached-exporter watch --csv` wrote"
    )


def _check_header(header: list[str]) -> None:
    for name in _NEEDED:
        if header.count(name) != 1:
            raise _CellError(name, "is not there" if name not in header else "stands twice")


def _by_column(header: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) < len(header):
        raise _CellError(header[len(cells)], "the line ends before it")
    if len(cells) > len(header):
        raise _CellError(header[-1], "the line goes on after it")
    return dict(zip(header, cells, strict=True))


def _row(cells: dict[str, str]) -> Row:
    if cells["state"] not in _STATES:
        raise _CellError("state", f"{cells['state']!r} is neither up nor down")
    if not cells["server"]:
        raise _CellError("server", "is empty")
    if cells["event"] not in set(Event):
        known = ", ".join(filter(None, Event))
        raise _CellError("event", f"{cells['event']!r} is none of {known}")
    figures = {name: _number(name, cells[name]) for name in FIGURES if cells.get(name)}
    return Row(
        time=_time(cells["time"]),
        elapsed=_number("elapsed_seconds", cells["elapsed_seconds"]),
        server=cells["server"],
        up=cells["state"] == "up",
        reason=cells["reason"],
        event=Event(cells["event"]),
        figures=figures,
    )


def _number(column: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise _CellError(column, f"{text!r} is no number from 0")
    return number


def _time(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise _CellError("time", f"{text!r} is no time such as 2030-01-31T12:00:00.000Z") from None


def _cells(row: Row) -> list[str]:
    moment = datetime.fromtimestamp(row.time, UTC).isoformat(timespec="milliseconds")
    return [
        moment.replace("+00:00", "Z"),
        f"{row.elapsed:.3f}",
        row.server,
        "up" if row.up else "down",
        row.reason,
        row.event,
        *(_number_text(row.figures.get(name)) for name in FIGURES),
    ]


def _number_text(value: float | None) -> str:
    """Return a number without an exponent, which not every reader of CSV takes for a number."""
    return "" if value is None else f"{Decimal(f'{value:.12g}'):f}"


def _why(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
