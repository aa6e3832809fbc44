"""Certificates made on the spot, and clients that speak TLS and have passwords."""

import base64
import contextlib
import datetime as dt
import http.client
import ipaddress
import ssl
from pathlib import Path
from typing import NamedTuple

import bcrypt
from cryptography import x509

from exporter.web.messages import Request, Response, plain
from tests.certificates import CLIENT, HOUR, SERVER, authority, issue, write, write_key
from tests.processes import Answer, Exporter, sample

GAUGE = sample("memcached_exporter_web_config_last_reload_successful")


def hashed(password: str) -> str:
    """Return a bcrypt hash at the lowest cost, so that tests are fast."""
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


class Pair(NamedTuple):
    """Files with a certificate and with its key, and the certificate's number."""

    cert: Path
    key: Path
    serial: int


class Authority:
    """Signs certificates for servers on loopback and for clients."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory = directory
        self._signer, own = authority(name)
        self.file = directory / f"{name}.pem"
        write(self.file, own)

    def issue(
        self,
        name: str,
        *,
        client: bool = False,
        lasts: dt.timedelta = HOUR,
        password: bytes = b"",
    ) -> Pair:
        """Write ``NAME.pem`` and ``NAME.key``, the latter encrypted if there is a password."""
        loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        usage = CLIENT if client else SERVER
        key, certificate = issue(self._signer, name, [loopback], lasts=lasts, usages=[usage])
        cert_file, key_file = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        write(cert_file, certificate)
        write_key(key_file, key, password)
        return Pair(cert_file, key_file, certificate.serial_number)

    def trusting(self, pair: Pair | None = None) -> ssl.SSLContext:
        """Return a client's context that trusts this authority, with the client's own pair."""
        context = ssl.create_default_context(cafile=str(self.file))
        if pair:
            context.load_cert_chain(pair.cert, pair.key)
        return context


def basic(user: str, password: str) -> str:
    """Return the value of an ``Authorization`` header."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def ask(
    place: tuple[str, int],
    path: str = "/metrics",
    context: ssl.SSLContext | None = None,
    method: str = "GET",
    **headers: str,
) -> Answer:
    """Send one request on a connection of its own, over TLS if there is a context."""
    connection: http.client.HTTPConnection
    if context:
        connection = http.client.HTTPSConnection(*place, timeout=15, context=context)
    else:
        connection = http.client.HTTPConnection(*place, timeout=15)
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers)
        return Answer(connection.getresponse())


def serial_at(place: tuple[str, int], context: ssl.SSLContext) -> int:
    """Return the number of the certificate that a new connection is shown."""
    connection = http.client.HTTPSConnection(*place, timeout=15, context=context)
    with contextlib.closing(connection):
        connection.connect()
        shown = connection.sock.getpeercert()
        assert shown
        return int(str(shown["serialNumber"]), 16)


def everything(request: Request) -> Response:
    """An application that has an answer for all."""
    return plain(200, "inside")


def place(daemon: Exporter) -> tuple[str, int]:
    """Return where a daemon listens."""
    return daemon.host, daemon.port
