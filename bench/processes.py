"""The processes that are measured, and what the kernel says of their CPU time and memory."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[1]
HOST = "127.0.0.1"
_START_SECONDS = 15.0


class CannotMeasureError(Exception):
    """Why there is no result."""


def free_port() -> int:
    """Return a loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process: all its threads, also those that ended.

    Its CPU clock (clock_getcpuclockid(3)) counts in nanoseconds; stat counts in ticks of 10 ms, and
    the threads' schedstat forgets threads that ended.
    """
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    if not found:
        raise CannotMeasureError(f"/proc/{pid}/status has no VmRSS")
    return int(found[1]) * 1024


class Process:
    """A server on a loopback port of its own; as a context manager it is ended at the end."""

    def __init__(self, command: Sequence[str], port: int) -> None:
        self.port = port
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=self._errors,
            stderr=self._errors,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for who started it, and who ends it in order
        )
        self.pid = self._process.pid
        try:
            self._wait_for_port(command[0])
        except BaseException:
            self.stop()
            raise

    def _wait_for_port(self, name: str) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection((HOST, self.port), timeout=1).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise CannotMeasureError(f"{name} did not start: {self.output()}") from None
                time.sleep(0.01)
            else:
                return

    def output(self) -> str:
        """Return the end of what the process has said."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-2000:] or "it said nothing"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process, whatever its state."""
        self._process.kill()
        self._process.wait()
        self._errors.close()


def memcached(*arguments: str) -> Process:
    """Start a memcached that has memory for every slab class."""
    binary = shutil.which("memcached")
    if not binary:
        raise CannotMeasureError("memcached is not installed: make bench installs it")
    port = free_port()
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    return Process([binary, "-l", HOST, "-p", str(port), "-m", "256", *user, *arguments], port)


def exporter(server: Process) -> Process:
    """Start this project's daemon for a memcached, without the host, which others do not read."""
    port = free_port()
    flags = [*_flags(server, port), "--no-collector.host"]
    return Process([sys.executable, "-m", "exporter", *flags], port)


def peer(executable: str, server: Process) -> Process:
    """Start another exporter that takes the official exporter's flags."""
    port = free_port()
    try:
        return Process([executable, *_flags(server, port)], port)
    except OSError as error:
        raise CannotMeasureError(f"BENCH_PEER: {error}") from error


def _flags(server: Process, port: int) -> list[str]:
    return [f"--memcached.address={HOST}:{server.port}", f"--web.listen-address={HOST}:{port}"]


def first_line(*command: str) -> str:
    """Return the first line that a command prints, such as its version."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({error})"
    return next(iter((ran.stdout + ran.stderr).splitlines()), "unknown")
