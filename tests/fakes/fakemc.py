#!/usr/bin/env python3
r"""A scriptable memcached, for the answers and faults that a real one cannot be made to show.

    fakemc.py PORT [--set 'KEY VALUE' ...] [--drop KEY ...]
              [--raw COMMAND=FILE ...] [--err COMMAND=TEXT ...]
              [--mode MODE] [--only COMMAND] [--late SECONDS]
              [--log FILE] [--trace FILE] [--host ADDRESS]

It answers like a small 1.6.18. ``--set`` adds or replaces a line of `stats`, or of a sub-command
when the key begins with ``settings:``, ``slabs:`` or ``items:``; ``--drop`` removes one. ``--raw``
serves a file as it is, ``--err`` one line of text.

Modes, for all commands or the one that ``--only`` names:
    ok       answer at once
    bytes    send each byte on its own
    trickle  send one line every 0.4 seconds
    half     send half of the answer, then close
    hang     never answer
    close    close without an answer
    reset    answer, then break the connection off
    flood    answer with lines without end
    extra    send the answer twice
    full     say to each connection that there are too many, and close it

``--late`` lets the first answer of all wait. ``--log`` gets each command line, as a Python literal;
``--trace`` gets what happens on the wire: ``1 open``, ``1 received b'stats\r\n'``, ``1 closed``,
where the number is that of the connection. Loopback only, unless ``--host`` says otherwise.
"""

import argparse
import contextlib
import itertools
import socket
import struct
import threading
import time
from collections.abc import Iterable
from pathlib import Path

MODES = ("ok", "bytes", "trickle", "half", "hang", "close", "reset", "flood", "extra", "full")
TRICKLE_SECONDS = 0.4

STATS: dict[str, str | None] = {
    "pid": "4242",
    "uptime": "1000",
    "time": None,  # the present
    "version": "1.6.18",
    "pointer_size": "64",
    "rusage_user": "1.500000",
    "rusage_system": "2.250000",
    "max_connections": "1024",
    "curr_connections": "2",
    "total_connections": "50",
    "rejected_connections": "0",
    "cmd_get": "100",
    "cmd_set": "40",
    "cmd_flush": "0",
    "cmd_touch": "0",
    "cmd_meta": "0",
    "get_hits": "75",
    "get_misses": "25",
    "get_expired": "3",
    "get_flushed": "1",
    "delete_hits": "0",
    "delete_misses": "0",
    "incr_hits": "0",
    "incr_misses": "0",
    "decr_hits": "0",
    "decr_misses": "0",
    "cas_hits": "0",
    "cas_misses": "0",
    "cas_badval": "0",
    "touch_hits": "0",
    "touch_misses": "0",
    "bytes_read": "1",
    "bytes_written": "1",
    "limit_maxbytes": "67108864",
    "accepting_conns": "1",
    "listen_disabled_num": "0",
    "time_in_listen_disabled_us": "0",
    "threads": "4",
    "conn_yields": "0",
    "bytes": "1000",
    "curr_items": "10",
    "total_items": "40",
    "evictions": "7",
    "reclaimed": "0",
}
SETTINGS: dict[str, str | None] = {
    "maxbytes": "67108864",
    "maxconns": "1024",
    "evictions": "on",
    "domain_socket": "NULL",
    "maxconns_fast": "yes",
    "lru_crawler": "yes",
}
SLABS: dict[str, str | None] = {
    "1:chunk_size": "96",
    "1:chunks_per_page": "10922",
    "1:total_pages": "1",
    "1:total_chunks": "10922",
    "1:used_chunks": "10",
    "1:free_chunks": "10912",
    "1:get_hits": "75",
    "1:cmd_set": "40",
    "active_slabs": "1",
    "total_malloced": "1048576",
}
ITEMS: dict[str, str | None] = {
    "items:1:number": "10",
    "items:1:age": "5",
    "items:1:mem_requested": "650",
    "items:1:evicted": "7",
    "items:1:outofmemory": "0",
}


