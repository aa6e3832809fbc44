"""What a user sees: the live table in a terminal, or lines where that cannot be."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.watch.display import Lines
from exporter.watch.shown import SHOWN
from tests.processes import Memcached, free_port
from tests.watch import support
from tests.watch.made_up import row
from tests.watch.support import Load, Terminal, rows_of

SHORT = "--interval=200ms"
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"
Servers = Callable[..., Memcached]
Terminals = Callable[..., Terminal]


def cells(terminal: Terminal, address: str) -> dict[str, str]:
    """Return what stands in the table's line of a server, by title; empty when there is none."""
    lines = terminal.text.splitlines()
    head = next((line for line in lines if line.startswith("server ")), "")
    line = next((line for line in lines if line.startswith(f"{address} ")), "")
    titles = re.split(r"\s+(?!ms)", head)
    return dict(zip(titles, line.split(), strict=False))


def test_the_live_table(memcached: Servers, terminal: Terminals) -> None:
    """One line a server that is written over, with progress below, and the summary at the end."""
    server, nobody = memcached(), f"127.0.0.1:{free_port()}"
    seen = terminal(80, SHORT, "--duration=1h", server.address, nobody)
    with Load(server):
        seen.wait_for(lambda t: cells(t, server.address).get("get/s", "-") not in {"-", "0"})
    shown = cells(seen, server.address)
    assert list(shown) == ["server", "cmd/s", "get/s", "hits", "evi/s", "conn", "mem", "p99 ms"]
    assert re.fullmatch(r"[0-9.]+k?", shown["cmd/s"])
    assert re.fullmatch(r"[0-9.]+%", shown["hits"])
    assert float(shown["p99 ms"]) > 0
    assert re.search(rf"^{nobody} +- .* down: refused$", seen.text, re.MULTILINE), seen.text
    assert re.search(
        r"^0:00:0\d since the start, 0:59:5\d left; Ctrl-C ends", seen.text, re.MULTILINE
    )
    assert seen.text.count("\nserver ") + seen.text.startswith("server ") == 1
    assert HIDE in seen.raw
    assert SHOW not in seen.raw
    seen.type(b"\x03")
    assert seen.end() == 0
    # The cursor is there again, as is a summary.
    assert seen.raw.rindex(SHOW) > seen.raw.rindex(HIDE)
    assert b"ended by SIGINT" in seen.raw
    assert f"{nobody}: never answered (refused: connection refused)" in seen.text


def test_a_wider_terminal_has_more_columns(memcached: Servers, terminal: Terminals) -> None:
    """Also when it becomes wide in between."""
    server = memcached()
    seen = terminal(80, SHORT, server.address)
    seen.wait_for(lambda t: "conn" in cells(t, server.address))
    assert "vcs/s" not in seen.text
    seen.resize(140)
    seen.wait_for(lambda t: "ics/s" in cells(t, server.address))
    assert list(cells(seen, server.address)) == [
        *("server", "cmd/s", "get/s", "set/s", "del/s", "tch/s", "oth/s", "hits", "evi/s"),
        *("conn", "mem", "p50 ms", "p99 ms", "vcs/s", "ics/s"),
    ]


def test_what_happens_stays_above_the_table(memcached: Servers, terminal: Terminals) -> None:
    """A server that went away and came back is told of with time and reason."""
    server = memcached()
    seen = terminal(100, SHORT, server.address)
    seen.wait_for(lambda t: cells(t, server.address).get("conn", "-") != "-")
    server.stop()
    seen.wait_for(lambda t: cells(t, server.address).get("conn") == "-")
    server.restart()
    seen.wait_for(lambda t: cells(t, server.address).get("conn", "-") != "-")
    told = re.findall(rf"(?m)^\d\d:\d\d:\d\d {server.address}: (.*)$", seen.text)
    assert len(told) == 2, seen.text
    assert re.match("down: (refused connection refused|closed )", told[0])
    assert told[1] in {"restart", "reset", "up"}


