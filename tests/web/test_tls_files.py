"""Certificates and keys on disk: replaced, broken, missing."""

import http.client
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.errors import ConfigurationError
from exporter.web import access as access_module
from exporter.web.access import Access, check
from exporter.web.server import HttpServer
from tests.processes import Exporter, parse
from tests.web.clients import eventually, place_of
from tests.web.secure import GAUGE, Authority, ask, everything, place, serial_at

Serve = Callable[..., HttpServer]


MUTUAL = "client_ca_file: clients.pem, client_auth_type: "


def test_a_new_certificate_is_served(tls_daemon: Exporter, authority: Authority) -> None:
    """Replaced files hold for new connections; a kept one gets one more answer and ends."""
    context = authority.trusting()
    kept = http.client.HTTPSConnection(*place(tls_daemon), context=context)
    kept.request("GET", "/-/healthy")
    assert kept.getresponse().read() == b"healthy\n"
    before = serial_at(place(tls_daemon), context)
    new = authority.issue("server")
    assert new.serial != before
    assert eventually(lambda: serial_at(place(tls_daemon), context) == new.serial)
    kept.request("GET", "/-/healthy")
    answer = kept.getresponse()
    assert answer.read() == b"healthy\n"
    assert answer.headers["Connection"] == "close"
    kept.close()


def test_a_broken_certificate_changes_nothing(
    tls_daemon: Exporter, authority: Authority, tmp_path: Path
) -> None:
    """With files that do not fit, the old pair is served and the gauge is 0 until they do."""
    context = authority.trusting()
    before = serial_at(place(tls_daemon), context)

    def gauge() -> float:
        return parse(ask(place(tls_daemon), context=context).text)[GAUGE]

    assert gauge() == 1
    other = authority.issue("other")
    shutil.copy(other.cert, tmp_path / "server.pem")
    assert eventually(lambda: gauge() == 0)
    assert serial_at(place(tls_daemon), context) == before
    assert "tls_server_config.key_file" in tls_daemon.log
    (tmp_path / "server.pem").write_text("nonsense")
    assert eventually(lambda: "no certificate in PEM format" in tls_daemon.log or gauge() > 0)
    assert gauge() == 0
    assert serial_at(place(tls_daemon), context) == before
    shutil.copy(other.cert, tmp_path / "server.pem")
    shutil.copy(other.key, tmp_path / "server.key")
    assert eventually(lambda: gauge() == 1)
    assert serial_at(place(tls_daemon), context) == other.serial
    assert tls_daemon.log.count("web configuration is not read again") in {2, 3}
    assert "PRIVATE" not in tls_daemon.log


def test_tls_can_be_switched_on(
    serve: Serve, authority: Authority, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that gets a TLS section holds for the next connection."""
    monkeypatch.setattr(access_module, "CHECK_SECONDS", 0.0)
    path = write()
    with_tls = path.read_text()
    path.write_text("{}")
    server = serve(everything, Access(path))
    assert ask(place_of(server), "/").status == 200
    path.write_text(with_tls)
    assert ask(place_of(server), "/", authority.trusting()).status == 200
    assert ask(place_of(server), "/").status == 400


def test_mistakes_in_files(
    authority: Authority, write: Callable[..., Path], tmp_path: Path
) -> None:
    """Files that cannot be used are named with their key, and what they hold is not shown."""
    key = (tmp_path / "server.key").read_text()

    def refusal(more: str = "") -> str:
        with pytest.raises(ConfigurationError) as caught:
            check(write(more))
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / 'web.yml'}:1: tls_server_config.")
        assert message.isprintable()
        assert key.splitlines()[1] not in message
        return message.partition("tls_server_config.")[2]

    check(write())
    mutual = f"{MUTUAL}RequireAndVerifyClientCert"
    assert refusal(mutual).startswith(f"client_ca_file: {tmp_path}/clients.pem: no such file")
    (tmp_path / "clients.pem").write_text(key)
    assert "client_ca_file: " in refusal(mutual)
    (tmp_path / "clients.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n")
    assert "damaged certificates" in refusal(mutual)
    authority.issue("server", password=b"marker")
    assert refusal().startswith("key_file: ")
    (tmp_path / "server.key").write_text("nonsense")
    assert "no private key in PEM format" in refusal()
    (tmp_path / "server.key").unlink()
    assert "server.key: no such file" in refusal()
    (tmp_path / "server.pem").write_text(key)
    assert refusal().startswith("cert_file: ")
