"""What the tests of resilience share: daemons in odd places, and what their pages say."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.processes import Exporter, Memcached, sample

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Daemon(Exporter):
    """The daemon, started by way of a command such as ``unshare`` that becomes it."""

    def __init__(self, log: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> None:
        self._log = log
        self.command = (
            *(*prefix, sys.executable, "-m", "exporter", "--web.listen-address=127.0.0.1:0"),
            *arguments,
        )
        with log.open("wb") as errors:
            self.process = subprocess.Popen(self.command, stderr=errors)
        try:
            self.host, self.port = self._wait_until_listening()
        except BaseException:
            self.stop()
            raise

    def resident(self) -> int:
        """Return the bytes of memory that the daemon occupies."""
        found = re.search(
            r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text()
        )
        assert found
        return int(found[1]) * 1024

    def warnings(self) -> list[str]:
        """Return the warnings and errors in the log."""
        lines = self.log.splitlines()
        return [line for line in lines if "level=warning" in line or "level=error" in line]


class Watched:
    """A daemon and one of its servers."""

    def __init__(self, daemon: Daemon, address: str) -> None:
        self.daemon = daemon
        self.address = address

    def up(self) -> float:
        """Scrape, and return whether the server is up."""
        self.samples: Samples = self.daemon.samples()
        return self.samples[sample("memcached_up", server=self.address)]

    def get(self, name: str, **labels: str) -> float | None:
        """Return a sample of the server in the last page, None when it is absent."""
        return self.samples.get(sample(name, **labels, server=self.address))

    def errors(self) -> dict[str, float]:
        """Return the reasons of the failures up to the last page, with their numbers."""
        return {
            dict(labels)["reason"]: number
            for (name, labels), number in self.samples.items()
            if name == "memcached_exporter_scrape_errors_total" and number
        }


def servers_on(samples: Samples) -> set[str]:
    """Return the servers that a page has any sample of."""
    return {dict(labels)["server"] for _, labels in samples if "server" in dict(labels)}


def count(server: Memcached, key: str) -> int:
    """Return one of the server's own counts; asking for it is a connection of its own."""
    return int(server.stats()[key])


def at_rest(server: Memcached) -> int:
    """Return the server's open connections once it has noticed the end of earlier ones."""
    before, now = -1, count(server, "curr_connections")
    while before != now:
        time.sleep(0.05)
        before, now = now, count(server, "curr_connections")
    return now


def settle(daemon: Exporter, threads: int, files: int, seconds: float = 5) -> None:
    """Wait until the daemon has no more threads and open files than that."""
    deadline = time.monotonic() + seconds
    while daemon.threads() > threads or daemon.descriptors() > files:
        assert time.monotonic() < deadline, (daemon.threads(), daemon.descriptors())
        time.sleep(0.02)


def refused_start(*arguments: str) -> str:
    """Start a daemon that must not come up, and return its one line of error."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", "--web.listen-address=127.0.0.1:0", *arguments],
        capture_output=True,
        timeout=20,
        check=False,
    )
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert len(text.splitlines()) == 1, text
    return text


@contextlib.contextmanager
def elapsed_below(seconds: float) -> Iterator[None]:
    """Fail when what is done within takes longer."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def is_root() -> bool:
    """Return whether these tests may do what root may."""
    return os.geteuid() == 0
