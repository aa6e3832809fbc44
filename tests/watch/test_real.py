"""The command against real servers and a load of which each request is counted."""

import re
import signal
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.memcached.support import memcached_on_socket
from tests.processes import Memcached, free_port
from tests.watch.support import (
    Load,
    SlowLink,
    Watching,
    rows_of,
    run,
    total,
    wait_for,
)

SHORT = "--interval=200ms"
TWO = ("--interval=500ms", "--duration=1s")
"""Intervals, long enough that a machine which is busy leaves none of them out."""
Servers = Callable[..., Memcached]
Watches = Callable[..., Watching]


def test_the_numbers_are_those_of_the_load(memcached: Servers, watching: Watches) -> None:
    """All requests of each kind are in the file, none is lost or counted twice."""
    server = memcached()
    watch = watching(SHORT, server.address)
    watch.wait_for_rows(1)
    with Load(server) as load:
        watch.wait_for_rows(5)
    watch.wait_for_rows(2)
    status, output, errors = watch.end()
    assert (status, errors) == (0, "")
    rows, counts = watch.rows(), load.counts
    assert counts["set"] > 50
    for column, count in (
        ("sets_per_second", counts["set"]),
        ("gets_per_second", counts["get"]),
        ("deletes_per_second", counts["delete"]),
        ("touches_per_second", counts["touch"]),
        ("others_per_second", counts["incr"]),
        ("commands_per_second", sum(counts.values()) - counts["hit"]),
    ):
        assert total(rows, column) == pytest.approx(count, abs=0.001), column
    hits = sum(
        float(row["hit_ratio"]) * float(row["gets_per_second"]) * float(row["interval_seconds"])
        for row in rows
        if row["hit_ratio"]
    )
    assert hits == pytest.approx(counts["hit"], abs=0.001)
    mean = counts["hit"] / counts["get"]
    assert re.search(rf"^  hit_ratio +{mean:.6f} ", output, re.MULTILINE)
    seconds = sum(float(row["interval_seconds"]) for row in rows)
    sets = float(
        re.findall(r"^  sets_per_second +([0-9.,]+)", output, re.MULTILINE)[0].replace(",", "")
    )
    assert sets == pytest.approx(counts["set"] / seconds, abs=0.51)


def test_levels_are_those_of_the_server(memcached: Servers, watching: Watches) -> None:
    """Items, bytes and connections as the server itself says, and round trips and switches."""
    server = memcached("-m", "64", "-c", "100")
    client = server.client()
    client.set("key", "x" * 1000)
    watch = watching(SHORT, server.address)
    watch.wait_for_rows(3)
    stats = server.stats()
    row = watch.rows()[-1]
    watch.end()
    assert float(row["items"]) == 1
    assert float(row["memory_bytes"]) == int(stats["bytes"])
    assert float(row["memory_ratio"]) == pytest.approx(int(stats["bytes"]) / 64 / 2**20)
    # The client, and the two of the watch.
    assert float(row["connections"]) == 3
    limit = 100 - int(stats["reserved_fds"])
    assert float(row["connections_ratio"]) == pytest.approx(3 / limit)
    assert 0 < float(row["ping_p50_seconds"]) <= float(row["ping_p99_seconds"])
    assert float(row["pings"]) > 0
    assert float(row["ping_failures"]) == 0
    assert float(row["voluntary_switches_per_second"]) > 0
    assert float(row["involuntary_switches_per_second"]) >= 0
    client.close()


def test_a_restart_in_the_middle(memcached: Servers, watching: Watches) -> None:
    """It is marked once, no rate is negative, and what came after it is counted."""
    server = memcached()
    with Load(server):
        wait_for(lambda: int(server.stats()["uptime"]) > 3, "the server is too young")
    watch = watching(SHORT, server.address)
    watch.wait_for_rows(2)
    server.restart()
    watch.wait_for_rows(3)
    with Load(server) as load:
        watch.wait_for_rows(3)
    watch.wait_for_rows(2)
    status, output, _ = watch.end()
    rows = watch.rows()
    marked = [number for number, row in enumerate(rows) if row["event"] == "restart"]
    assert len(marked) == 1
    assert rows[marked[0]]["state"] == "up"
    assert rows[marked[0]]["commands_per_second"] == ""
    assert total(rows[marked[0] :], "sets_per_second") == pytest.approx(
        load.counts["set"], abs=0.001
    )
    assert all(float(row["commands_per_second"] or 0) >= 0 for row in rows)
    assert status == 0
    assert "counters began anew: 1" in output


