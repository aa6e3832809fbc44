"""The processes of the soak: memcached servers that are hurt, and what is known of their state."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec
import pymemcache  # type: ignore[import-untyped]

from bench.processes import HOST, ROOT, CannotMeasureError

START_SECONDS = 15.0
_LOW_PORTS = range(20_000, 32_000)
"""Below the ports that the system gives to clients: nobody takes one while its server is dead."""
_CROWD = 80
"""More connections than the server that is filled lets in."""
_REFUSAL_SECONDS = 0.2
_LARGEST = 200_000
"""Bytes of a value."""
_NOWHERE = Path(os.devnull).open("wb")  # noqa: SIM115  # for as long as the program runs


Child = subprocess.Popen[bytes]


def low_port(chance: random.Random) -> int:
    """Return a free loopback port that the system gives to nobody."""
    for _ in range(1000):
        port = chance.choice(_LOW_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise CannotMeasureError(f"no port of {_LOW_PORTS} is free")


def start(command: Sequence[str], place: tuple[str, int] | str, output: IO[bytes]) -> Child:
    """Start a process and wait until it accepts connections."""
    child = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
    )
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            dial(place).close()
        except OSError:
            if child.poll() is not None or time.monotonic() > deadline:
                end(child)
                raise CannotMeasureError(f"did not start: {' '.join(command)}") from None
            time.sleep(0.005)
        else:
            return child


def end(child: Child) -> None:
    """Kill a process, whatever its state."""
    child.kill()
    child.wait()


def dial(place: tuple[str, int] | str, seconds: float = 1.0) -> socket.socket:
    """Connect to a port or to a unix socket."""
    connection = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
    try:
        connection.settimeout(seconds)
        connection.connect(place)
    except BaseException:
        connection.close()
        raise
    return connection


class Known(msgspec.Struct, frozen=True):
    """What the soak knows of a server at one moment."""

    up: bool
    changes: int
    """Begun and ended ones: equal and even before and after a page, nothing changed meanwhile."""
    life: int
    """How often the server was started."""

    def steady(self, after: "Known") -> bool:
        """Return whether nothing changed between this and ``after``."""
        return self == after and self.changes % 2 == 0


class Cache:
    """A memcached; one thread at a time hurts and heals it."""

    def __init__(self, name: str, place: tuple[str, int] | str, *options: str) -> None:
        self.name = name
        self.place = place
        binary = shutil.which("memcached")
        if not binary:
            raise CannotMeasureError("memcached is not installed: make soak installs it")
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        where = (
            ["-s", place, "-a", "0777"]
            if isinstance(place, str)
            else ["-l", place[0], "-p", str(place[1])]
        )
        self._command = [binary, *where, *user, *options]
        self.address = f"unix:{place}" if isinstance(place, str) else f"{place[0]}:{place[1]}"
        self.known = Known(up=False, changes=0, life=0)
        self.frozen = self.full = False
        self.read = False
        """Whether a page since the last change says that it is up: the exporter is connected."""
        self._crowd: list[socket.socket] = []
        self._process: Child | None = None

    @property
    def alive(self) -> bool:
        """Whether the process runs, frozen or not."""
        return self._process is not None

    @contextlib.contextmanager
    def _changing(self, *, up: bool, born: bool = False) -> Iterator[None]:
        self.read = False
        before = self.known
        life = before.life + born
        self.known = Known(up=before.up, changes=before.changes + 1, life=life)
        yield
        self.known = Known(up=up, changes=before.changes + 2, life=life)
        self.read = False

    def start(self) -> None:
        """Start the server, if it does not run."""
        if self.alive:
            return
        with self._changing(up=True, born=True):
            self._process = start(self._command, self.place, _NOWHERE)

    def kill(self) -> None:
        """Kill the server, if it runs."""
        if self._process is None:
            return
        with self._changing(up=False):
            end(self._process)
            self._process = None
            self.frozen = False
            self.free()

    def freeze(self) -> None:
        """Stop a running server as a debugger would, until all its threads stand still."""
        if self._process is None or self.frozen:
            return
        with self._changing(up=False):
            self._process.send_signal(signal.SIGSTOP)
            deadline = time.monotonic() + 5
            while not _stands_still(self._process.pid) and time.monotonic() < deadline:
                time.sleep(0.002)
            self.frozen = True

    def thaw(self) -> None:
        """Let a frozen server go on."""
        if self._process is None or not self.frozen:
            return
        with self._changing(up=True):
            self._process.send_signal(signal.SIGCONT)
            self.frozen = False

    def fill(self) -> None:
        """Take all connections that the server lets in, and keep them idle."""
        self.full = True
        for _ in range(_CROWD):
            with contextlib.suppress(OSError):
                self._crowd.append(dial(self.place))
        time.sleep(_REFUSAL_SECONDS)
        for connection in [c for c in self._crowd if _is_refused(c)]:
            self._crowd.remove(connection)
            connection.close()

    def free(self) -> None:
        """Give the connections back."""
        for connection in self._crowd:
            connection.close()
        self._crowd.clear()
        self.full = False

    def heal(self) -> None:
        """Make the server whole, whatever was done to it."""
        self.free()
        self.thaw()
        self.start()


def _stands_still(pid: int) -> bool:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return all((task / "stat").read_text().rpartition(")")[2].split()[0] in "Tt" for task in tasks)


def _is_refused(connection: socket.socket) -> bool:
    """Return whether the server has said something or hung up: it says nothing to those let in."""
    connection.setblocking(False)  # noqa: FBT003
    try:
        connection.recv(256)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


class Load(threading.Thread):
    """Some traffic on the servers that are up, until it is ended."""

    def __init__(self, caches: Sequence[Cache], chance: random.Random) -> None:
        super().__init__(name="load", daemon=True)
        self._clients = [
            (cache, pymemcache.Client(cache.place, timeout=0.3, connect_timeout=0.3))
            for cache in caches
        ]
        self._chance = chance
        self._ended = threading.Event()

    def fill(self) -> None:
        """Store items of all sizes, so that the servers have all statistics they will ever have."""
        for _, client in self._clients:
            size = 1.0
            while size < _LARGEST:
                client.set(f"soak:size:{size:.0f}", b"x" * int(size), noreply=False)
                size = size * 1.1 + 1

    def run(self) -> None:
        """Set, get and delete keys of many sizes."""
        while not self._ended.wait(0.05):
            for cache, client in self._clients:
                if cache.known.up:
                    with contextlib.suppress(OSError, pymemcache.exceptions.MemcacheError):
                        self._use(client)
        for _, client in self._clients:
            client.close()

    def _use(self, client: pymemcache.Client) -> None:
        key = f"soak:{self._chance.randrange(2000)}"
        size = int(self._chance.paretovariate(0.6) * 50)
        client.set(key, b"x" * min(size, _LARGEST), noreply=False)
        client.get(key)
        client.get(f"{key}:missing")
        if self._chance.random() < 0.3:
            client.delete(key, noreply=False)

    def end(self) -> None:
        """End the traffic."""
        self._ended.set()
        self.join()
