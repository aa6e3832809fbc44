"""Clients that misbehave before, in and after the TLS handshake."""

import contextlib
import random
import socket
import ssl
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.web import server as server_module
from exporter.web.access import Access
from exporter.web.server import HttpServer
from exporter.web.waiting import Waiting
from tests.processes import Exporter
from tests.web.clients import eventually, place_of
from tests.web.secure import Authority, ask, everything, place

Serve = Callable[..., HttpServer]


HEALTHY = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"


def test_silent_clients_leave_scrapes_alone(
    tls_daemon: Exporter,
    authority: Authority,
    connect: Callable[[tuple[str, int]], socket.socket],
) -> None:
    """Three hundred clients in the middle of a handshake, or before it, do not stop a scrape."""
    context = authority.trusting()
    assert ask(place(tls_daemon), context=context).status == 200
    threads, descriptors = tls_daemon.threads(), tls_daemon.descriptors()
    hello, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(hello, outgoing, server_hostname="127.0.0.1").do_handshake()
    client_hello = outgoing.read()
    opened = []
    for i in range(300):
        opened.append(connect(place(tls_daemon)))
        opened[-1].sendall(client_hello[: (0, 5, 100, len(client_hello))[i % 4]])
    for _ in range(5):
        began = time.monotonic()
        assert ask(place(tls_daemon), context=context).status == 200
        assert time.monotonic() - began < 1
    assert eventually(lambda: tls_daemon.threads() < 290)
    for connection in opened:
        connection.close()
    assert eventually(lambda: tls_daemon.threads() <= threads + 1)
    assert eventually(lambda: tls_daemon.descriptors() <= descriptors)
    assert "Traceback" not in tls_daemon.log
    assert "level=error" not in tls_daemon.log


def test_a_handshake_is_due_with_the_headers(
    serve: Serve,
    authority: Authority,
    write: Callable[..., Path],
    connect: Callable[[tuple[str, int]], socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A silent client, and one that shakes hands and then says nothing, end at the deadline."""
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.6)
    server = serve(everything, Access(write()))
    silent = connect(place_of(server))
    shaken = authority.trusting().wrap_socket(
        connect(place_of(server)), server_hostname="127.0.0.1"
    )
    began = time.monotonic()
    assert silent.recv(10) == b""
    assert shaken.recv(10) == b""
    assert 0.3 < time.monotonic() - began < 5
    shaken.close()
    assert eventually(lambda: not server.newcomers._due)


def test_bytes_after_a_hang_up_are_no_request(write: Callable[..., Path]) -> None:
    """Who is hung up on cannot have bytes outside of TLS read as a request on the way out."""
    context = Access(write()).settings().context
    assert context
    ours, theirs = socket.socketpair()
    connection = context.wrap_socket(ours, server_side=True, do_handshake_on_connect=False)
    waiting = Waiting(1, 60)
    with theirs, connection:
        theirs.sendall(HEALTHY)
        waiting.add(connection)
        assert waiting.close_oldest()
        with pytest.raises(ssl.SSLError):
            connection.recv(100)


@pytest.mark.parametrize("polite", [True, False])
def test_clients_that_hang_up_early(
    tls_daemon: Exporter, authority: Authority, polite: bool
) -> None:
    """Those who leave before, in or after the handshake, or during the answer, are no news."""
    context = authority.trusting()

    def leave(connection: socket.socket) -> None:
        if not polite:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    for i in range(20):
        leave(socket.create_connection(place(tls_daemon), timeout=5))
        raw = socket.create_connection(place(tls_daemon), timeout=5)
        connection = context.wrap_socket(raw, server_hostname="127.0.0.1")
        connection.sendall((b"", HEALTHY[:20], HEALTHY, HEALTHY * 30)[i % 4])
        if i % 8 > 5:
            connection.recv(100)
        leave(connection)
    assert ask(place(tls_daemon), context=context).status == 200
    assert eventually(lambda: tls_daemon.threads() < 20)
    assert "Traceback" not in tls_daemon.log
    assert "level=error" not in tls_daemon.log


def test_garbage(tls_daemon: Exporter, authority: Authority) -> None:
    """Random bytes instead of TLS, and within it, leave a line at debug level at the most."""
    choice = random.Random(6)
    context = authority.trusting()
    for i in range(60):
        data = choice.randbytes(choice.randint(1, 400))
        raw = socket.create_connection(place(tls_daemon), timeout=5)
        with contextlib.suppress(OSError), contextlib.closing(raw):
            if i % 3 == 0:
                raw = context.wrap_socket(raw, server_hostname="127.0.0.1")
            raw.sendall(b"\x16\x03\x01" * (i % 2) + data + b"\r\n\r\n")
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(65536):
                pass
        raw.close()
    assert ask(place(tls_daemon), context=context).status == 200
    assert eventually(lambda: tls_daemon.threads() < 20)
    assert "Traceback" not in tls_daemon.log
    assert "level=error" not in tls_daemon.log
    assert "level=warning" not in tls_daemon.log
