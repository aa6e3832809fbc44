"""The systemd unit is sound, closed, and lets the exporter do all that it does."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Memcached, free_port, parse, sample
from tests.web.clients import eventually, fetched

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "config" / "systemd" / "memcached-exporter.service"
SOCKET = UNIT.with_suffix(".socket")
NOBODY = 65534
_SET_MDWE, _NO_NEW_PRIVILEGES = 65, 38
_CANNOT = 77
_MOST_EXPOSED = 2.0

needs_systemd = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd is not installed"
)


def settings(path: Path) -> dict[str, list[str]]:
    """Return the settings of a unit that are in force."""
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if re.match("[A-Za-z]+=", line):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The unit with programs that this machine has in the places of the installed ones."""
    program = tmp_path / "memcached-exporter"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m exporter "$@"\n')
    program.chmod(0o755)
    text = UNIT.read_text().replace("/usr/bin/memcached-exporter", str(program))
    copy = tmp_path / UNIT.name
    copy.write_text(text)
    shutil.copy(SOCKET, tmp_path)
    return copy


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@needs_systemd
def test_systemd_has_nothing_to_say(installed: Path) -> None:
    """Every setting is known, and right."""
    done = analyze("verify", str(installed), str(installed.with_suffix(".socket")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_little_is_exposed(installed: Path) -> None:
    """What is left is that it speaks on the network."""
    done = analyze("security", "--offline=true", "--no-pager", str(installed))
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+) ", done.stdout)
    assert found, done.stderr
    assert float(found[1]) <= _MOST_EXPOSED


def test_what_the_host_half_needs_is_open() -> None:
    """Netlink is allowed, and neither /proc nor the network is taken away."""
    told = settings(UNIT)
    families = set(told["RestrictAddressFamilies"][0].split())
    assert families == {"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"}
    assert not {"ProtectProc", "ProcSubset", "PrivateNetwork", "PrivateUsers"} & told.keys()
    assert told["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert told["DynamicUser"] == ["yes"]
    assert told["CapabilityBoundingSet"] == [""]


def test_the_socket_unit_is_what_the_flag_takes() -> None:
    """TCP, on the port of the exporter."""
    assert settings(SOCKET)["ListenStream"] == ["9150"]


CLOSED = f"""
import ctypes, encodings.idna, os, sys
from exporter.cli import main
libc = ctypes.CDLL(None)
for capability in range(40):
    libc.prctl(24, capability, 0, 0, 0)
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
assert libc.prctl({_NO_NEW_PRIVILEGES}, 1, 0, 0, 0) == 0
if libc.prctl({_SET_MDWE}, 1, 0, 0, 0) != 0:
    sys.exit({_CANNOT})
sys.exit(main())
"""
"""A program that gives up what the unit takes away (root, capabilities, new code in memory), and is
the exporter then."""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_it_works_without_what_the_unit_takes_away(
    memcached: Callable[..., Memcached], tmp_path: Path
) -> None:
    """Unprivileged, and with memory that cannot become code, all of a page is there; it reloads."""
    server = memcached("-t", "1")
    port = free_port()
    log = tmp_path / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", CLOSED, f"--memcached.address={server.address}"),
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stderr=errors,
            cwd=ROOT,
        )
    try:
        assert eventually(lambda: "listening" in log.read_text() or process.poll() is not None)
        if process.poll() == _CANNOT:
            pytest.skip("this kernel cannot forbid that memory becomes code")
        found = parse(fetched(f"http://127.0.0.1:{port}/metrics"))
        assert found[sample("memcached_up", server=server.address)] == 1
        names = {name for name, _ in found}
        assert "memcached_thread_cpu_seconds_total" in names
        assert "memcached_listen_queue_limit" in names
        assert "memcached_host_context_switches_total" in names
        failed = [
            key for key, value in found.items() if "collector_success" in key[0] and not value
        ]
        assert failed == []
        process.send_signal(signal.SIGHUP)
        assert eventually(lambda: "configuration reloaded" in log.read_text())
        process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 20
        while process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
