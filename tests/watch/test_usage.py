"""Wrong use ends before anything is watched, with one line that names place and remedy."""

import json
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.cli import main
from tests.processes import Memcached
from tests.watch.support import COMMAND, SECONDS, rows_of, run


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a watch that must end with status 2, and return its one line."""

    def run_here(*arguments: str) -> str:
        try:
            status = main(("watch", *arguments))
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else -1
        captured = capsys.readouterr()
        assert (status, captured.out) == (2, "")
        line = captured.err.removesuffix("\n")
        assert line.startswith("memcached-exporter: ")
        assert line.isprintable()
        return line.removeprefix("memcached-exporter: ")

    return run_here


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["host:99999"], 'ADDRESS: address "host:99999": port '),
        (["--interval=5", "a"], '--interval: "5" is no duration: write a duration with its unit'),
        (["--interval=99ms", "a"], "--interval: must be from 100ms to 1h"),
        (["--interval=61m", "a"], "--interval: must be from 100ms to 1h"),
        (["--duration=-5s", "a"], '--duration: "-5s" is no duration'),
        (
            ["--duration=4s", "a"],
            "--duration: 4s is shorter than one interval of 5s: watch for longer, or set --inter",
        ),
        (["--csv=", "a"], "--csv: empty: write the path of a file, or leave the flag out"),
        (["--csv=/", "a"], "--csv: /: exists already: remove it, or name another file"),
        (["--csv=/proc/x.csv", "a"], "--csv: /proc/x.csv: no such file or directory: name a file"),
        (
            ["--baseline=/nonexistent.csv", "a"],
            "--baseline: /nonexistent.csv: no such file or dire",
        ),
        (["--memcached.timeout=0s", "a"], "--memcached.timeout: must be from 1ms to 1h"),
        (["--memcached.tls.ca-file=x", "a"], "--memcached.tls flags do nothing alone: add --mem"),
        (
            ["--memcached.address=a"],
            "unrecognized arguments: --memcached.address=a (see memcached-exporter watch --help)",
        ),
        (["--web.listen-address=:1"], "unrecognized arguments: --web.listen-address=:1"),
        (["--config.file=/nonexistent.yml"], "/nonexistent.yml: no such file or directory"),
    ],
)
def test_wrong_usage(fails: Callable[..., str], arguments: list[str], line: str) -> None:
    """Each wrong use has its own words."""
    assert fails(*arguments).startswith(line)


def test_servers_that_are_found_are_watched(
    fails: Callable[..., str], memcached: Callable[..., Memcached], tmp_path: Path
) -> None:
    """Sources of servers are looked at once, and one that has none leaves nothing to watch."""
    config, found, server = tmp_path / "exporter.yml", tmp_path / "found.json", memcached()
    config.write_text(f"discovery: {{files: [{found}]}}\n")
    arguments = ("--interval=200ms", "--duration=200ms", f"--config.file={config}")
    found.write_text(json.dumps([{"targets": [server.address]}]))
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{server.address}: 1 intervals" in done.stdout
    found.write_text("[]")
    assert fails(*arguments) == "there is no server to watch: name one as an argument"


def test_a_source_that_cannot_be_read_is_told(
    memcached: Callable[..., Memcached], tmp_path: Path
) -> None:
    """The others are watched; who names servers does not care."""
    config, missing, server = tmp_path / "exporter.yml", tmp_path / "missing.json", memcached()
    missing.write_text("nonsense")
    config.write_text(
        f"servers: [{{address: {server.address}}}]\ndiscovery: {{files: [{missing}]}}\n"
    )
    arguments = ("--interval=200ms", "--duration=200ms", f"--config.file={config}")
    done = run(*arguments)
    told = f"file:{missing} cannot be read: the servers that it has are not watched\n"
    assert done.returncode == 0
    assert told in done.stderr
    assert f"{server.address}: 1 intervals" in done.stdout
    assert told not in run(*arguments, server.address).stderr


def test_a_baseline_that_does_not_fit_leaves_no_file(
    fails: Callable[..., str], memcached: Callable[..., Memcached], tmp_path: Path
) -> None:
    """What is wrong is told before the new file is made."""
    baseline, path = tmp_path / "old.csv", tmp_path / "new.csv"
    addresses = [memcached().address, memcached().address]
    run("--interval=200ms", "--duration=200ms", f"--csv={baseline}", *addresses)
    line = fails(f"--baseline={baseline}", f"--csv={path}", "10.0.0.1", "10.0.0.2")
    assert line.startswith(
        f"--baseline: has none of the servers that are watched, but {', '.join(addresses)}:"
    )
    lines = baseline.read_text().splitlines()
    baseline.write_text("\n".join([*lines[:-1], lines[-1][:40]]) + "\n")
    assert fails(f"--baseline={baseline}", f"--csv={path}", *addresses).startswith(
        f"--baseline: {baseline}: line {len(lines)}, column "
    )
    assert not path.exists()


def test_the_baseline_is_never_overwritten(
    fails: Callable[..., str], memcached: Callable[..., Memcached], tmp_path: Path
) -> None:
    """Also not when it is named twice."""
    path, server = tmp_path / "run.csv", memcached()
    run("--interval=200ms", "--duration=200ms", f"--csv={path}", server.address)
    before = path.read_bytes()
    line = fails(f"--baseline={path}", f"--csv={path}", server.address)
    assert line == f"--csv: {path}: exists already: remove it, or name another file"
    assert path.read_bytes() == before


def test_a_file_that_fills_up(memcached: Callable[..., Memcached], tmp_path: Path) -> None:
    """The watch ends with what it has: a file of whole lines, the summary, and one line of why."""
    path = tmp_path / "run.csv"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1100, 1100))

    done = subprocess.run(
        [*COMMAND, "--interval=200ms", f"--csv={path}", memcached().address],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"memcached-exporter: --csv: {path}: cannot be written any more:")
    assert done.stderr.count("\n") == 1
    rows = rows_of(path)
    assert len(rows) >= 1
    assert path.read_text().endswith("\n")
    assert all(None not in row.values() for row in rows)
    assert f": {len(rows) + 1} intervals" in done.stdout


def test_a_reader_may_leave_early(memcached: Callable[..., Memcached]) -> None:
    """Lines into a program that does not read on end the watch without a word."""
    command = [*COMMAND, "--interval=200ms", memcached().address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b"time ")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=SECONDS) == 1


def test_the_log_says_what_it_is_asked_for(memcached: Callable[..., Memcached]) -> None:
    """By itself it is silent, since the rows say the same."""
    server = memcached()
    quiet = run("--interval=200ms", "--duration=200ms", server.address, "127.0.0.1:1")
    assert quiet.stderr == ""
    asked = run(
        *("--interval=200ms", "--duration=200ms", "--log.level=info"),
        *(server.address, "127.0.0.1:1"),
    )
    assert 'event="server is up"' in asked.stderr
    assert 'event="server cannot be read"' in asked.stderr


def test_nothing_was_measured(memcached: Callable[..., Memcached]) -> None:
    """A watch that is ended before its first interval is no success."""
    server = memcached()
    with subprocess.Popen(
        [*COMMAND, "--interval=1h", "--log.level=info", server.address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        assert "server is up" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert output == "ended by SIGINT\n"
    assert errors == (
        "memcached-exporter: nothing was measured: the watch ended before its first interval did\n"
    )
