"""Certificates made on the spot, with the extensions that a strict reader asks for."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOUR = dt.timedelta(hours=1)
DAY = 24 * HOUR
SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH
BOTH = (SERVER, CLIENT)


class Signer(NamedTuple):
    """Who signs certificates: a name and a key."""

    name: x509.Name
    key: ec.EllipticCurvePrivateKey


def named(name: str) -> x509.Name:
    """Return the name of a subject."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def authority(name: str, *, extended: bool = True) -> tuple[Signer, x509.Certificate]:
    """Return an authority and its certificate; without extensions it is one of the old kind."""
    signer = Signer(named(name), ec.generate_private_key(ec.SECP256R1()))
    builder = _builder(signer, signer.name, signer.key, 30 * DAY).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    if extended:
        builder = _with_usage(builder, signs=True)
        builder = _with_identifiers(builder, signer, signer.key)
    return signer, builder.sign(signer.key, hashes.SHA256())


def issue(  # noqa: PLR0913
    signer: Signer,
    name: str,
    names: Sequence[x509.GeneralName],
    *,
    lasts: dt.timedelta,
    usages: Sequence[x509.ObjectIdentifier] = BOTH,
    extended: bool = True,
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Return a key and its certificate; with a time below 0 it has ended already."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(signer, named(name), key, lasts).add_extension(
        x509.SubjectAlternativeName(names), critical=False
    )
    if extended:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        builder = _with_usage(builder, signs=False)
        builder = _with_identifiers(builder, signer, key)
    return key, builder.sign(signer.key, hashes.SHA256())


def write(path: Path, certificate: x509.Certificate) -> None:
    """Write a certificate as PEM."""
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def write_key(path: Path, key: ec.EllipticCurvePrivateKey, password: bytes = b"") -> None:
    """Write a key as PEM, encrypted if there is a password."""
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        encryption = serialization.BestAvailableEncryption(password)
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, encryption))


def _builder(
    signer: Signer, subject: x509.Name, key: ec.EllipticCurvePrivateKey, lasts: dt.timedelta
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer.name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + min(lasts, dt.timedelta()) - 2 * HOUR)
        .not_valid_after(now + lasts)
    )


def _with_usage(builder: x509.CertificateBuilder, *, signs: bool) -> x509.CertificateBuilder:
    usage = x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return builder.add_extension(usage, critical=True)


def _with_identifiers(
    builder: x509.CertificateBuilder, signer: Signer, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    above = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key())
    return builder.add_extension(own, critical=False).add_extension(above, critical=False)
