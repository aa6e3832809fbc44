"""The web configuration file: its shape, which is that of Prometheus' exporters, and its errors.

What it may hold is secret: error texts show keys, and of values only those of a fixed choice.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from exporter.addresses import is_utf8
from exporter.configuration import Place, convert_to, read_yaml
from exporter.errors import ConfigurationError

MOST_COST = 15
"""Binary logarithm of bcrypt's rounds; one more doubles the time, which is over a second here."""

_HASH = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}\Z")
_HTPASSWD = "make one with: htpasswd -nBC 10 '' | tr -d ':'"
_INLINE = "certificates and keys are read from files only"

_UNSUPPORTED = {
    "rate_limit": "requests are not counted: remove it, or limit them in a proxy",
    "tls_server_config.cert": f"{_INLINE}: use cert_file",
    "tls_server_config.key": f"{_INLINE}: use key_file",
    "tls_server_config.client_ca": f"{_INLINE}: use client_ca_file",
    "tls_server_config.client_allowed_sans": "names of clients are not compared: name a CA in"
    " client_ca_file that signs for these clients alone",
    "tls_server_config.curve_preferences": "Python's ssl library cannot set a list of curves:"
    " remove it, the defaults of OpenSSL are good",
}
"""Keys of the format that would not have their effect, and why."""

_UNVERIFIED = (
    "Python's ssl library takes no certificate without verifying it, and one that is not verified"
    " proves nothing: use "
)
_OLD = "this version of TLS is not safe: use TLS12 or TLS13"
_REFUSED = {
    "tls_server_config.client_auth_type": {
        "RequestClientCert": f"{_UNVERIFIED}VerifyClientCertIfGiven",
        "RequireAnyClientCert": f"{_UNVERIFIED}RequireAndVerifyClientCert",
        "RequireClientCert": f"{_UNVERIFIED}RequireAndVerifyClientCert",
    },
    "tls_server_config.min_version": {"TLS10": _OLD, "TLS11": _OLD},
    "tls_server_config.max_version": {"TLS10": _OLD, "TLS11": _OLD},
}
"""Values of the format that are not taken, and why."""

CIPHERS = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_AES_128_GCM_SHA256": "",
    "TLS_AES_256_GCM_SHA384": "",
    "TLS_CHACHA20_POLY1305_SHA256": "",
}
"""The format's names of cipher suites to OpenSSL's; those of TLS 1.3 are always on."""

FileText = Annotated[
    str,
    msgspec.Meta(min_length=1, description="Write the path of a file, relative to this one."),
]
HeaderText = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[ -~]*$(?!\n)",
        description="Write printable ASCII text, in quotes if it looks like a number.",
    ),
]
Version = Literal["TLS12", "TLS13"]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class TlsServer(_Strict, frozen=True, kw_only=True):
    """How the exporter speaks TLS to its clients, and which certificates it wants from them."""

    cert_file: FileText
    key_file: FileText
    client_auth_type: Literal[
        "NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"
    ] = "NoClientCert"
    client_ca_file: str = ""
    min_version: Version = "TLS12"
    max_version: Version = "TLS13"
    cipher_suites: list[Literal[tuple(CIPHERS)]] = []  # type: ignore[valid-type]
    prefer_server_cipher_suites: bool = True


_HEADERS = {
    "content_security_policy": "Content-Security-Policy",
    "strict_transport_security": "Strict-Transport-Security",
    "content_type_options": "X-Content-Type-Options",
    "frame_options": "X-Frame-Options",
    "xss_protection": "X-XSS-Protection",
}


class Headers(_Strict, frozen=True, kw_only=True, rename=_HEADERS):
    """Headers on every response; empty for none."""

    content_security_policy: HeaderText = ""
    strict_transport_security: HeaderText = ""
    content_type_options: Literal["", "nosniff"] = ""
    frame_options: Literal["", "deny", "sameorigin"] = ""
    xss_protection: HeaderText = ""


class HttpServerConfig(_Strict, frozen=True, kw_only=True):
    """What is said in HTTP."""

    http2: bool = True
    """Taken for the format's sake: HTTP/1.1 is spoken in any case."""
    headers: Headers = Headers()


