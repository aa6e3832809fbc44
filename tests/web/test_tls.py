"""TLS towards clients: versions, cipher suites, client certificates, and other programs."""

import contextlib
import datetime as dt
import http.client
import re
import shutil
import socket
import ssl
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.web.access import Access, check
from exporter.web.access_file import CIPHERS
from exporter.web.messages import Request, Response, plain
from exporter.web.server import HttpServer
from tests.processes import Exporter, Memcached, parse, sample
from tests.test_prometheus import Prometheus
from tests.web.clients import eventually, place_of, replies, talk
from tests.web.secure import GAUGE, Authority, ask, basic, everything, hashed, place

Serve = Callable[..., HttpServer]


HEALTHY = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_scrape_over_tls(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    authority: Authority,
    write: Callable[..., Path],
) -> None:
    """The page comes over TLS with a certificate that its authority vouches for."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", f"--web.config.file={write()}")
    page = parse(ask(place(daemon), context=authority.trusting()).text)
    assert page[sample("memcached_up", server=server.address)] == 1
    assert page[GAUGE] == 1
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(place(daemon), context=ssl.create_default_context())


def test_requests_on_one_connection(tls_daemon: Exporter, authority: Authority) -> None:
    """A kept connection answers one request after the other, large pages among them."""
    connection = http.client.HTTPSConnection(*place(tls_daemon), context=authority.trusting())
    with contextlib.closing(connection):
        for path in ("/metrics", "/-/healthy", "/", "/nope") * 5:
            connection.request("GET", path)
            response = connection.getresponse()
            assert response.status == (404 if path == "/nope" else 200)
            assert len(response.read()) == int(response.headers["Content-Length"])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(
    serve: Serve, authority: Authority, write: Callable[..., Path], version: ssl.TLSVersion
) -> None:
    """TLS 1.2 and 1.3 are spoken, HTTP/1.1 is agreed upon, and the end is said properly."""
    server = serve(everything, Access(write()))
    context = authority.trusting()
    context.minimum_version = context.maximum_version = version
    context.set_alpn_protocols(["h2", "http/1.1"])
    raw = socket.create_connection(place_of(server), timeout=15)
    with context.wrap_socket(
        raw, server_hostname="127.0.0.1", suppress_ragged_eofs=False
    ) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"
        connection.sendall(HEALTHY.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        answer = b""
        while received := connection.recv(65536):
            answer += received
    (reply,) = replies(answer)
    assert reply.body == b"inside\n"


def test_old_versions_are_refused(
    serve: Serve, authority: Authority, write: Callable[..., Path]
) -> None:
    """A client that speaks no more than TLS 1.1 is told so."""
    server = serve(everything, Access(write()))
    context = authority.trusting()
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError, match=r"(?i)protocol.version"):
        ask(place_of(server), "/", context)


@pytest.mark.parametrize(
    ("settings", "version", "works"),
    [
        ("min_version: TLS13", ssl.TLSVersion.TLSv1_2, False),
        ("min_version: TLS13", ssl.TLSVersion.TLSv1_3, True),
        ("max_version: TLS12", ssl.TLSVersion.TLSv1_3, False),
        ("max_version: TLS12", ssl.TLSVersion.TLSv1_2, True),
        ("cipher_suites: [TLS_AES_128_GCM_SHA256]", ssl.TLSVersion.TLSv1_2, False),
        ("cipher_suites: [TLS_AES_128_GCM_SHA256]", ssl.TLSVersion.TLSv1_3, True),
    ],
)
def test_the_versions_of_the_file(
    guarded: Serve,
    authority: Authority,
    settings: str,
    version: ssl.TLSVersion,
    works: bool,
) -> None:
    """Lowest and highest version are those of the file."""
    server = guarded(settings)
    context = authority.trusting()
    context.minimum_version = context.maximum_version = version
    if works:
        assert ask(place_of(server), "/", context).status == 200
    else:
        with pytest.raises(ssl.SSLError):
            ask(place_of(server), "/", context)


@pytest.mark.parametrize("ours", [True, False])
def test_cipher_suites(
    serve: Serve, authority: Authority, write: Callable[..., Path], ours: bool
) -> None:
    """Only the suites of the file are agreed upon, in the order of the file unless told not to."""
    suites = (
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
    )
    more = f"cipher_suites: [{suites}], prefer_server_cipher_suites: {str(ours).lower()}"
    server = serve(everything, Access(write(more)))
    context = authority.trusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    names = "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"
    strong = "ECDHE-ECDSA-AES256-GCM-SHA384"
    context.set_ciphers(":".join((*names, strong)))
    raw = socket.create_connection(place_of(server), timeout=15)
    with context.wrap_socket(raw, server_hostname="127.0.0.1") as connection:
        cipher = connection.cipher()
        assert cipher
        assert cipher[0] == (strong if ours else names[1])
    context.set_ciphers(names[0])
    with pytest.raises(ssl.SSLError):
        ask(place_of(server), "/", context)


def test_every_suite_is_known_to_openssl(write: Callable[..., Path]) -> None:
    """Each name that the file may have is taken by the library, alone too."""
    for name in CIPHERS:
        check(write(f"cipher_suites: [{name}]"))


def test_plain_http_on_the_tls_port(tls_daemon: Exporter, authority: Authority) -> None:
    """A client that forgot the s is told so in plain HTTP, and gets nothing else."""
    (status, *_), *_, body = (
        line.split() for line in talk(place(tls_daemon), HEALTHY).decode().splitlines()
    )
    assert status == "HTTP/1.1"
    assert "https://" in body
    assert ask(place(tls_daemon), "/-/healthy", authority.trusting()).status == 200
    assert "Traceback" not in tls_daemon.log


MUTUAL = "client_ca_file: clients.pem, client_auth_type: "


@pytest.mark.parametrize("kind", ["RequireAndVerifyClientCert", "VerifyClientCertIfGiven"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_client_certificates(
    guarded: Serve,
    authority: Authority,
    tmp_path: Path,
    kind: str,
    version: ssl.TLSVersion,
) -> None:
    """A client's certificate must be of the right authority, valid, and for clients."""
    clients = Authority(tmp_path, "clients")
    asked: list[str] = []

    def application(request: Request) -> Response:
        asked.append(request.path)
        return plain(200, "inside")

    server = guarded(MUTUAL + kind, application=application)

    def works(context: ssl.SSLContext) -> bool:
        context.minimum_version = context.maximum_version = version
        asked.clear()
        try:
            assert ask(place_of(server), "/", context).status == 200
        except OSError:
            assert asked == []
            return False
        return True

    assert works(authority.trusting(clients.issue("me", client=True)))
    assert works(authority.trusting()) is (kind == "VerifyClientCertIfGiven")
    stranger = Authority(tmp_path, "strangers").issue("stranger", client=True)
    assert not works(authority.trusting(stranger))
    assert not works(authority.trusting(authority.issue("of-the-server", client=True)))
    assert not works(authority.trusting(clients.issue("for-servers")))
    ended = clients.issue("ended", client=True, lasts=dt.timedelta(minutes=-5))
    assert not works(authority.trusting(ended))


