"""Certificates for memcached servers that speak TLS, and for their clients."""

import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509

from tests.certificates import DAY, authority, issue, write, write_key


class Pair(NamedTuple):
    """A certificate and its key."""

    cert: Path
    key: Path

    def serve(self, *options: str) -> tuple[str, ...]:
        """Return the arguments that make a memcached serve with it."""
        extended = ",".join((f"ssl_chain_cert={self.cert}", f"ssl_key={self.key}", *options))
        return ("-Z", "-o", extended)

    def ends(self) -> float:
        """Return when the certificate ends, in Unix seconds."""
        certificate = x509.load_pem_x509_certificate(self.cert.read_bytes())
        return certificate.not_valid_after_utc.timestamp()


class Authority:
    """A certificate authority in a directory; ``extended=False`` makes one of the old kind."""

    def __init__(self, directory: Path, *, extended: bool = True) -> None:
        self._directory = directory
        self._extended = extended
        self.ca = directory / "ca.pem"
        self._signer, own = authority("authority of the tests", extended=extended)
        write(self.ca, own)

    def issue(self, names: str = "DNS:localhost,IP:127.0.0.1", days: int = 3) -> Pair:
        """Issue a certificate for names; with days below 0 it has ended long ago."""
        number = len(list(self._directory.iterdir()))
        pair = Pair(self._directory / f"{number}.pem", self._directory / f"{number}.key")
        key, certificate = issue(
            self._signer,
            "a server",
            [_general_name(name) for name in names.split(",")],
            lasts=days * DAY,
            extended=self._extended,
        )
        write(pair.cert, certificate)
        write_key(pair.key, key)
        pair.key.chmod(0o644)  # memcached reads it as nobody
        return pair


def _general_name(text: str) -> x509.GeneralName:
    kind, _, name = text.partition(":")
    if kind == "IP":
        return x509.IPAddress(ipaddress.ip_address(name))
    return x509.DNSName(name)
