"""Certificates made with the openssl command, for servers and clients of tests."""

import datetime as dt
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Pair(NamedTuple):
    """A certificate and its key."""

    cert: Path
    key: Path

    def serve(self, *options: str) -> tuple[str, ...]:
        """Return the arguments that make a memcached serve with it."""
        extended = ",".join((f"ssl_chain_cert={self.cert}", f"ssl_key={self.key}", *options))
        return ("-Z", "-o", extended)

    def ends(self) -> float:
        """Return when the certificate ends, in Unix seconds, as openssl says it."""
        text = openssl("x509", "-in", self.cert, "-noout", "-enddate").strip()
        ends = dt.datetime.strptime(text, "notAfter=%b %d %H:%M:%S %Y GMT")  # noqa: DTZ007
        return ends.replace(tzinfo=dt.UTC).timestamp()


class Authority:
    """A certificate authority in a directory."""

    def __init__(self, directory: Path) -> None:
        if not shutil.which("openssl"):
            pytest.skip("needs the openssl command to make certificates")
        self._directory = directory
        self.ca = directory / "ca.pem"
        self._key = directory / "ca.key"
        openssl(
            *("req", "-x509", *_KEY, "-keyout", self._key, "-out", self.ca),
            *("-subj", "/CN=authority of the tests", "-days", "30"),
        )

    def issue(self, names: str = "DNS:localhost,IP:127.0.0.1", days: int = 3) -> Pair:
        """Issue a certificate for names; with days below 0 it has ended long ago."""
        number = len(list(self._directory.iterdir()))
        pair = Pair(self._directory / f"{number}.pem", self._directory / f"{number}.key")
        request = self._directory / f"{number}.csr"
        openssl(
            *("req", *_KEY, "-keyout", pair.key, "-out", request, "-subj", "/CN=a server"),
            *("-addext", f"subjectAltName={names}"),
        )
        openssl(
            *("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._key, "-out"),
            *(pair.cert, "-days", str(days), "-copy_extensions", "copy"),
        )
        pair.key.chmod(0o644)  # memcached reads it as nobody
        return pair


def openssl(*arguments: str | Path) -> str:
    """Run openssl, and return what it says."""
    return subprocess.run(["openssl", *arguments], capture_output=True, check=True).stdout.decode()
