"""The HTTP/1.1 server: the standard library's threading server, hardened.

A thread a connection, which is also where TLS is agreed upon. Clients that are slow to ask cannot
use the server up: whole headers are due within a deadline, and when too many connections wait, the
one that has waited longest goes.
"""

import contextlib
import errno
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from urllib.parse import unquote, urlsplit

import structlog

from exporter.addresses import ListenAddress
from exporter.errors import ExporterError
from exporter.web.access import Access, Settings
from exporter.web.messages import Request, Response, plain
from exporter.web.waiting import Waiting

Application = Callable[[Request], Response]

HEADER_SECONDS = 10.0
"""Time for a client to send whole headers, from the first byte or from connecting."""
IDLE_SECONDS = 310.0
"""Time that a connection may rest between requests: longer than Prometheus keeps its own."""
SEND_SECONDS = 30.0
"""Time for a client to take a response."""
MOST_NEWCOMERS = 256
"""Connections that have not sent whole headers; beyond that the longest waiting one is closed."""
MOST_IDLE = 4096
"""Connections that rest between requests: Prometheus keeps one for each of its targets."""
_BREATH_SECONDS = 0.05
"""Time for the threads of closed connections to give their descriptors back."""
LONGEST_LINE = 65536
"""Bytes of the longest request line."""
_WRONG_SCHEME = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\nTLS is spoken here: ask with https://\n"
)

_log = structlog.get_logger()


def listen(address: ListenAddress) -> socket.socket:
    """Return a listening socket. Without a host it takes IPv4 and IPv6.

    Raises ExporterError with the address and the remedy.
    """
    shown = f"[{address.host}]" if ":" in address.host else address.host
    try:
        if not address.host and socket.has_dualstack_ipv6():
            return socket.create_server(
                ("::", address.port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128
            )
        family = socket.getaddrinfo(
            address.host or "0.0.0.0",  # noqa: S104
            address.port,
            type=socket.SOCK_STREAM,
        )[0]
        return socket.create_server(family[4][:2], family=family[0], backlog=128)
    except OSError as error:
        # The library adds words of its own to the system's text.
        named = isinstance(error, socket.gaierror) or error.errno is None
        cause = str(error.strerror) if named else os.strerror(error.errno or 0)
        free = "free it or " if error.errno == errno.EADDRINUSE else ""
        raise ExporterError(
            f"cannot listen on {shown}:{address.port}: {cause.lower()}:"
            f" {free}choose another --web.listen-address"
        ) from error


class HttpServer(ThreadingMixIn, TCPServer):
    """Serves an application, to those who have access, on a listening socket until shut down."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, listening: socket.socket, application: Application, access: Access | None = None
    ) -> None:
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_address = listening.getsockname()
        self.application = application
        self.access = access or Access()
        self.newcomers = Waiting(MOST_NEWCOMERS, HEADER_SECONDS)
        self.idle = Waiting(MOST_IDLE, IDLE_SECONDS)
        self._requests = 0
        self._changed = threading.Condition()

    def service_actions(self) -> None:
        """Close connections that have waited too long; called twice a second."""
        self.newcomers.close_overdue()
        self.idle.close_overdue()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; when descriptors have run out, make room first."""
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE}:
                if not (self.newcomers.close_oldest() or self.idle.close_oldest()):
                    _log.warning("out of file descriptors")
                time.sleep(_BREATH_SECONDS)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, in its own thread from here on; TLS begins when its handler does."""
        try:
            context = self.access.settings().context
            if context:
                request = context.wrap_socket(
                    request, server_side=True, do_handshake_on_connect=False
                )
        except (OSError, ValueError) as error:
            _log.debug("client went away", client=client_address[0], error=str(error))
            self.shutdown_request(request)
            return
        super().process_request_thread(request, client_address)

    @contextlib.contextmanager
    def request_under_way(self) -> Any:
        """Count a request from its last header line to its last byte."""
        with self._changed:
            self._requests += 1
        try:
            yield
        finally:
            with self._changed:
                self._requests -= 1
                self._changed.notify_all()

    def drain(self, seconds: float) -> bool:
        """Wait for the requests under way; return whether all ended in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._requests == 0, seconds)

    def handle_error(self, _request: Any, client_address: Any) -> None:
        """Log what a connection's thread raised, which the handler should have dealt with."""
        _log.exception("connection failed", client=str(client_address[0]))


