"""Real servers that speak one version of TLS only, and the lowest version that a module takes.

memcached can be told its lowest version, not its highest: that is for OpenSSL's own configuration.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Memcached
from tests.resilience.certificates import Authority
from tests.resilience.support import Watched, elapsed_below, refused_start

Watch = Callable[..., Watched]
Start = Callable[..., Memcached]
Only = Callable[[str], Memcached]

_OPENSSL = """\
openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = limits
[limits]
MinProtocol = {version}
MaxProtocol = {version}
CipherString = DEFAULT:@SECLEVEL=0
"""
"""Level 0, since no suite of TLS 1.1 is good enough for any other."""
_OWN_LOWEST = {"TLSv1.1": "1", "TLSv1.2": "2", "TLSv1.3": "3"}
"""What memcached calls the versions."""


@pytest.fixture
def only(
    memcached: Start, authority: Authority, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> Only:
    """Start a memcached that speaks this version of TLS and no other."""

    def start(version: str) -> Memcached:
        path = shared / "openssl.cnf"
        path.write_text(_OPENSSL.format(version=version))
        with monkeypatch.context() as servers_own:
            servers_own.setenv("OPENSSL_CONF", str(path))
            return memcached(*authority.issue().serve(f"ssl_min_version={_OWN_LOWEST[version]}"))

    return start


def module(authority: Authority, lowest: str) -> str:
    """Return a module that takes no version below the lowest; the default when that is empty."""
    more = f", min_version: {lowest}" if lowest else ""
    return f"{{tls: {{ca_file: {authority.ca}{more}}}}}"


@pytest.mark.parametrize(
    ("offered", "lowest"), [("TLSv1.2", "TLS13"), ("TLSv1.1", "TLS12"), ("TLSv1.1", "")]
)
def test_older_than_the_lowest_version(
    only: Only, watch: Watch, authority: Authority, offered: str, lowest: str
) -> None:
    """A server whose versions are all too old is refused as `tls`, and the log says why, once."""
    server = only(offered)
    found = watch(server.address, module(authority, lowest))
    for number in range(1, 4):
        with elapsed_below(2):
            assert found.up() == 0
        assert found.errors() == {"tls": number}
        assert found.get("memcached_limit_bytes") is None
        assert found.get("memcached_tls_certificate_not_after_timestamp_seconds") is None
    (line,) = found.daemon.warnings()
    assert f"server={server.address} reason=tls" in line
    assert "the server refuses the handshake: " in line
    assert "protocol_version" in line.lower()


@pytest.mark.parametrize(
    ("offered", "lowest"),
    [
        ("TLSv1.2", ""),
        ("TLSv1.3", ""),
        ("TLSv1.2", "TLS12"),
        ("TLSv1.3", "TLS12"),
        ("TLSv1.3", "TLS13"),
    ],
)
def test_not_older_than_the_lowest_version(
    only: Only, watch: Watch, authority: Authority, offered: str, lowest: str
) -> None:
    """A server is read over the one version it has, also where the module names no lowest one."""
    found = watch(only(offered).address, module(authority, lowest))
    for _ in range(2):
        assert found.up() == 1
    assert found.get("memcached_limit_bytes") == 64 * 2**20
    own = next(
        dict(labels)
        for name, labels in found.samples
        if name == "memcached_settings_info" and "ssl_min_version" in dict(labels)
    )
    assert own["ssl_min_version"].lower() == offered.lower()
    assert found.errors() == {}


@pytest.mark.parametrize("version", ["TLS10", "TLS11", "TLSv1.2", "1.3", '""'])
def test_versions_that_are_not_to_be_had(shared: Path, version: str) -> None:
    """A lowest version that is not safe, or not one, is refused at the start, with its place."""
    path = shared / "exporter.yml"
    path.write_text(f"modules:\n  odd:\n    tls:\n      min_version: {version}\n")
    error = refused_start(f"--config.file={path}")
    assert f"{path}:4: modules.odd.tls.min_version: " in error
    assert "write one of TLS12, TLS13" in error
