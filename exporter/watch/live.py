"""The live table of a terminal; the only module that needs rich."""

from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from exporter.health.findings.shape import Severity
from exporter.health.thresholds import Thresholds
from exporter.watch.rows import Row
from exporter.watch.shown import STATE_WIDTH, WIDTH, Shown, fitting, moment, state, text

_STYLES = {None: "", Severity.INFO: "", Severity.WARNING: "yellow", Severity.CRITICAL: "bold red"}


class LiveTable:
    """One line a server, written over at each look, and stays when the watch ends."""

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._rows: Sequence[Row] = ()
        self._progress = ""
        self._console = Console()
        # Without a thread of its own: all that changes comes through show and tick.
        self._live = Live(console=self._console, auto_refresh=False, get_renderable=self._whole)

    def show(self, rows: Sequence[Row]) -> None:
        """Show rows in place of the last ones, and above them for good what happened."""
        self._rows = rows
        for row in rows:
            if row.event:
                self._console.print(Text(f"{moment(row)} {row.server}: {state(row)} {row.detail}"))
        self._live.refresh()

    def tick(self, progress: str) -> None:
        """Show how far the watch is, in the width that the terminal has now."""
        self._progress = progress
        self._live.refresh()

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    def _whole(self) -> Group:
        return Group(self._table(), Text(self._progress, style="dim"))

    def _table(self) -> Table:
        server_width = max((len(row.server) for row in self._rows), default=0)
        columns = fitting(self._console.width - server_width - STATE_WIDTH)
        table = Table(box=None, padding=(0, 0, 0, 1), collapse_padding=True, pad_edge=False)
        table.add_column("server", no_wrap=True)
        for shown in columns:
            table.add_column(shown.title, justify="right", min_width=WIDTH, no_wrap=True)
        table.add_column("", no_wrap=True)
        for row in self._rows:
            cells = [self._cell(shown, row) for shown in columns]
            note = Text(state(row), style="" if row.up else "bold red")
            table.add_row(Text(row.server), *cells, note)
        return table

    def _cell(self, shown: Shown, row: Row) -> Text:
        known = shown.figure in row.figures
        severity = shown.judge(row.figures, self._thresholds) if known else None
        return Text(text(shown, row), style=_STYLES[severity])