class AccessFile(_Strict, frozen=True, kw_only=True):
    """Who may read what the exporter serves, and over which transport."""

    tls_server_config: TlsServer | None = None
    http_server_config: HttpServerConfig = HttpServerConfig()
    basic_auth_users: dict[str, str] = {}


def read_access_file(path: Path) -> tuple[AccessFile, Place]:
    """Read the file strictly; its paths are made absolute.

    Returns its data and a function that names a key's place in it. Raises ConfigurationError.
    """
    try:
        document, place = read_yaml(path)
    except ConfigurationError as error:
        # The parser quotes what it stumbles over, which may be part of a secret.
        before, what, detail = str(error).partition(": not valid YAML: ")
        shown = re.sub(r"""['"].*['"]""", "(not shown)", detail)
        raise ConfigurationError(f"{before}{what}{shown}: correct it") from None
    except ValueError as error:
        raise ConfigurationError(f"{path}: not a path: {error}") from error
    _refuse_unsupported(document, place)
    try:
        file = convert_to(document, place, AccessFile)
    except ConfigurationError as error:
        raise ConfigurationError(re.sub(r"\$2[^\s\":]*", "(not shown)", str(error))) from None
    _check_users(file.basic_auth_users, place)
    if file.tls_server_config:
        tls = _rooted(file.tls_server_config, path.parent.absolute())
        _check_tls(tls, place)
        file = msgspec.structs.replace(file, tls_server_config=tls)
    return file, place


def _refuse_unsupported(document: Any, place: Place) -> None:
    for key_path, why in _UNSUPPORTED.items():
        if _value_at(document, key_path) is not None:
            raise ConfigurationError(f"{place(key_path)}: not supported: {why}")
    for key_path, values in _REFUSED.items():
        value = _value_at(document, key_path)
        if isinstance(value, str) and value in values:
            raise ConfigurationError(f"{place(key_path)}: {value}: {values[value]}")


def _value_at(document: Any, key_path: str) -> Any:
    for key in key_path.split("."):
        if not isinstance(document, dict):
            return None
        document = document.get(key)
    return document


def _check_users(users: dict[str, str], place: Place) -> None:
    for name, stored in users.items():
        # Who mixes up name and hash should not find the hash in a log.
        where = place("basic_auth_users" if "$" in name else f"basic_auth_users.{name}")
        if ":" in name or not name.isprintable() or not is_utf8(name):
            raise ConfigurationError(
                f"{where}: not a user name: use printable text without a colon"
            )
        found = _HASH.match(stored)
        if not found:
            raise ConfigurationError(f"{where}: the value is no bcrypt hash: {_HTPASSWD}")
        if not 4 <= int(found[1]) <= MOST_COST:  # noqa: PLR2004, the least that bcrypt knows
            raise ConfigurationError(
                f"{where}: bcrypt's cost is {int(found[1])}, and 4 to {MOST_COST} is taken:"
                f" {_HTPASSWD}"
            )


def _rooted(tls: TlsServer, directory: Path) -> TlsServer:
    return msgspec.structs.replace(
        tls,
        cert_file=str(directory / tls.cert_file),
        key_file=str(directory / tls.key_file),
        client_ca_file=str(directory / tls.client_ca_file) if tls.client_ca_file else "",
    )


def _check_tls(tls: TlsServer, place: Place) -> None:
    """Check what goes together."""
    if tls.client_auth_type == "NoClientCert" and tls.client_ca_file:
        raise ConfigurationError(
            f"{place('tls_server_config.client_ca_file')}: no certificate is asked for:"
            " set client_auth_type to RequireAndVerifyClientCert"
        )
    if tls.client_auth_type != "NoClientCert" and not tls.client_ca_file:
        raise ConfigurationError(
            f"{place('tls_server_config.client_auth_type')}: {tls.client_auth_type} needs"
            " client_ca_file: name the certificates that clients' must come from"
        )
    if tls.min_version > tls.max_version:
        raise ConfigurationError(
            f"{place('tls_server_config.max_version')}: lower than min_version: raise it"
        )