class _Handler(BaseHTTPRequestHandler):
    """One connection: requests come in turn until the client or a rule ends it."""

    server: HttpServer
    connection: socket.socket
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.1"
    requestline = command = request_version = ""
    server_version = "memcached-exporter"
    sys_version = ""
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = "text/plain; charset=utf-8"
    disable_nagle_algorithm = True
    timeout = SEND_SECONDS

    def handle(self) -> None:
        """Answer requests until the connection ends; an early hang-up is nothing to report."""
        try:
            self.close_connection = False
            self.server.newcomers.add(self.connection)
            self.connection.settimeout(None)
            self._agree_on_tls()
            while not self.close_connection:
                self.handle_one_request()
                self.server.idle.add(self.connection)
        except (OSError, ValueError) as error:
            _log.debug("client went away", client=self.client_address[0], error=str(error))
        finally:
            self.server.newcomers.remove(self.connection)
            self.server.idle.remove(self.connection)
            self._end_tls()

    def _agree_on_tls(self) -> None:
        if not isinstance(self.connection, ssl.SSLSocket):
            return
        try:
            self.connection.do_handshake()
        except ssl.SSLError as error:
            if error.reason == "HTTP_REQUEST":
                socket.socket.sendall(self.connection, _WRONG_SCHEME)
                socket.socket.recv(self.connection, LONGEST_LINE, socket.MSG_DONTWAIT)
            raise

    def _end_tls(self) -> None:
        """Say that there is no more to come, and do not wait for the client to say the same."""
        if isinstance(self.connection, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):
                self.connection.settimeout(0)
                self.connection.unwrap()

    def handle_one_request(self) -> None:
        """Read one request and answer it."""
        if not self.rfile.peek(1):  # type: ignore[attr-defined]
            self.close_connection = True
            return
        self.server.idle.remove(self.connection)
        self.server.newcomers.add(self.connection)
        self.raw_requestline = self.rfile.readline(LONGEST_LINE + 1)
        if len(self.raw_requestline) > LONGEST_LINE:
            self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
            return
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        self.server.newcomers.remove(self.connection)
        self.connection.settimeout(SEND_SECONDS)
        with self.server.request_under_way():
            settings = self.server.access.settings()
            if getattr(self.connection, "context", None) is not settings.context:
                # Agreed upon under other rules: the next request comes on a new connection.
                self.close_connection = True
            self._answer(self._respond(settings), settings.headers)
        self.connection.settimeout(None)

    def _respond(self, settings: Settings) -> Response:
        lengths = self.headers.get_all("Content-Length", [])
        if any(length.strip() != "0" for length in lengths) or "Transfer-Encoding" in self.headers:
            # A body is never read, so what follows it cannot be told from it.
            self.close_connection = True
        try:
            url = urlsplit(self.path)
        except ValueError as error:
            return plain(400, f"bad request target: {error}")
        secure = isinstance(self.connection, ssl.SSLSocket)
        request = Request(self.command, unquote(url.path), url.query, self.headers, secure)
        try:
            refusal = self.server.access.refusal(request, settings)
            return refusal or self.server.application(request)
        except Exception:  # noqa: BLE001, one request must not end the connection
            _log.exception("request failed inside the exporter", path=request.path)
            return plain(500, "internal error: see the exporter's log")

    def _answer(self, response: Response, headers: tuple[tuple[str, str], ...]) -> None:
        """Send head and body in one write."""
        status = HTTPStatus(response.status)
        self.send_response_only(status)
        self.send_header("Server", self.server_version)
        self.send_header("Date", self.date_time_string())
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in (*response.headers, *headers):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        elif self.request_version == "HTTP/1.0":
            self.send_header("Connection", "keep-alive")
        body = b"" if self.command == "HEAD" else response.body
        head: list[bytes] = self._headers_buffer  # type: ignore[attr-defined]
        self.connection.sendall(b"".join([*head, b"\r\n", body]))
        head.clear()
        _log.debug("request", method=self.command, path=self.path, status=response.status)

    def send_response(self, code: int, message: str | None = None) -> None:
        """Begin the answer to a request that could not be understood, as the library does it."""
        super().send_response(code, message)
        for name, value in self.server.access.settings().headers:
            self.send_header(name, value)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log what the standard library has to say of a bad request, at debug level."""
        _log.debug("bad request", client=self.client_address[0], detail=format % args)
