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
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from exporter.web.messages import Request, Response, plain
from tests.processes import Answer, Exporter, sample

GAUGE = sample("memcached_exporter_web_config_last_reload_successful")
HOUR = dt.timedelta(hours=1)


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
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(name, self._key.public_key(), HOUR)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        own = builder.add_extension(constraints, critical=True).sign(self._key, hashes.SHA256())
        self.file = directory / f"{name}.pem"
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def _builder(
        self, name: str, key: ec.EllipticCurvePublicKey, lasts: dt.timedelta
    ) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 2 * HOUR)
            .not_valid_after(now + lasts)
        )

    def issue(
        self,
        name: str,
        *,
        client: bool = False,
        lasts: dt.timedelta = HOUR,
        password: bytes = b"",
    ) -> Pair:
        """Write ``NAME.pem`` and ``NAME.key``, the latter encrypted if there is a password."""
        key = ec.generate_private_key(ec.SECP256R1())
        loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        usage = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
        certificate = (
            self._builder(name, key.public_key(), lasts)
            .add_extension(x509.SubjectAlternativeName([loopback]), critical=False)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        cert_file, key_file = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            encryption = serialization.BestAvailableEncryption(password)
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
            )
        )
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
