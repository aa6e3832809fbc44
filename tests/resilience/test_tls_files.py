"""Files of certificates and keys, and the flags that name them."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.certificates import write_key
from tests.processes import Memcached
from tests.resilience.certificates import Authority
from tests.resilience.support import Daemon, Watched, refused_start

Watch = Callable[..., Watched]
Start = Callable[..., Memcached]


@pytest.fixture(scope="module")
def successor(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority that comes after the first."""
    directory = tmp_path_factory.mktemp("successor")
    for parent in (directory, directory.parent, directory.parent.parent):
        parent.chmod(0o755)
    return Authority(directory)


def test_new_authority_without_restart(
    memcached: Start, watch: Watch, authority: Authority, successor: Authority, shared: Path
) -> None:
    """A new file of authorities counts from the next connection on; held ones go on."""
    old, new = authority.issue(), successor.issue()
    cert, key = shared / "server.pem", shared / "server.key"

    def install(pair: tuple[Path, Path]) -> None:
        cert.write_bytes(pair[0].read_bytes())
        key.write_bytes(pair[1].read_bytes())
        key.chmod(0o644)

    install(old)
    server = memcached("-Z", "-o", f"ssl_chain_cert={cert},ssl_key={key}")
    ours = shared / "ca.pem"
    ours.write_bytes(authority.ca.read_bytes())
    found = watch(server.address, "{tls: {ca_file: ca.pem}}")
    assert found.up() == 1
    assert found.get("memcached_tls_certificate_not_after_timestamp_seconds") == old.ends()
    install(new)
    server.restart()
    assert (found.up(), found.errors()) == (0, {"tls": 1})
    replace(ours, successor.ca.read_bytes())
    assert found.up() == 1
    assert found.get("memcached_tls_certificate_not_after_timestamp_seconds") == new.ends()


def replace(path: Path, content: bytes) -> None:
    """Put a new file in the place of one, as tools that renew certificates do."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(content)
    fresh.rename(path)


def test_new_client_certificate_without_restart(
    memcached: Start, watch: Watch, authority: Authority, successor: Authority, shared: Path
) -> None:
    """An own certificate that is renewed on disk is shown at the next connection."""
    server = memcached(*authority.issue().serve("ssl_verify_mode=2", f"ssl_ca_cert={authority.ca}"))
    cert, key = shared / "me.pem", shared / "me.key"
    wrong, right = successor.issue("DNS:me"), authority.issue("DNS:me")
    replace(cert, wrong.cert.read_bytes())
    replace(key, wrong.key.read_bytes())
    module = f"{{tls: {{ca_file: {authority.ca}, cert_file: me.pem, key_file: me.key}}}}"
    found = watch(server.address, module)
    assert found.up() == 0
    replace(cert, right.cert.read_bytes())
    replace(key, right.key.read_bytes())
    assert found.up() == 1


def test_half_renewed_files(
    memcached: Start, watch: Watch, authority: Authority, shared: Path
) -> None:
    """Between the new certificate and its key the files do not fit: told so, and then over."""
    server = memcached(*authority.issue().serve())
    cert, key = shared / "me.pem", shared / "me.key"
    first, second = authority.issue("DNS:me"), authority.issue("DNS:me")
    replace(cert, first.cert.read_bytes())
    replace(key, first.key.read_bytes())
    module = f"{{tls: {{ca_file: {authority.ca}, cert_file: me.pem, key_file: me.key}}}}"
    found = watch(server.address, module)
    assert found.up() == 1
    replace(cert, second.cert.read_bytes())
    assert found.up() == 1  # over the held connection
    server.restart()
    assert (found.up(), found.errors()) == (0, {"tls": 1})
    assert f"{cert}: no certificate that goes with its key" in found.daemon.warnings()[0]
    replace(key, second.key.read_bytes())
    assert found.up() == 1


def test_file_that_vanishes(
    memcached: Start, watch: Watch, authority: Authority, shared: Path
) -> None:
    """A file that is gone when it is needed is named, and all is well when it is back."""
    server = memcached(*authority.issue().serve())
    ours = shared / "ca.pem"
    ours.write_bytes(authority.ca.read_bytes())
    found = watch(server.address, "{tls: {ca_file: ca.pem}}")
    ours.unlink()
    assert (found.up(), found.errors()) == (0, {"tls": 1})
    assert f"{ours}: no such file or directory" in found.daemon.warnings()[0]
    ours.write_bytes(authority.ca.read_bytes())
    assert found.up() == 1


FLAG = "--memcached.tls"


def test_flags(memcached: Start, daemon: Callable[..., Daemon], authority: Authority) -> None:
    """The official exporter's flags do what the keys of the file do."""
    server = memcached(
        *authority.issue("DNS:cache.internal").serve(
            "ssl_verify_mode=2", f"ssl_ca_cert={authority.ca}"
        )
    )
    mine = authority.issue("DNS:monitor")
    flags = (
        f"--memcached.address={server.address}",
        f"{FLAG}.enable",
        f"{FLAG}.cert-file={mine.cert}",
        f"{FLAG}.key-file={mine.key}",
    )
    checked = (f"{FLAG}.ca-file={authority.ca}", f"{FLAG}.server-name=cache.internal")
    for more in (checked, (f"{FLAG}.insecure-skip-verify",)):
        assert Watched(daemon(*flags, *more), server.address).up() == 1
    assert Watched(daemon(*flags), server.address).up() == 0


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ([f"{FLAG}.ca-file=x"], f"do nothing alone: add {FLAG}.enable"),
        ([f"{FLAG}.enable", f"{FLAG}.cert-file=x"], "cert_file and key_file go together"),
        (
            [f"{FLAG}.enable", f"{FLAG}.ca-file=/nowhere/ca.pem"],
            "/nowhere/ca.pem: no such file or directory",
        ),
        ([f"{FLAG}.enable", f"{FLAG}.ca-file=/"], "/: is a directory"),
    ],
)
def test_wrong_flags(flags: list[str], problem: str) -> None:
    """Flags that cannot work are refused at the start, in one line."""
    assert problem in refused_start(*flags)


