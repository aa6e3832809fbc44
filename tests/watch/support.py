"""The command as its users run it, and a load of which each request is counted."""

import contextlib
import csv
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pymemcache  # type: ignore[import-untyped]
import pyte

from tests.processes import Memcached

COMMAND = (sys.executable, "-m", "exporter", "watch")
SECONDS = 30.0
"""Longest wait for anything."""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Watch to the end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )


class Load:
    """Requests by a thread, one after another, until it is stopped; each one is counted."""

    def __init__(self, server: Memcached, pause: float = 0.0) -> None:
        self.counts: Counter[str] = Counter()
        self._pause = pause
        self._client = pymemcache.Client((server.host, server.port), timeout=5, no_delay=True)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopped.set()
        self._thread.join()
        self._client.close()

    def _run(self) -> None:
        number = 0
        while not self._stopped.wait(self._pause):
            number += 1
            self._client.set(f"key{number % 50}", "value", noreply=False)
            hit = self._client.get(f"key{number % 75}") is not None
            self._client.delete("missing", noreply=False)
            self._client.touch(f"key{number % 50}", 0, noreply=False)
            self._client.incr("missing", 1, noreply=False)
            self.counts.update(
                ("set", "get", "delete", "touch", "incr", *(("hit",) if hit else ()))
            )


class SlowLink:
    """A way to a server on which each answer takes some time more."""

    def __init__(self, port: int, seconds: float) -> None:
        self._server = ("127.0.0.1", port)
        self._seconds = seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> str:
        self._threads[0].start()
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_error: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join()
        for one in (self._listener, *self._sockets):
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._sockets += [client, server]
                for ways in ((client, server, 0.0), (server, client, self._seconds)):
                    self._threads.append(threading.Thread(target=_pass_on, args=ways))
                    self._threads[-1].start()


def _pass_on(source: socket.socket, target: socket.socket, seconds: float) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            time.sleep(seconds)
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class Watching:
    """A watch that goes on, with its CSV file."""

    def __init__(self, path: Path, *arguments: str) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [*COMMAND, f"--csv={path}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rows(self) -> list[dict[str, str]]:
        """Return the whole lines of the file by column."""
        return rows_of(self.path) if self.path.exists() else []

    def wait_for_rows(self, more: int) -> None:
        """Wait until there are some more lines than now."""
        wanted = len(self.rows()) + more
        wait_for(lambda: len(self.rows()) >= wanted or self._ended(), "no more rows")
        assert not self._ended(), self.process.communicate()

    def _ended(self) -> bool:
        return self.process.poll() is not None

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
        """End it by a signal; return status, output and errors."""
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, output, errors

    def stop(self) -> None:
        """End it, whatever its state."""
        self.process.kill()
        self.process.communicate()


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file by column."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def total(rows: list[dict[str, str]], rate: str) -> float:
    """Return how many there were, from a rate and how long each interval was."""
    return sum(
        float(row[rate]) * float(row["interval_seconds"]) for row in rows if row["interval_seconds"]
    )


def _environment() -> dict[str, str]:
    """Return the environment without what overrules the terminal, which test runners set."""
    overruling = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"}
    return {name: value for name, value in os.environ.items() if name not in overruling}


class Terminal:
    """A watch in a terminal of its own, with what its user sees."""

    def __init__(self, columns: int, *arguments: str, **environment: str) -> None:
        self.screen = pyte.Screen(columns, 40)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._own, theirs = pty.openpty()
        self.resize(columns)
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # One call of the kernel, so that Ctrl-C finds the process.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
            env=_environment() | {"TERM": "xterm-256color"} | environment,
        )
        os.close(theirs)

    def resize(self, columns: int) -> None:
        """Give the terminal another width."""
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.screen.resize(40, columns)

    def wait_for(self, condition: Callable[["Terminal"], bool]) -> None:
        """Read what is written until something is seen."""
        deadline = time.monotonic() + SECONDS
        while not condition(self):
            assert time.monotonic() < deadline, self.text
            if not self._read():
                break
        assert condition(self), self.text

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._own, keys)

    def end(self) -> int:
        """Read all that is still written, and return the exit status."""
        while self._read():
            pass
        return self.process.wait(timeout=SECONDS)

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def stop(self) -> None:
        """End it, whatever its state."""
        self.process.kill()
        self.process.wait()
        os.close(self._own)

    def _read(self) -> bool:
        """Take what was written, if anything was; return False when nobody writes any more."""
        ready, _, _ = select.select([self._own], [], [], 0.1)
        if not ready:
            return True
        try:
            data = os.read(self._own, 65536)
        except OSError:  # Linux says so when the other side is closed
            return False
        self.raw += data
        self._stream.feed(data)
        return True
