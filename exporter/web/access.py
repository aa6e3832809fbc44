"""Who may read what the exporter serves: TLS, client certificates, passwords, extra headers.

All of it comes from the web configuration file, which is read again when it changes.
"""

import base64
import binascii
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from email.message import Message
from pathlib import Path

import msgspec
import structlog

from exporter.configuration import Place
from exporter.errors import ConfigurationError
from exporter.tls import VERSIONS
from exporter.web.access_file import CIPHERS, AccessFile, TlsServer, read_access_file
from exporter.web.messages import Request, Response, plain
from exporter.web.passwords import BusyError, Passwords

CHECK_SECONDS = 1.0
"""Time between looks at the files."""
OPEN_PATHS = frozenset({"/-/healthy", "/-/ready"})
"""What needs no password: those who ask whether the exporter lives have none."""

_CHALLENGE = ("WWW-Authenticate", 'Basic realm="memcached-exporter", charset="UTF-8"')
_log = structlog.get_logger()

Stamp = tuple[int, ...]
"""What changes when a file does."""


class Settings(msgspec.Struct, frozen=True):
    """What the file says, ready for use."""

    context: ssl.SSLContext | None = None
    """How to speak TLS; None for plain HTTP."""
    users: dict[bytes, bytes] = {}
    """Name to bcrypt hash; empty when nobody needs a password."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers on every response."""


class Access:
    """The settings in force: those of the file as it was last read with success.

    Without a file everybody may read, over plain HTTP. ``note`` hears of each attempt to read the
    file. Raises ConfigurationError when it cannot be used to begin with.
    """

    def __init__(
        self, path: Path | None = None, note: Callable[[bool], None] = lambda _: None
    ) -> None:
        self._path = path
        self._note = note
        self._passwords = Passwords()
        self._lock = threading.Lock()
        self._stamps: dict[str, Stamp] = {}
        self._settings = Settings()
        if path:
            self._load(path)
        self._next_check = time.monotonic() + CHECK_SECONDS

    def settings(self) -> Settings:
        """Return the settings for a connection or a request that comes now."""
        if (
            self._path
            and time.monotonic() >= self._next_check
            and self._lock.acquire(blocking=False)
        ):
            # Whoever comes meanwhile goes by the settings of before.
            try:
                self._refresh(self._path)
            finally:
                self._next_check = time.monotonic() + CHECK_SECONDS
                self._lock.release()
        return self._settings

    def refusal(self, request: Request, settings: Settings) -> Response | None:
        """Return the answer to a request that has no right to another one."""
        if not settings.users or request.path in OPEN_PATHS:
            return None
        given = _credentials(request.headers)
        try:
            if given and self._passwords.right(settings.users, *given):
                return None
        except BusyError:
            return plain(503, "too many passwords to check: try again", ("Retry-After", "1"))
        return plain(401, "unauthorized: send a user name and the right password", _CHALLENGE)

    def _refresh(self, path: Path) -> None:
        if all(_stamp(name) == stamp for name, stamp in self._stamps.items()):
            return
        try:
            self._load(path)
        except ConfigurationError as error:
            self._note(False)  # noqa: FBT003
            _log.warning("web configuration is not read again", error=str(error))

    def _load(self, path: Path) -> None:
        """Read the files; whatever happens, remember how they looked before."""
        own = str(path)
        self._stamps = {name: _stamp(name) for name in (*self._stamps, own)}
        file, place = read_access_file(path)
        self._stamps = {name: _stamp(name) for name in _files(file)} | {own: self._stamps[own]}
        self._settings = _settings(file, place)
        self._note(True)  # noqa: FBT003
        _log.info(
            "web configuration read",
            file=str(path),
            tls="on" if file.tls_server_config else "off",
            client_certificates=getattr(file.tls_server_config, "client_auth_type", "none"),
            users=len(file.basic_auth_users),
        )


def check(path: Path) -> None:
    """Read a web configuration file and all that it names. Raises ConfigurationError."""
    _settings(*read_access_file(path))