@pytest.mark.parametrize("content", ["", "nonsense\n", "-----BEGIN CERTIFICATE-----\nx\n"])
@pytest.mark.parametrize("key", ["ca_file", "cert_file", "key_file"])
def test_files_that_are_none(authority: Authority, shared: Path, key: str, content: str) -> None:
    """A file without what it should have is refused at the start, and named."""
    good = authority.issue()
    paths = {"ca_file": authority.ca, "cert_file": good.cert, "key_file": good.key}
    paths[key] = shared / "bad.pem"
    paths[key].write_text(content)
    path = shared / "exporter.yml"
    lines = "".join(f"      {name}: {value}\n" for name, value in paths.items())
    path.write_text(f"modules:\n  odd:\n    tls:\n{lines}")
    error = refused_start(f"--config.file={path}")
    # Whether a key is bad or goes with another certificate cannot be told: both are named there.
    named = "cert_file" if key == "key_file" else key
    line = 4 + list(paths).index(named)
    assert f"{path}:{line}: modules.odd.tls.{named}: {paths[named]}: " in error


def test_key_that_asks_for_a_passphrase(authority: Authority, shared: Path) -> None:
    """An encrypted key is an error, and no question on the terminal."""
    pair = authority.issue()
    locked = shared / "locked.key"
    key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    write_key(locked, key, b"secret")
    flags = (f"{FLAG}.enable", f"{FLAG}.cert-file={pair.cert}", f"{FLAG}.key-file={locked}")
    assert str(pair.cert) in refused_start(*flags)


def test_unix_socket(authority: Authority, shared: Path) -> None:
    """TLS over a unix socket is refused in the configuration, with the reason."""
    path = shared / "exporter.yml"
    path.write_text(
        f'servers: [{{address: "unix:{shared}/m.sock", module: odd}}]\n'
        f"modules: {{odd: {{tls: {{ca_file: {authority.ca}}}}}}}\n"
    )
    assert "speaks TLS, which a unix socket cannot" in refused_start(f"--config.file={path}")


def test_unix_socket_as_target(
    configured: Callable[..., Daemon], authority: Authority, shared: Path
) -> None:
    """A target that is a unix socket cannot be read by a module with TLS: never in plain text."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{shared}/m.sock")
        listener.listen()
        listener.settimeout(0.1)
        running = configured(
            f'scrape: {{allow: ["unix:{shared}/*"]}}\n'
            f"modules: {{odd: {{tls: {{ca_file: {authority.ca}}}}}}}\n"
        )
        answer = running.request(f"/scrape?module=odd&target={shared}/m.sock")
        assert answer.status == 400
        assert "TLS" in answer.text
        with pytest.raises(TimeoutError):
            listener.accept()
