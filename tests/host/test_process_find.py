"""Which process a server is: what is found is proved, and what cannot be proved is not found."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.host.process import Evidence, Process, _roster, arguments, find, is_running
from exporter.host.process_sockets import Proof, holds_tcp
from tests.host.subjects import (
    evidence_of,
    found,
    process_of,
    settings,
    wait_until,
)
from tests.processes import Memcached, free_port, wait_or_end

Start = Callable[..., Memcached]


def test_a_server_on_the_loopback_is_found(memcached: Start) -> None:
    """The process is the one that was started."""
    server = memcached()
    assert found(("127.0.0.1", server.port)) == process_of(server.process.pid)


@pytest.mark.parametrize(
    ("listens", "dialled"),
    [("::1", "::1"), ("::", "::1"), ("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "::ffff:127.0.0.1")],
)
def test_both_ip_versions(memcached: Start, listens: str, dialled: str) -> None:
    """The connection is found as the server has it, however it was dialled."""
    server = memcached(host=listens)
    assert found((dialled, server.port)) == process_of(server.process.pid)


def test_a_server_behind_a_unix_socket_is_found(memcached: Start, tmp_path: Path) -> None:
    """The kernel says who listens there, also when the server has gone to the background."""
    path, pid_file = tmp_path / "a socket", tmp_path / "pid"
    subprocess.run(
        ["memcached", "-d", "-u", "root", "-s", str(path), "-P", str(pid_file)], check=True
    )
    try:
        wait_until(lambda: path.exists() and pid_file.exists() and pid_file.stat().st_size > 0)
        pid = int(pid_file.read_text())
        other = memcached()
        assert found(str(path)) == process_of(pid)
        with evidence_of(str(path)) as (evidence, age):
            assert evidence.peer_pid == pid
            assert find(evidence, age + 60, "", settings()) is None
            mine = Evidence(other.process.pid, far=str(path), peer_pid=pid)
            assert find(mine, age, "", settings()) is None
    finally:
        wait_until(pid_file.exists)
        os.kill(int(pid_file.read_text()), 9)


@pytest.mark.parametrize(
    "changed",
    [
        {"pid": 1},
        {"near": "127.0.0.1:1"},
        {"far": "127.0.0.1:1"},
        {"near": "192.0.2.1:40000", "far": "192.0.2.2:11211"},
        {"near": "[fe80::1%eth0]:40000", "far": "[fe80::2]:11211"},
        {"near": "fe80::1%eth0:40000", "far": "fe80::2:11211"},
        {"near": "", "far": "/run/memcached.sock"},
        {"near": "", "far": "/run/memcached.sock", "peer_pid": 1},
        {"pid": 0},
        {"pid": -1},
    ],
    ids=str,
)
def test_other_evidence_is_of_another_server(memcached: Start, changed: dict[str, str]) -> None:
    """A server elsewhere with this one's number and age has another connection."""
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (true, age):
        fields = {name: getattr(true, name) for name in true.__struct_fields__}
        assert find(Evidence(**fields), age, "", settings()) is not None
        assert find(Evidence(**(fields | changed)), age, "", settings()) is None
        assert find(None, age, "", settings()) is None


@pytest.mark.parametrize("off", [-3600, -10, 10, 3600])
def test_another_age_is_that_of_another_server(memcached: Start, off: float) -> None:
    """The start is part of the proof."""
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        assert find(evidence, age + off, "", settings()) is None


def test_a_closed_connection_proves_nothing(memcached: Start) -> None:
    """What the kernel keeps of it belongs to nobody."""
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        pass
    wait_until(lambda: find(evidence, age, "", settings()) is None)


@pytest.mark.parametrize(
    ("name", "believed"), [("memcached-1.6", True), ("my-memcached", True), ("cache", False)]
)
def test_the_name_is_part_of_the_proof(tmp_path: Path, name: str, believed: bool) -> None:
    """A build may have its own file name; what is not called memcached is not looked at."""
    binary = shutil.which("memcached")
    assert binary
    copy, port = tmp_path / name, free_port()
    shutil.copy(binary, copy)
    process = subprocess.Popen([copy, "-l", "127.0.0.1", "-p", str(port), "-u", "root"])
    wait_or_end(process, port)
    try:
        assert found(("127.0.0.1", port)) == (process_of(process.pid) if believed else None)
    finally:
        process.kill()
        process.wait()


