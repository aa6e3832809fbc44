"""HTTP clients that misbehave, each within a bounded time."""

import contextlib
import random
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bench.soak_servers import dial

Report = Callable[[str], None]

_MOST_AT_ONCE = 8
_PATIENCE = 13.0
"""Longer than the exporter waits for whole headers."""
_CONNECTIONS = 15
_BURST = 100
_BURST_SECONDS = 5.0
_GET = b"GET %s HTTP/1.1\r\nHost: soak\r\nAccept-Encoding: identity\r\n\r\n"
_RESET = struct.pack("ii", 1, 0)


class Clients:
    """Clients at work in threads of their own; ``report`` is told of what they were denied."""

    def __init__(self, place: tuple[str, int], report: Report) -> None:
        self._place = place
        self._report = report
        self._ended = threading.Event()
        self._pool = ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="client")
        self.kinds: dict[str, Callable[[random.Random], None]] = {
            "silent": self._silent,
            "half headers": self._half_headers,
            "garbage": self._garbage,
            "hang-up": self._hang_up,
            "slow reader": self._slow_reader,
            "post": self._post,
            "burst": self._burst,
        }

    def send(self, kind: str, seed: int) -> None:
        """Let a client of a kind loose."""
        self._pool.submit(self._run, kind, random.Random(seed))

    def _run(self, kind: str, chance: random.Random) -> None:
        try:
            self.kinds[kind](chance)
        except OSError as error:
            # Garbage may be answered with a reset; the others can at least connect.
            if isinstance(error, TimeoutError | ConnectionRefusedError):
                self._report(f"client {kind!r}: {error!r}")
        except Exception as error:  # noqa: BLE001, a fault of the soak must not pass for calm
            self._report(f"client {kind!r} failed itself: {error!r}")

    def end(self) -> None:
        """End all clients."""
        self._ended.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _hold(self, words: list[bytes]) -> None:
        """Say something on some connections each, then wait until the exporter has enough."""
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(dial(self._place)) for _ in words]
            for connection, said in zip(connections, words, strict=True):
                connection.sendall(said)
            deadline = time.monotonic() + _PATIENCE
            while connections and time.monotonic() < deadline and not self._ended.wait(0.2):
                connections = [c for c in connections if not _is_at_end(c)]
            if connections and not self._ended.is_set():
                self._report(f"{len(connections)} connections without a request are still open")

    def _silent(self, _chance: random.Random) -> None:
        self._hold([b""] * _CONNECTIONS)

    def _half_headers(self, chance: random.Random) -> None:
        whole = _GET % b"/metrics"
        self._hold([whole[: chance.randrange(1, len(whole) - 1)] for _ in range(_CONNECTIONS)])

    def _garbage(self, chance: random.Random) -> None:
        for _ in range(5):
            with dial(self._place) as connection:
                connection.sendall(chance.randbytes(chance.randrange(1, 3000)) + b"\r\n\r\n")
                connection.shutdown(socket.SHUT_WR)
                _read_to_end(connection)

    def _hang_up(self, chance: random.Random) -> None:
        for _ in range(5):
            with dial(self._place) as connection:
                connection.sendall(_GET % chance.choice([b"/metrics", b"/"]))
                self._ended.wait(chance.choice([0, 0.001, 0.01]))
                if chance.random() < 0.5:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    def _slow_reader(self, _chance: random.Random) -> None:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(_PATIENCE)
            connection.connect(self._place)
            connection.sendall((_GET % b"/metrics") * 8)
            deadline = time.monotonic() + 8
            while time.monotonic() < deadline and not self._ended.wait(0.1):
                if not connection.recv(1024):
                    return

    def _post(self, chance: random.Random) -> None:
        body = chance.randbytes(chance.randrange(1, 20_000))
        with dial(self._place, _BURST_SECONDS) as connection:
            head = b"POST /metrics HTTP/1.1\r\nHost: soak\r\nContent-Length: %d\r\n\r\n"
            connection.sendall(head % len(body) + body)
            answer = _read_to_end(connection)
            if answer and not answer.startswith(b"HTTP/1.1 405 "):
                self._report(f"a POST was answered with {answer[:60]!r}")

    def _burst(self, chance: random.Random) -> None:
        """Connect all at once, ask, and count the answers; a few want the metrics."""
        paths = [b"/-/healthy"] * (_BURST - 5) + [b"/metrics"] * 5
        chance.shuffle(paths)
        good = ask_at_once(self._place, paths, _BURST_SECONDS)
        if good != _BURST:
            self._report(f"{_BURST} connects at once had {good} good answers")


def ask_at_once(place: tuple[str, int], paths: list[bytes], seconds: float) -> int:
    """Ask for all paths at once on connections of their own; return how many answers were 200."""
    good = 0
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for path in paths:
            connection = stack.enter_context(socket.socket())
            connection.setblocking(False)  # noqa: FBT003
            connection.connect_ex(place)
            selector.register(connection, selectors.EVENT_WRITE, path)
        deadline = time.monotonic() + seconds
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, events in selector.select(left):
                asker = key.fileobj
                assert isinstance(asker, socket.socket)
                try:
                    if events & selectors.EVENT_WRITE:
                        asker.sendall(_GET % key.data)
                        selector.modify(asker, selectors.EVENT_READ)
                        continue
                    good += asker.recv(4096).startswith(b"HTTP/1.1 200 ")
                except OSError:
                    pass  # no good answer
                selector.unregister(asker)
    return good


def _is_at_end(connection: socket.socket) -> bool:
    try:
        return not connection.recv(4096, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _read_to_end(connection: socket.socket) -> bytes:
    """Read until the exporter hangs up; it may do so with a reset, as not all was read there."""
    connection.settimeout(_PATIENCE)
    answer = b""
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            answer += chunk
    return answer