def _stamp(name: str) -> Stamp:
    try:
        found = Path(name).stat()
    except (OSError, ValueError) as error:
        return (getattr(error, "errno", None) or 0,)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _files(file: AccessFile) -> Iterable[str]:
    tls = file.tls_server_config
    return filter(None, (tls.cert_file, tls.key_file, tls.client_ca_file)) if tls else ()


def _settings(file: AccessFile, place: Place) -> Settings:
    tls = file.tls_server_config
    headers: dict[str, str] = msgspec.to_builtins(file.http_server_config.headers)
    try:
        context = _server_context(tls, place) if tls else None
    except (OSError, ValueError) as error:
        # The system's own settings for OpenSSL may forbid what the file asks for.
        raise ConfigurationError(
            f"{place('tls_server_config')}: not possible with {ssl.OPENSSL_VERSION}: {error}"
        ) from error
    return Settings(
        context=context,
        users={name.encode(): stored.encode() for name, stored in file.basic_auth_users.items()},
        headers=tuple((name, value) for name, value in headers.items() if value),
    )


def _server_context(tls: TlsServer, place: Place) -> ssl.SSLContext:
    """Return a context that trusts nobody but those of ``client_ca_file``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[tls.min_version]
    context.maximum_version = VERSIONS[tls.max_version]
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.set_alpn_protocols(["http/1.1"])
    if not tls.prefer_server_cipher_suites:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    _choose_ciphers(context, tls, place)
    cert = _pem(tls.cert_file, "CERTIFICATE", place("tls_server_config.cert_file"))
    key = _pem(tls.key_file, "PRIVATE KEY", place("tls_server_config.key_file"))
    try:
        # Never ask on the terminal: an empty password makes an encrypted key an error.
        context.load_cert_chain(cert, key, password="")
    except (ssl.SSLError, OSError) as error:
        raise ConfigurationError(
            f"{place('tls_server_config.key_file')}: {key}: no key without a password that goes"
            f" with the certificate in {cert}: replace one of them"
        ) from error
    if tls.client_ca_file:
        where = place("tls_server_config.client_ca_file")
        try:
            context.load_verify_locations(_pem(tls.client_ca_file, "CERTIFICATE", where))
        except (ssl.SSLError, OSError) as error:
            raise ConfigurationError(
                f"{where}: {tls.client_ca_file}: damaged certificates: replace the file"
            ) from error
        required = tls.client_auth_type == "RequireAndVerifyClientCert"
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        # Also an authority below the top one may be what clients are held against.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _choose_ciphers(context: ssl.SSLContext, tls: TlsServer, place: Place) -> None:
    names = [CIPHERS[suite] for suite in tls.cipher_suites if CIPHERS[suite]]
    if names:
        context.set_ciphers(":".join(names))
    elif tls.cipher_suites:
        # Suites of TLS 1.3 alone: that is the version that is wanted.
        if tls.max_version == "TLS12":
            raise ConfigurationError(
                f"{place('tls_server_config.cipher_suites')}: none is for TLS12, which is"
                " max_version: add one, or raise max_version"
            )
        context.minimum_version = ssl.TLSVersion.TLSv1_3


def _pem(name: str, kind: str, where: str) -> str:
    """Return the name of a file that can be read and holds what it should, by its first look."""
    try:
        text = Path(name).read_bytes()
    except OSError as error:
        cause = os.strerror(error.errno or 0).lower()
        raise ConfigurationError(
            f"{where}: {name}: {cause}: correct the path or the file"
        ) from error
    if f"{kind}-----".encode() not in text:
        raise ConfigurationError(f"{where}: {name}: no {kind.lower()} in PEM format: replace it")
    return name


def _credentials(headers: Message) -> tuple[bytes, bytes] | None:
    """Return name and password of a request's one ``Authorization`` header, if it has them."""
    values = headers.get_all("Authorization", [])
    scheme, _, encoded = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return None
    return (name, password) if colon else None