def test_a_restart_makes_another_process(memcached: Start) -> None:
    """The old process is gone, and the new one is found by a new connection only."""
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        old = find(evidence, age, "", settings())
        assert old is not None
        assert is_running(old)
        server.restart()
        assert not is_running(old)
        assert find(evidence, age, "", settings()) is None
    new = found(("127.0.0.1", server.port))
    assert new == process_of(server.process.pid)
    assert new != old


def test_a_process_that_has_ended_does_not_run(memcached: Start, tmp_path: Path) -> None:
    """Neither before its parent knows, nor when its number is another process'."""
    server, pid_file = memcached(), tmp_path / "pid"
    pid_file.write_text(str(server.process.pid))
    process = process_of(server.process.pid)
    assert is_running(process)
    assert find(None, 0, str(pid_file), settings()) == process
    assert not is_running(Process(process.pid, process.started + 1, process.directory))
    server.process.kill()
    wait_until(lambda: ") Z " in Path(f"/proc/{process.pid}/stat").read_text())
    assert not is_running(process)
    assert arguments(process) is None
    assert find(None, 0, str(pid_file), settings()) is None


def test_a_pid_file_is_believed_without_the_connection(memcached: Start, tmp_path: Path) -> None:
    """The number is enough, whatever the age and wherever the connection seems to go."""
    server, pid_file = memcached(), tmp_path / "pid"
    pid_file.write_text(f"{server.process.pid}\n")
    process = process_of(server.process.pid)
    far = Evidence(server.process.pid, near="192.0.2.1:1", far="192.0.2.2:2")
    assert find(far, 99, str(pid_file), settings()) == process
    assert find(None, 0, str(pid_file), settings()) == process


def test_a_pid_file_that_was_left_behind(memcached: Start, tmp_path: Path) -> None:
    """Its number is another process' now, whose metrics and arguments are not the server's."""
    server, pid_file = memcached(), tmp_path / "pid"
    pid_file.write_text(f"{os.getpid()}\n")
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        assert find(evidence, age, str(pid_file), settings()) is None
    assert find(None, 0, str(pid_file), settings()) is None


def test_a_pid_file_of_a_server_that_is_called_otherwise(tmp_path: Path) -> None:
    """The number that the server says proves it."""
    pid_file = tmp_path / "pid"
    pid_file.write_text(f"{os.getpid()}\n")
    evidence = Evidence(os.getpid(), near="192.0.2.1:1", far="192.0.2.2:2")
    assert find(evidence, 1, str(pid_file), settings()) == process_of(os.getpid())


def test_a_named_pipe_as_a_pid_file(tmp_path: Path) -> None:
    """Nobody waits for a writer, nor for one that says nothing."""
    pid_file = tmp_path / "pid"
    os.mkfifo(pid_file)
    assert find(None, 0, str(pid_file), settings()) is None
    writer = os.open(pid_file, os.O_RDWR)
    try:
        assert find(None, 0, str(pid_file), settings()) is None
    finally:
        os.close(writer)


def test_a_directory_that_looks_like_a_process(memcached: Start, tmp_path: Path) -> None:
    """What Unicode calls a digit is no process number: the server must not fail of it."""
    server = memcached()
    pid = str(server.process.pid)
    for name in ("uptime", "self", pid):
        (tmp_path / name).symlink_to(f"/proc/{name}")
    (tmp_path / "\u00b2").mkdir()
    (tmp_path / "\u00b2" / "comm").write_text("memcached\n")
    process = found(("127.0.0.1", server.port), tmp_path)
    assert process
    assert process.pid == server.process.pid


@pytest.mark.parametrize(
    "text", ["", "\n", "soon", "-1", "0", "4194305", "9" * 5000, "\xff", "1/2"]
)
def test_a_pid_file_without_a_process(memcached: Start, tmp_path: Path, text: str) -> None:
    """Nothing is found, also when the server itself could be: the file is who is meant."""
    pid_file = tmp_path / "pid"
    pid_file.write_text(text, encoding="latin-1")
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        assert find(evidence, age, str(pid_file), settings()) is None
        assert find(evidence, age, str(tmp_path / "absent"), settings()) is None
        assert find(evidence, age, str(tmp_path), settings()) is None


