"""Servers in this process that note what is sent to them: a recorded one, and a tap on a real one.

Each write of a client is one entry, as the exporter promises to send all that it asks in one write.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from tests.memcached.oracle import pairs
from tests.sections.support import ALL, COMMANDS, raw

PAUSE = 0.1


class Wire:
    """Accepts connections on a loopback port; ``writes`` has what each connection received."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.writes: list[list[str]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def commands(self) -> list[str]:
        """All commands that came, over all connections."""
        return [line for writes in self.writes for text in writes for line in text.splitlines()]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.append(client)
                self.writes.append([])
                threading.Thread(
                    target=self._serve, args=(client, self.writes[-1]), daemon=True
                ).start()

    def _serve(self, client: socket.socket, writes: list[str]) -> None:
        with client, contextlib.suppress(OSError):
            while data := client.recv(65536):
                writes.append(data.decode())
                if not self.answer(client, data):
                    return

    def answer(self, client: socket.socket, data: bytes) -> bool:
        """Answer what a client has sent; return whether to keep the connection."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all sockets."""
        for opened in self._open:
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()


class Recorded(Wire):
    """Answers as a recorded server did; any command that it does not know closes the connection."""

    def __init__(self, case: str) -> None:
        version = pairs(raw(case, "stats") or b"")["version"]
        self.replies = {"version": f"VERSION {version}\r\n".encode()}
        for section in ALL:
            strange = section.startswith("proxy") or section == "extstore"
            if reply := raw(case, section) or (b"" if strange else b"END\r\n"):
                self.replies[COMMANDS[section]] = reply
        self.slow: dict[str, list[bytes]] = {}
        """Replies that come in pieces, with a pause before each but the first."""
        super().__init__()

    def answer(self, client: socket.socket, data: bytes) -> bool:
        """Send the recorded replies."""
        for command in data.decode().splitlines():
            if command not in self.replies:
                return False
            first, *pieces = self.slow.get(command, [self.replies[command]])
            client.sendall(first)
            for piece in pieces:
                time.sleep(PAUSE)
                client.sendall(piece)
        return True


class Tap(Wire):
    """Passes all on to a real server."""

    def __init__(self, host: str, port: int) -> None:
        self._upstream = (host, port)
        self._pipes: dict[socket.socket, socket.socket] = {}
        super().__init__()

    def answer(self, client: socket.socket, data: bytes) -> bool:
        """Pass a client's request on."""
        if client not in self._pipes:
            upstream = socket.create_connection(self._upstream)
            upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.append(upstream)
            self._pipes[client] = upstream
            threading.Thread(target=self._back, args=(upstream, client), daemon=True).start()
        self._pipes[client].sendall(data)
        return True

    def _back(self, upstream: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := upstream.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def recorded_server(case: str) -> Iterator[Recorded]:
    """Serve a recording."""
    with contextlib.closing(Recorded(case)) as server:
        yield server