def test_health_is_behind_tls(
    serve: Serve, authority: Authority, write: Callable[..., Path], tmp_path: Path
) -> None:
    """Health needs no password, but a certificate where one is required."""
    clients = Authority(tmp_path, "clients")
    path = write(f"{MUTUAL}RequireAndVerifyClientCert", f"basic_auth_users: {{a: '{hashed('b')}'}}")
    server = serve(everything, Access(path))
    mine = authority.trusting(clients.issue("me", client=True))
    assert ask(place_of(server), "/-/healthy", mine).status == 200
    assert ask(place_of(server), "/metrics", mine).status == 401
    login = basic("a", "b")
    assert ask(place_of(server), "/metrics", mine, Authorization=login).status == 200
    with pytest.raises(OSError, match=r"(?i)certificate.required|eof|reset"):
        ask(place_of(server), "/-/healthy", authority.trusting())


def test_prometheus_scrapes_with_password_and_authority(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    authority: Authority,
    write: Callable[..., Path],
    tmp_path: Path,
) -> None:
    """A real Prometheus reads the page over TLS with a client certificate and a password."""
    clients = Authority(tmp_path, "clients")
    mine = clients.issue("me", client=True)
    web = write(
        f"{MUTUAL}RequireAndVerifyClientCert", f"basic_auth_users: {{prom: '{hashed('pw')}'}}"
    )
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", f"--web.config.file={web}")
    job = (
        f"  scheme: https\n  static_configs: [{{targets: ['127.0.0.1:{daemon.port}']}}]\n"
        f"  tls_config: {{ca_file: {authority.file}, cert_file: {mine.cert}, key_file: {mine.key}}}"
    )
    prometheus = Prometheus(
        tmp_path,
        "global: {scrape_interval: 500ms, scrape_timeout: 500ms}\nscrape_configs:\n"
        f"- job_name: right\n{job}\n  basic_auth: {{username: prom, password: pw}}\n"
        f"- job_name: wrong\n{job}\n  basic_auth: {{username: prom, password: no}}\n",
    )
    try:
        assert eventually(lambda: len(prometheus.query("up")) == 1, 30)
        assert eventually(
            lambda: (
                {t["labels"]["job"]: t["lastError"] for t in prometheus.targets()}
                == {"right": "", "wrong": "server returned HTTP status 401 Unauthorized"}
            ),
            30,
        )
        assert eventually(lambda: list(prometheus.query('up{job="right"}').values()) == [1])
        assert list(prometheus.query('up{job="wrong"}').values()) == [0]
        assert list(prometheus.query("memcached_up").values()) == [1]
    finally:
        prometheus.stop()


def test_curl_agrees(tls_daemon: Exporter, authority: Authority) -> None:
    """Another client than Python's has no complaint, and the connection is kept for it."""
    curl = shutil.which("curl")
    if not curl:
        pytest.skip("curl is not installed")
    url = f"https://{tls_daemon.host}:{tls_daemon.port}/-/healthy"
    result = subprocess.run(
        [curl, "-sS", "-v", "--cacert", str(authority.file), url, url],
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert result.stdout == "healthy\nhealthy\n"
    assert re.search("Re-using existing (https: )?connection", result.stderr)
