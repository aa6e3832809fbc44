"""Servers' processes on this host, seen through the daemon."""

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.catalogue.host.collectors import PROCESS_OWN, PROCESS_SECTIONS
from tests.processes import Exporter, Memcached, sample
from tests.resilience.support import refused_start
from tests.sections.wire import Tap
from tests.web.clients import eventually

Start = Callable[..., Memcached]
Daemons = Callable[..., Exporter]

PROCESS_NAMES = {row.name for section in (PROCESS_OWN, *PROCESS_SECTIONS) for row in section.rows}


def fields(server: Memcached) -> dict[str, str]:
    """Return what /proc/PID/status says of a server."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return dict(re.findall(r"^(\w+):\s+(.*)$", text, re.MULTILINE))


def test_a_process_is_found_without_being_told(exporter: Daemons, memcached: Start) -> None:
    """The values are those of this server's process, by both ways to read it."""
    server, other = memcached("-t", "7", "-c", "300"), memcached("-t", "2")
    daemon = exporter(
        f"--memcached.address={server.address}", f"--memcached.address={other.address}"
    )
    page = daemon.samples()
    for one, workers in ((server, 7), (other, 2)):
        found = sample("memcached_process_threads", kind="worker", server=one.address)
        assert page[found] == workers
        started = page[sample("memcached_process_start_time_seconds", server=one.address)]
        by_itself = page[sample("memcached_start_time_seconds", server=one.address)]
        assert abs(started - by_itself) < 3
    assert page[sample("memcached_process_max_fds", server=server.address)] == 300
    alone = daemon.samples(f"/scrape?target={server.address}")
    assert alone[sample("memcached_process_threads", kind="worker")] == 7
    resident = alone[sample("memcached_process_resident_memory_bytes")]
    assert abs(resident - int(fields(server)["VmRSS"].split()[0]) * 1024) < 2**20
    assert not [
        name for name, _ in alone if name.startswith(("memcached_nic_", "memcached_host_c"))
    ]


def test_a_restarted_server_is_another_process(exporter: Daemons, memcached: Start) -> None:
    """Its counters begin anew, and the start time says so."""
    server = memcached("-t", "3")
    daemon = exporter(f"--memcached.address={server.address}")
    start = sample("memcached_process_start_time_seconds", server=server.address)
    threads = sample("memcached_process_threads", kind="worker", server=server.address)
    before = daemon.samples()[start]
    server.arguments = ("-t", "5")
    server.restart()
    page = daemon.samples()
    assert page[start] > before
    assert page[threads] == 5
    server.stop()
    assert not [key for key in daemon.samples() if key[0] in PROCESS_NAMES]


def test_a_hung_server_still_shows_its_process(exporter: Daemons, memcached: Start) -> None:
    """That is when one wants to see it; what memcached itself says is absent."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout=300ms")
    fds = sample("memcached_process_max_fds", server=server.address)
    assert daemon.samples()[fds] == 1024
    server.freeze()
    page = daemon.samples()
    assert page[sample("memcached_up", server=server.address)] == 0
    assert page[fds] == 1024
    assert sample("memcached_max_connections", server=server.address) not in page
    server.thaw()
    assert eventually(lambda: daemon.samples()[sample("memcached_up", server=server.address)] == 1)


def test_a_relayed_server_is_not_believed(exporter: Daemons, memcached: Start) -> None:
    """Behind a relay nothing proves which process it is; a pid file names it."""
    server = memcached("-t", "6")
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        page = exporter(f"--memcached.address={tap.address}").samples()
        assert page[sample("memcached_up", server=tap.address)] == 1
        assert not [key for key in page if key[0] in PROCESS_NAMES]


@pytest.mark.parametrize("up", [True, False])
def test_a_pid_file_names_the_process(
    exporter: Daemons, memcached: Start, tmp_path: Path, up: bool
) -> None:
    """By the official exporter's flag, with its names, also of a server that does not answer."""
    server = memcached("-t", "6")
    pid_file = tmp_path / "memcached.pid"
    pid_file.write_text(f"{server.process.pid}\n")
    if not up:
        server.freeze()
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        daemon = exporter(
            f"--memcached.address={tap.address}",
            f"--memcached.pid-file={pid_file}",
            "--memcached.timeout=300ms",
        )
        page = daemon.samples()
    assert page[sample("memcached_up", server=tap.address)] == up
    assert page[sample("memcached_process_threads", kind="worker", server=tap.address)] == 6
    names = {name for name, _ in page}
    official = ("cpu_seconds_total", "max_fds", "open_fds", "resident_memory_bytes")
    more = ("start_time_seconds", "virtual_memory_bytes")
    assert {f"memcached_process_{name}" for name in (*official, *more)} <= names


def test_a_pid_file_is_of_one_server() -> None:
    """With several servers the flag would be a guess."""
    text = refused_start(
        "--memcached.address=a:1", "--memcached.address=b:1", "--memcached.pid-file=/run/x.pid"
    )
    assert "--memcached.pid-file: there are several servers" in text
    assert "write pid_file with each of them" in text