@pytest.mark.parametrize(("plain", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours(
    memcached: Servers,
    terminal: Terminals,
    tmp_path: Path,
    plain: dict[str, str],
    coloured: bool,
) -> None:
    """What is beyond a threshold is coloured, unless colours are not wanted."""
    server, config = memcached(), tmp_path / "exporter.yml"
    config.write_text("thresholds: {connections: {warning: 0.001}}\n")
    seen = terminal(80, SHORT, f"--config.file={config}", server.address, **plain)
    seen.wait_for(lambda t: cells(t, server.address).get("conn") == "2")
    line = next(n for n, text in enumerate(seen.screen.display) if text.startswith(server.address))
    column = seen.screen.display[line].index(" 2 ") + 1
    # What terminals show as yellow, pyte calls brown.
    assert seen.screen.buffer[line][column].fg == ("brown" if coloured else "default")
    assert seen.screen.buffer[line][0].fg == "default"


def test_sigterm_leaves_the_terminal_sane(memcached: Servers, terminal: Terminals) -> None:
    """The cursor is shown again."""
    server = memcached()
    seen = terminal(80, SHORT, server.address)
    seen.wait_for(lambda t: cells(t, server.address).get("cmd/s") == "0")
    seen.process.terminate()
    assert seen.end() == 0
    assert seen.raw.rindex(SHOW) > seen.raw.rindex(HIDE)
    assert not seen.screen.cursor.hidden


def test_without_rich_there_are_lines(
    memcached: Servers, terminal: Terminals, tmp_path: Path
) -> None:
    """And one hint how to get the table."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['rich'] = None\n")
    path, server = tmp_path / "run.csv", memcached()
    here = str(Path(support.__file__).parents[2])
    seen = terminal(
        80,
        *("--interval=500ms", "--duration=1500ms", f"--csv={path}", server.address),
        PYTHONPATH=f"{tmp_path}:{here}",
    )
    assert seen.end() == 0
    lines = seen.raw.decode().replace("\r\n", "\n")
    assert lines.startswith("lines, since the live table needs rich: pip install rich\n")
    assert lines.count("live table") == 1
    assert len(rows_of(path)) == 3
    assert len(re.findall(rf"(?m)^\d\d:\d\d:\d\d {server.address} ", lines)) == 3
    table = [line for line in lines.splitlines() if re.match(r"time |\d\d:", line)]
    assert len(table) == 4
    assert max(map(len, table)) <= 80
    assert HIDE not in seen.raw


def test_a_dumb_terminal_has_lines(memcached: Servers, terminal: Terminals) -> None:
    """It cannot write over what it has written."""
    server = memcached()
    seen = terminal(80, "--interval=500ms", "--duration=1s", server.address, TERM="dumb")
    assert seen.end() == 0
    assert len(re.findall(rf"(?m)^\d\d:\d\d:\d\d {server.address} ", seen.raw.decode())) == 2
    assert b"\x1b" not in seen.raw


def test_the_table_is_not_loaded_without_a_terminal(memcached: Servers) -> None:
    """It costs memory and time, and structlog loads some of it by itself."""
    program = (
        "import sys; from exporter.cli import main;"
        f"main(['watch', '--interval=200ms', '--duration=200ms', '{memcached().address}']);"
        "sys.exit('exporter.watch.live' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_lines_are_complete_and_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    """Titles stand above their figures, and come again after some lines."""
    server = "127.0.0.1:11211"
    figures = {shown.figure: 0.123 for shown in SHOWN}
    with Lines([server]) as lines:
        for _ in range(1 + 25):
            lines.show([row(server=server, told=figures)])
            lines.tick("on the way")
    printed = capsys.readouterr().out.splitlines()
    heads = [number for number, line in enumerate(printed) if line.startswith("time ")]
    assert heads == [0, 21]
    assert len(printed) == 25 + 2
    assert max(map(len, printed)) <= 120
    for line in printed[1:21]:
        for title in ("cmd/s", "hits", "conn", "p99 ms", "ics/s"):
            end = printed[0].index(title) + len(title)
            assert line[end - 1] != " ", (title, line)
            assert line[end : end + 1] in {"", " "}, (title, line)