class Answers:
    """What the server says to each command."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._tables = {
            "stats": dict(STATS),
            "settings": dict(SETTINGS),
            "slabs": dict(SLABS),
            "items": dict(ITEMS),
        }
        for entry in arguments.set:
            place, _, value = entry.partition(" ")
            table, key = self._place(place)
            table[key] = value
        for place in arguments.drop:
            table, key = self._place(place)
            table.pop(key, None)
        self._fixed: dict[str, bytes] = {}
        for entry in arguments.raw:
            command, _, path = entry.partition("=")
            self._fixed[command] = Path(path).read_bytes()
        for entry in arguments.err:
            command, _, text = entry.partition("=")
            self._fixed[command] = f"{text}\r\n".encode()

    def _place(self, key: str) -> tuple[dict[str, str | None], str]:
        """Return the table that a key of the command line means, and its key there."""
        word, _, rest = key.partition(":")
        if word == "items" and rest[:1].isdigit():
            return self._tables["items"], key
        if word in self._tables:
            return self._tables[word], rest
        return self._tables["stats"], key

    def to(self, command: str) -> bytes:
        """Return the answer to a command."""
        if command in self._fixed:
            return self._fixed[command]
        if command == "version":
            return b"VERSION 1.6.18\r\n"
        words = [*command.split(), "stats"]
        table = self._tables.get(words[1]) if words[0] == "stats" else None
        if table is None:
            return b"ERROR\r\n"
        lines = (
            f"STAT {key} {int(time.time()) if value is None else value}\r\n"
            for key, value in table.items()
        )
        return "".join(lines).encode(errors="surrogateescape") + b"END\r\n"


class Connection(threading.Thread):
    """Serves one client."""

    numbers = itertools.count(1)
    first_answer = threading.Lock()
    """Free until the first answer of all."""

    def __init__(
        self, client: socket.socket, answers: Answers, arguments: argparse.Namespace
    ) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._answers = answers
        self._arguments = arguments
        self._number = next(self.numbers)

    def run(self) -> None:
        """Answer until one of the two sides closes."""
        self._trace("open")
        with self._client, contextlib.suppress(OSError):
            self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._arguments.mode == "full":
                self._client.sendall(b"ERROR Too many open connections\r\n")
            else:
                self._serve()
            self._client.shutdown(socket.SHUT_RDWR)
        self._trace("closed")

    def _serve(self) -> None:
        buffer = b""
        while chunk := self._client.recv(65536):
            self._trace(f"received {chunk!r}")
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                command = line.rstrip(b"\r").decode(errors="replace")
                _append(self._arguments.log, repr(command))
                if command == "quit" or not self._answer(command):
                    return

    def _answer(self, command: str) -> bool:
        """Answer a command as the mode wants it; return whether to go on."""
        answer = self._answers.to(command)
        mode = self._arguments.mode if self._arguments.only in {None, command} else "ok"
        if self._arguments.late and self.first_answer.acquire(blocking=False):
            time.sleep(self._arguments.late)
        match mode:
            case "half" | "close" | "reset":
                self._break_off(answer, mode)
                return False
            case "flood":
                while True:
                    self._client.sendall(b"STAT flood 1\r\n" * 1000)
            case "bytes":
                self._send_slowly((answer[at : at + 1] for at in range(len(answer))), 0)
            case "trickle":
                self._send_slowly(answer.splitlines(keepends=True), TRICKLE_SECONDS)
            case "extra":
                self._client.sendall(answer * 2)
            case "ok":
                self._client.sendall(answer)
        return True

    def _break_off(self, answer: bytes, mode: str) -> None:
        if mode != "close":
            self._client.sendall(answer if mode == "reset" else answer[: len(answer) // 2])
        if mode == "reset":
            at_once = struct.pack("ii", 1, 0)
            self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            self._client.close()

    def _send_slowly(self, pieces: Iterable[bytes], pause: float) -> None:
        for piece in pieces:
            self._client.sendall(piece)
            time.sleep(pause)

    def _trace(self, what: str) -> None:
        _append(self._arguments.trace, f"{self._number} {what}")


_writing = threading.Lock()


def _append(path: Path | None, line: str) -> None:
    if path:
        with _writing, path.open("a") as file:
            file.write(f"{line}\n")


def main() -> None:
    """Serve until the process is killed."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("port", type=int)
    for option in ("--set", "--drop", "--raw", "--err"):
        parser.add_argument(option, action="append", default=[])
    parser.add_argument("--mode", choices=MODES, default="ok")
    parser.add_argument("--only")
    parser.add_argument("--late", type=float, default=0.0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    arguments = parser.parse_args()
    answers = Answers(arguments)
    with socket.create_server((arguments.host, arguments.port), backlog=64) as listener:
        while True:
            client, _ = listener.accept()
            Connection(client, answers, arguments).start()


if __name__ == "__main__":
    main()
