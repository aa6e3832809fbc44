"""Where the rows go while the watch is on: plain lines, or the live table of a terminal."""

import shutil
import sys
from collections.abc import Sequence
from typing import Protocol, Self

from exporter.watch.rows import Row
from exporter.watch.shown import STATE_WIDTH, WIDTH, fitting, moment, state, text

_PLAIN_WIDTH = 120
"""Where there is no terminal that has a width."""
_ROWS_PER_HEADER = 20
_TIME_WIDTH = 8


class Display(Protocol):
    """Shows rows; what it needs to be undone is undone when the block that it is in ends."""

    def show(self, rows: Sequence[Row]) -> None:
        """Show the rows of one look; those of the first one have no rates."""

    def tick(self, progress: str) -> None:
        """Show how far the watch is; called about once a second."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_error: object) -> None: ...


class Lines:
    """Plain lines on standard output, one a server and interval."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._server_width = max(map(len, servers))
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_WIDTH
        used = _TIME_WIDTH + 1 + self._server_width + STATE_WIDTH
        self._columns = fitting(width - used)
        self._until_header = 0
        self._begun = False

    def show(self, rows: Sequence[Row]) -> None:
        """Print the rows of an interval; none ends with the first look."""
        if not self._begun:
            self._begun = True
            return
        if self._until_header <= 0:
            self._print("time", "server", [shown.title for shown in self._columns], "")
            self._until_header = _ROWS_PER_HEADER
        self._until_header -= len(rows)
        for row in rows:
            cells = [text(shown, row) for shown in self._columns]
            self._print(moment(row), row.server, cells, state(row))
        sys.stdout.flush()

    def tick(self, progress: str) -> None:
        """Say nothing: lines are for what happened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def _print(self, when: str, server: str, cells: Sequence[str], note: str) -> None:
        numbers = "".join(f" {cell:>{WIDTH}}" for cell in cells)
        line = f"{when:<{_TIME_WIDTH}} {server:<{self._server_width}}{numbers}  {note}"
        sys.stdout.write(f"{line.rstrip()}\n")