def test_counters_that_are_reset(memcached: Servers, watching: Watches) -> None:
    """It is told from a restart, and costs the rates of one interval."""
    server = memcached()
    watch = watching(SHORT, server.address)
    watch.wait_for_rows(2)
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(b"stats reset\r\n")
        assert connection.recv(100) == b"RESET\r\n"
    watch.wait_for_rows(3)
    watch.end()
    events = [row["event"] for row in watch.rows()]
    assert [event for event in events if event] == ["reset"]
    number = events.index("reset")
    assert [bool(row["commands_per_second"]) for row in watch.rows()[number:]][:2] == [False, True]


def test_a_server_that_goes_and_comes_back(memcached: Servers, watching: Watches) -> None:
    """While it is away its rows have a state and a reason, and no numbers of its own."""
    server = memcached()
    watch = watching(SHORT, server.address)
    watch.wait_for_rows(2)
    server.stop()
    watch.wait_for_rows(4)
    status, output, _ = watch.end()
    rows = watch.rows()
    down = [row for row in rows if row["state"] == "down"]
    assert len(down) >= 2
    assert {row["reason"] for row in down} <= {"refused", "closed"}
    assert down[-1]["reason"] == "refused"
    assert [row["event"] for row in down] == ["down", *("" for _ in down[1:])]
    own = {"pings", "ping_failures", "ping_p50_seconds", "ping_p99_seconds"}
    for row in down:
        assert all(not row[name] for name in list(row)[6:] if name not in own), row
    assert status == 0
    assert f"down in {len(down)} (last: refused: connection refused)" in output


