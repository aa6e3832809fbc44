"""One connection to a memcached server: pymemcache's, with a whole exchange in one round trip."""

import contextlib
import errno
import socket
import ssl
import struct
import time
from collections.abc import Callable, Sequence

from pymemcache.client.base import Client  # type: ignore[import-untyped]

from exporter.addresses import Address
from exporter.errors import ForbiddenTargetError, ReadError, Reason
from exporter.host.process import Evidence
from exporter.memcached.replies import Reply, receive
from exporter.memcached.resolution import resolve
from exporter.tls import ContextKeeper

Permit = Callable[[str], bool]
"""Says whether an IP address may be dialled."""

_FIRST_WORD_SECONDS = 0.1
_CREDENTIALS = struct.calcsize("3i")


class Connection(Client):  # type: ignore[misc]  # pymemcache ships no types
    """An open connection to one resolved address (an IP address and port, or a socket path).

    ``dialled`` is that address. The connection is good for nothing after a ReadError: close it.
    """

    def __init__(
        self,
        endpoint: tuple[str, int] | str,
        connect_timeout: float,
        tls_context: "NamedContext | None" = None,
    ) -> None:
        super().__init__(
            endpoint, connect_timeout=connect_timeout, no_delay=True, tls_context=tls_context
        )
        self.dialled = _shown(endpoint)
        self._connect()
        try:
            self._ends = self.sock.getsockname(), self.sock.getpeername()
        except OSError:
            self.close()
            raise

    def evidence(self, pid: int) -> Evidence:
        """Return what this connection tells of the process that calls itself ``pid``."""
        if self.sock.family == socket.AF_UNIX:
            credentials = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS)
            return Evidence(pid, far=self.dialled, peer_pid=struct.unpack("3i", credentials)[0])
        near, far = (f"{end[0]}:{end[1]}" for end in self._ends)
        return Evidence(pid, near=near, far=far)

    def certificate_expires(self) -> float | None:
        """Return when the server's certificate ends (Unix seconds); None if it was not checked."""
        certificate = self.sock.getpeercert() if isinstance(self.sock, ssl.SSLSocket) else None
        ends = (certificate or {}).get("notAfter")
        return ssl.cert_time_to_seconds(str(ends)) if ends else None

    def exchange(self, commands: Sequence[str | bytes], deadline: float, limit: int) -> list[Reply]:
        """Send all commands, without their line ends, in one write and return their replies.

        ``deadline`` (``time.monotonic``) and ``limit`` (bytes) hold for all replies together.
        Raises ReadError.
        """
        try:
            self.sock.settimeout(max(0.001, deadline - time.monotonic()))
            lines = (line.encode("ascii") if isinstance(line, str) else line for line in commands)
            self.sock.sendall(b"".join(line + b"\r\n" for line in lines))
            return receive(self.sock, len(commands), deadline, limit)
        except OSError as error:
            raise read_error(error) from error


class NamedContext:
    """A TLS context that knows the server's name, where pymemcache has but the dialled address."""

    def __init__(self, context: ssl.SSLContext, name: str) -> None:
        self._context = context
        self._name = name

    def wrap_socket(self, sock: socket.socket, *, server_hostname: str) -> ssl.SSLSocket:
        """Return the socket with TLS around it; the handshake comes with connect."""
        return self._context.wrap_socket(sock, server_hostname=self._name or server_hostname)


