"""TLS towards servers: what a module says of it, and the context that follows."""

import os
import ssl
from pathlib import Path

import msgspec


class ClientTls(msgspec.Struct, frozen=True):
    """How to speak TLS to the servers of a module; paths are absolute, empty for none."""

    ca_file: str = ""
    """Certificates that a server's must come from; the system's own when empty."""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""
    """Name that the server's certificate must have; that of the address when empty."""
    min_version: str = "TLS12"
    insecure_skip_verify: bool = False
    """True to take any certificate."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read."""
        return tuple(filter(None, (self.ca_file, self.cert_file, self.key_file)))


VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}


def client_context(tls: ClientTls) -> ssl.SSLContext:
    """Return a context. Raises OSError (ssl.SSLError is one) naming the file that is wrong."""
    authorities = _readable(tls.ca_file)
    try:
        context = ssl.create_default_context(cafile=authorities)
    except ssl.SSLError as error:
        text = f"{authorities}: no certificates in PEM format: {error.reason or error}"
        raise OSError(text) from error
    # From 3.13 on, Python refuses authorities without certain extensions, as many private ones are:
    # what a server's certificate is worth must not depend on the Python that reads it.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.minimum_version = VERSIONS[tls.min_version]
    if tls.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_file:
        cert, key = _readable(tls.cert_file), _readable(tls.key_file)
        try:
            # Never ask on the terminal: without a password an encrypted key is an error.
            context.load_cert_chain(str(cert), key, password="")
        except ssl.SSLError as error:
            raise OSError(
                f"{cert}: no certificate that goes with its key: {error.reason or error}"
            ) from error
    return context


def _readable(path: str) -> str | None:
    """Return the path, or None when it is empty; the ssl library does not name what it misses."""
    if not path:
        return None
    try:
        with Path(path).open("rb"):
            return path
    except OSError as error:
        raise OSError(f"{path}: {os.strerror(error.errno or 0).lower()}") from error


class ContextKeeper:
    """Keeps the context of a module and makes it anew when one of its files has changed."""

    def __init__(self, tls: ClientTls) -> None:
        self.tls = tls
        self._signature: object = None
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return a context for the files as they are now. Raises OSError naming what is wrong."""
        signature = [
            (status.st_mtime_ns, status.st_ino, status.st_size)
            for status in map(os.stat, self.tls.files)
        ]
        if self._context is None or signature != self._signature:
            self._context = client_context(self.tls)
            self._signature = signature
        return self._context