def test_a_hung_server_does_not_delay_the_others(memcached: Servers, watching: Watches) -> None:
    """Each interval has a row for both: one says timeout, the other has its numbers."""
    hung, server = memcached(), memcached()
    watch = watching("--interval=500ms", hung.address, server.address)
    watch.wait_for_rows(2)
    hung.freeze()
    watch.wait_for_rows(8)
    hung.thaw()
    wait_for(lambda: watch.rows()[-2]["event"] == "up", "it does not come back")
    watch.end()
    rows = watch.rows()
    assert [row["server"] for row in rows] == [hung.address, server.address] * (len(rows) // 2)
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    assert all(one["time"] == other["time"] for one, other in pairs)
    timeouts = [one for one, _ in pairs if one["state"] == "down"]
    assert len(timeouts) >= 3
    assert {one["reason"] for one in timeouts} == {"timeout"}
    assert all(other["commands_per_second"] for _, other in pairs)
    back = next(one for one, _ in pairs if one["event"] == "up")
    assert float(back["interval_seconds"]) > 0.5 * len(timeouts)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_watch_in_order(
    memcached: Servers, watching: Watches, number: signal.Signals
) -> None:
    """The file has whole lines, and the summary is printed; that is no failure."""
    server = memcached()
    before = signal.signal(number, signal.SIG_DFL)  # as a terminal has it, and nohup has not
    try:
        watch = watching(SHORT, server.address)
    finally:
        signal.signal(number, before)
    watch.wait_for_rows(2)
    status, output, errors = watch.end(number)
    assert (status, errors) == (0, "")
    assert f"\nended by {number.name}\n" in output
    text = watch.path.read_text()
    assert text.endswith("\n")
    commas = {line.count(",") for line in text.splitlines()}
    assert commas == {30}
    rows = watch.rows()
    assert f"{server.address}: {len(rows)} intervals" in output
    assert len(re.findall(rf"^\d\d:\d\d:\d\d {server.address} ", output, re.MULTILINE)) == len(rows)


def test_nohup_outlives_its_terminal(memcached: Servers, watching: Watches) -> None:
    """SIGHUP is ignored where it was before, as nohup has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        watch = watching(SHORT, memcached().address)
    finally:
        signal.signal(signal.SIGHUP, before)
    watch.wait_for_rows(2)
    watch.process.send_signal(signal.SIGHUP)
    watch.wait_for_rows(3)
    status, output, _ = watch.end()
    assert status == 0
    assert "ended by SIGINT" in output


def test_a_duration_has_its_number_of_intervals(memcached: Servers, tmp_path: Path) -> None:
    """One row each, in the order of time, which is that of the clock on the wall."""
    path, before = tmp_path / "run.csv", datetime.now(UTC)
    done = run("--interval=500ms", "--duration=2.2s", f"--csv={path}", memcached().address)
    after = datetime.now(UTC)
    assert (done.returncode, done.stderr) == (0, "")
    rows = rows_of(path)
    assert len(rows) == 4
    times = [datetime.fromisoformat(row["time"]) for row in rows]
    millisecond = timedelta(milliseconds=1)
    assert times == sorted(times)
    assert before - millisecond <= times[0]
    assert times[-1] <= after + millisecond


def test_a_watch_of_one_that_never_answers() -> None:
    """It is told with its reason, and is a failure."""
    address = f"127.0.0.1:{free_port()}"
    done = run(SHORT, "--duration=400ms", address)
    assert done.returncode == 1
    assert done.stderr == (
        f"memcached-exporter: no server answered: {address}: refused: connection refused\n"
    )
    assert f"{address}: never answered (refused: connection refused)" in done.stdout
    assert "down: refused" in done.stdout


def test_one_of_two_that_answers_is_enough(memcached: Servers) -> None:
    """The other one is told in the summary."""
    address = f"127.0.0.1:{free_port()}"
    done = run(SHORT, "--duration=400ms", memcached().address, address)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{address}: never answered" in done.stdout


def test_an_equal_run_is_not_worse(memcached: Servers, tmp_path: Path) -> None:
    """A file compares with a run like it, also of a server at another place."""
    first, second = memcached(), memcached()
    path = tmp_path / "run.csv"
    with Load(first, pause=0.01):
        done = run("--interval=500ms", "--duration=2s", f"--csv={path}", first.address)
    assert done.returncode == 0, done.stderr
    # Latency on a busy machine is what it is: only throughput and hit rate decide here.
    config = tmp_path / "exporter.yml"
    config.write_text("thresholds: {decline: 0.6, latency: {floor: 10}}\n")
    with Load(second, pause=0.01):
        arguments = (
            "--interval=500ms",
            "--duration=2s",
            f"--baseline={path}",
            f"--config.file={config}",
        )
        done = run(*arguments, second.address)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert f"{second.address} against {first.address} in the baseline:" in done.stdout
    assert done.stdout.endswith(
        "\nnot worse than the baseline: no decline of more than 60 % that counts\n"
    )


def test_a_slowed_run_is_worse(memcached: Servers, tmp_path: Path) -> None:
    """The figure that fell is named, and the exit status says so."""
    server, path = memcached(), tmp_path / "run.csv"
    with Load(server):
        done = run(SHORT, "--duration=1s", f"--csv={path}", server.address)
    assert done.returncode == 0, done.stderr
    with Load(server, pause=0.1):
        done = run(SHORT, "--duration=1s", f"--baseline={path}", server.address)
    assert (done.returncode, done.stderr) == (1, "")
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"worse than the baseline: {server.address}: commands_per_second -")
    assert re.search(r"^  commands_per_second .* -[0-9.]+ %  worse$", done.stdout, re.MULTILINE)


def test_slow_answers_are_worse(memcached: Servers, tmp_path: Path) -> None:
    """Latency decides as well: here the server has moved behind a slow link."""
    server, path = memcached(), tmp_path / "run.csv"
    done = run(SHORT, "--duration=1s", f"--csv={path}", server.address)
    assert done.returncode == 0, done.stderr
    with SlowLink(server.port, seconds=0.05) as address:
        done = run("--interval=1s", "--duration=2s", f"--baseline={path}", address)
    assert (done.returncode, done.stderr) == (1, "")
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"worse than the baseline: {address}: ping_p50_seconds +")
    assert ", ping_p99_seconds +" in last


def test_a_unix_socket(tmp_path: Path) -> None:
    """It is watched like all others, and named as it was written."""
    path = tmp_path / "mc.sock"
    with memcached_on_socket(path):
        done = run(*TWO, str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n{path}: 2 intervals\n" in done.stdout


def test_ipv6(memcached: Servers) -> None:
    """The same with an address in brackets."""
    server = memcached(host="::1")
    done = run(*TWO, server.address)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n{server.address}: 2 intervals\n" in done.stdout


def test_servers_of_a_configuration_file(memcached: Servers, tmp_path: Path) -> None:
    """They are watched when none is named; a named one takes their place."""
    first, second, third = memcached(), memcached(), memcached()
    config = tmp_path / "exporter.yml"
    config.write_text(f"servers: [{{address: {first.address}}}, {{address: {second.address}}}]\n")
    both = run(SHORT, "--duration=200ms", f"--config.file={config}")
    assert re.findall(r"^(\S+): 1 intervals$", both.stdout, re.MULTILINE) == [
        first.address,
        second.address,
    ]
    other = run(SHORT, "--duration=200ms", f"--config.file={config}", third.address)
    assert re.findall(r"^(\S+): 1 intervals$", other.stdout, re.MULTILINE) == [third.address]