def connect(
    address: Address,
    deadline: float,
    permit: Permit | None = None,
    keeper: ContextKeeper | None = None,
) -> Connection:
    """Connect to the first address of a server that accepts; with TLS if there is a ``keeper``.

    All addresses of a name get their share of the time until ``deadline`` (``time.monotonic``);
    the name is looked up at each call. Raises ReadError with the last address's failure, and
    ForbiddenTargetError when ``permit`` refuses all of them.
    """
    endpoints = _endpoints(address, deadline, permit)
    context = _named_context(address, keeper) if keeper else None
    failure: OSError | None = None
    tried: list[str] = []
    for endpoint in endpoints:
        share = (deadline - time.monotonic()) / (len(endpoints) - len(tried))
        if share <= 0:
            break
        try:
            return Connection(endpoint, connect_timeout=share, tls_context=context)
        except OSError as error:
            failure = error
            tried.append(_shown(endpoint))
    if failure is None:
        raise ReadError(Reason.TIMEOUT, "no time left to connect")
    known = read_error(failure)
    # Of a name an operator would not know where it led.
    where = "" if address.endpoint in {*tried, f"unix:{address.path}"} else f" ({', '.join(tried)})"
    raise ReadError(known.reason, f"{known}{where}") from failure


def _shown(endpoint: tuple[str, int] | str) -> str:
    if isinstance(endpoint, str):
        return endpoint
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _named_context(address: Address, keeper: ContextKeeper) -> NamedContext:
    try:
        return NamedContext(keeper.context(), keeper.tls.server_name or address.host)
    except OSError as error:
        text = f"{error.filename}: {_words(error)}" if error.filename else str(error)
        raise ReadError(Reason.TLS, text) from error


def _endpoints(
    address: Address, deadline: float, permit: Permit | None
) -> list[tuple[str, int] | str]:
    if address.path:
        return [address.path]
    found = resolve(address.host, address.port, deadline)
    permitted = [ip for ip in found if permit is None or permit(ip)]
    if not permitted:
        raise ForbiddenTargetError(
            f"{address.text} is at {', '.join(found)}, which scrape.allow does not list"
        )
    return [(ip, address.port) for ip in permitted]


def first_words(address: Address, deadline: float, permit: Permit | None) -> str:
    """Return what the server says to a new connection before it is asked anything.

    A full memcached writes its reason and closes. When the exporter's command crosses that, the
    network may drop the text; a silent second connection gets it. Empty when nothing is said.
    """
    deadline = min(deadline, time.monotonic() + _FIRST_WORD_SECONDS)
    with contextlib.suppress(ReadError, OSError):
        connection = connect(address, deadline, permit)
        with contextlib.closing(connection):
            connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
            return bytes(connection.sock.recv(256)).decode("latin-1").strip()
    return ""


_MEANINGS: tuple[tuple[type[OSError], Reason, str], ...] = (
    # A unix socket whose queue is full says so at once, where TCP lets the client wait.
    (BlockingIOError, Reason.TIMEOUT, "no connection before the deadline"),
    (TimeoutError, Reason.TIMEOUT, "no connection before the deadline"),
    (ssl.SSLEOFError, Reason.CLOSED, "the server closed the connection"),
    (ssl.SSLZeroReturnError, Reason.CLOSED, "the server closed the connection"),
    (ssl.SSLError, Reason.TLS, ""),
    (ConnectionRefusedError, Reason.REFUSED, ""),
    (FileNotFoundError, Reason.REFUSED, "the socket does not exist"),
    (NotADirectoryError, Reason.REFUSED, "the socket does not exist"),
    (PermissionError, Reason.UNREACHABLE, ""),
)
_UNREACHABLE = {
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
    errno.EHOSTDOWN,
    errno.ENETDOWN,
    errno.EADDRNOTAVAIL,
    errno.EINVAL,  # what a blackhole route gives
}


def read_error(error: OSError) -> ReadError:
    """Return the ReadError that tells an operator what a socket's error means."""
    for kind, reason, text in _MEANINGS:
        if isinstance(error, kind):
            return ReadError(reason, text or _words(error))
    reason = Reason.UNREACHABLE if error.errno in _UNREACHABLE else Reason.CLOSED
    return ReadError(reason, _words(error))


def _words(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason):
        version = ": is min_version too high for it?" if "VERSION" in str(error.reason) else ""
        return f"the server refuses the handshake: {error.reason}{version}"
    if isinstance(error, ssl.SSLError):
        return f"{error.reason or error}: does the server speak TLS here?"
    return (error.strerror or str(error)).lower()
