"""A DNS server of our own, over UDP and TCP, that answers as a test says."""

import contextlib
import socket
import struct
import threading
from types import TracebackType
from typing import Self

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

_UDP_BYTES = 512


class DnsServer:
    """Answers for names until the end of the block; a name that was never set does not exist.

    ``server.set("cache.test", "A", "127.0.0.1")`` sets all records of one kind. ``rcode`` makes it
    answer everything with that failure, ``silent`` makes it answer nothing.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.rcode = dns.rcode.NOERROR
        self.silent = False
        self.questions: list[tuple[str, str, str]] = []
        """Transport, name and kind of each question so far."""
        self._records: dict[str, dict[str, tuple[str, ...]]] = {}
        self._tcp = socket.create_server((host, port))
        self.port = int(self._tcp.getsockname()[1])
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((host, self.port))

    def set(self, name: str, kind: str, *records: str) -> None:
        """Let a name have exactly these records of a kind, none of which need exist."""
        self._records.setdefault(name, {})[kind] = records

    def forget(self, name: str) -> None:
        """Let a name not exist."""
        self._records.pop(name, None)

    def __enter__(self) -> Self:
        for serve in (self._serve_udp, self._serve_tcp):
            threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for listener in (self._udp, self._tcp):
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _serve_udp(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                question, client = self._udp.recvfrom(65536)
                if not question:
                    return
                if answer := self._answer("udp", question):
                    self._udp.sendto(answer, client)

    def _serve_tcp(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._tcp.accept()[0]
                with client, contextlib.suppress(OSError, struct.error):
                    (length,) = struct.unpack("!H", client.recv(2, socket.MSG_WAITALL))
                    question = client.recv(length, socket.MSG_WAITALL)
                    if answer := self._answer("tcp", question):
                        client.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, transport: str, wire: bytes) -> bytes:
        message = dns.message.from_wire(wire)
        (question,) = message.question
        name = question.name.to_text(omit_final_dot=True).lower()
        kind = dns.rdatatype.to_text(question.rdtype)
        self.questions.append((transport, name, kind))
        if self.silent:
            return b""
        answer = dns.message.make_response(message)
        answer.flags |= dns.flags.RA
        known = self._records.get(name)
        answer.set_rcode(self.rcode or (dns.rcode.NXDOMAIN if known is None else self.rcode))
        records = (known or {}).get(kind, ())
        if records and not self.rcode:
            answer.answer.append(
                dns.rrset.from_text_list(question.name, 1, "IN", question.rdtype, list(records))
            )
        data = answer.to_wire()
        if transport == "udp" and len(data) > _UDP_BYTES:
            answer.answer.clear()
            answer.flags |= dns.flags.TC
            data = answer.to_wire()
        return data