def test_arguments_of_a_process(memcached: Start) -> None:
    """They are those that the server was started with."""
    server = memcached("-m", "48")
    said = arguments(process_of(server.process.pid))
    assert said is not None
    assert said[-2:] == ["-m", "48"]


def test_arguments_that_keep_their_reader_waiting(memcached: Start, tmp_path: Path) -> None:
    """A process that waits for memory keeps readers of its arguments: no scrape waits along."""
    process = process_of(memcached().process.pid)
    (tmp_path / "stat").symlink_to(process.directory / "stat")
    os.mkfifo(tmp_path / "cmdline")
    began = time.monotonic()
    assert arguments(Process(process.pid, process.started, tmp_path)) is None
    assert time.monotonic() - began < 1
    (tmp_path / "cmdline").write_bytes(b"")  # lets the reader end


def test_a_host_without_procfs_is_no_error(tmp_path: Path) -> None:
    """Without process numbers nothing is found."""
    evidence = Evidence(1, near="127.0.0.1:1", far="127.0.0.1:2")
    assert find(evidence, 10, "", settings(procfs=tmp_path / "absent")) is None
    assert find(evidence, 10, "", settings(procfs=tmp_path)) is None


def test_all_processes_are_looked_through_once(
    memcached: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Servers that are older than the list of processes do not need another one."""
    (tmp_path / "proc").symlink_to("/proc")
    proc = settings(procfs=tmp_path / "proc")
    looks: list[int] = []
    list_directory = os.listdir

    def counted(path: int) -> list[str]:
        looks.append(path)
        return list_directory(path)

    monkeypatch.setattr(os, "listdir", counted)
    elsewhere = Evidence(1, near="192.0.2.1:1", far="192.0.2.2:2")
    for _ in range(50):
        assert find(elsewhere, 1000, "", proc) is None
    assert len(looks) == 1
    # A server that has just started may be missing there, and is found nevertheless.
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        process = find(evidence, age, "", proc)
    assert process is not None
    assert process.pid == server.process.pid


@pytest.mark.parametrize(("dialled", "mapped"), [("127.0.0.1", "::ffff:127.0.0.1"), ("::1", "::1")])
def test_a_socket_for_both_ip_versions(dialled: str, mapped: str) -> None:
    """A server that listens with one has its IPv4 connections among those of IPv6."""
    own, user = os.open("/proc/self", os.O_RDONLY), os.geteuid()
    with (
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener,
        socket.create_connection((dialled, listener.getsockname()[1])) as client,
        listener.accept()[0] as accepted,
    ):
        near, far = client.getsockname()[1], client.getpeername()[1]
        assert accepted.getsockname()[0] == mapped
        for host in {dialled, mapped}:
            assert holds_tcp(own, user, f"{host}:{near}", f"{host}:{far}") is Proof.CERTAIN
        assert holds_tcp(own, user, f"{dialled}:{far}", f"{dialled}:{far}") is Proof.REFUTED
        assert holds_tcp(own, user + 1, f"{dialled}:{near}", f"{dialled}:{far}") is Proof.REFUTED
    os.close(own)


def test_a_number_in_the_list_may_be_another_program_by_now(tmp_path: Path) -> None:
    """What was called memcached when processes were listed is looked at again."""
    (tmp_path / "proc").symlink_to("/proc")
    proc = settings(procfs=tmp_path / "proc")
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    age = uptime - process_of(os.getpid()).started / os.sysconf("SC_CLK_TCK")
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
        listener.accept()[0],
    ):
        near, far = client.getsockname()[1], client.getpeername()[1]
        evidence = Evidence(os.getpid(), f"127.0.0.1:{near}", f"127.0.0.1:{far}")
        roster = _roster(proc.procfs)
        roster._list = (time.monotonic() + 60, [os.getpid()])
        assert find(evidence, age, "", proc) is None
        name = Path("/proc/self/comm").read_text()
        Path("/proc/self/comm").write_text("memcached")
        process = find(evidence, age, "", proc)
        Path("/proc/self/comm").write_text(name)
        assert process is not None
        assert process.pid == os.getpid()
