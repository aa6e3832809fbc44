"""Troubles with the host's own files, seen through the daemon."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Exporter, Memcached, sample

Start = Callable[..., Memcached]
Daemons = Callable[..., Exporter]

SOFTNET = sample("memcached_host_collector_success", collector="softnet")
PROCESSED = sample("memcached_host_softnet_processed_total", cpu="0")


@pytest.fixture
def procfs(tmp_path: Path) -> Path:
    """Return the root of a made-up /proc with an empty directory for process 1's network."""
    (tmp_path / "proc" / "1" / "net").mkdir(parents=True)
    return tmp_path / "proc"


def test_the_host_is_read_where_the_flags_say(exporter: Daemons, procfs: Path) -> None:
    """F13: below another root process 1's network files are the host's, never the reader's own."""
    (procfs / "1" / "net" / "softnet_stat").write_text("0000abcd 00000001 00000002\n")
    daemon = exporter("--memcached.address=127.0.0.1:1", f"--path.procfs={procfs}")
    assert daemon.samples()[PROCESSED] == 0xABCD


def test_the_host_can_be_switched_off(exporter: Daemons) -> None:
    """One flag, and no series and no collector is left."""
    daemon = exporter("--memcached.address=127.0.0.1:1", "--no-collector.host")
    names = {name for name, _ in daemon.samples()}
    assert not [name for name in names if name.startswith("memcached_host_")]
    assert "memcached_up" in names


def test_one_collector_can_be_switched_off(exporter: Daemons, tmp_path: Path) -> None:
    """The file names it; the others stay."""
    path = tmp_path / "exporter.yml"
    path.write_text("servers: []\nhost: {collectors: {softnet: false}}\n")
    collectors = {
        dict(labels)["collector"]
        for name, labels in exporter(f"--config.file={path}").samples()
        if name == "memcached_host_collector_duration_seconds"
    }
    assert "softnet" not in collectors


def test_a_broken_source_leaves_memcached_alone(
    exporter: Daemons, memcached: Start, procfs: Path
) -> None:
    """C05: a directory in a file's place fails that collector; a line is logged, no traceback."""
    (procfs / "1" / "net" / "softnet_stat").mkdir()
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", f"--path.procfs={procfs}")
    for _ in range(3):
        samples = daemon.samples()
        assert samples[SOFTNET] == 0
        assert samples[sample("memcached_max_connections", server=server.address)] == 1024
    assert daemon.log.count("collector=softnet") == 1
    assert "Traceback" not in daemon.log


def test_a_source_that_hangs_keeps_no_page_and_no_shutdown(
    exporter: Daemons, memcached: Start, procfs: Path
) -> None:
    """The page goes out within its time with memcached's part, and the daemon ends when told."""
    os.mkfifo(procfs / "1" / "net" / "softnet_stat")
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", f"--path.procfs={procfs}")
    up = sample("memcached_up", server=server.address)
    for _ in range(3):
        began = time.monotonic()
        answer = daemon.request("/metrics", X_Prometheus_Scrape_Timeout_Seconds="2")
        assert time.monotonic() - began < 2
        assert f'memcached_up{{server="{server.address}"}} 1' in answer.text
        assert 'memcached_host_collector_success{collector="softnet"} 0' in answer.text
    assert up in daemon.samples()
    assert daemon.log.count("collector=softnet") == 1
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(10) == 0
