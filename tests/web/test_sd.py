"""``/sd``: the servers as Prometheus' http_sd wants to hear of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.processes import Exporter, Memcached, free_port
from tests.web.clients import Reply, Site, eventually, replies, talk
from tests.web.secure import Authority, ask, basic, place

Configure = Callable[[str], str]
Start = Callable[..., Exporter]

SERVERS = """
modules: {brief: {sections: []}}
servers:
- address: cache-1
- {address: 'cache-2:11212', module: brief, labels: {rack: "7", text: 'é " \\ {}'}}
- address: '[::1]:11213'
- {address: /run/memcached.sock, labels: {cluster: web}}
"""


def target(address: str, module: str = "default", **labels: str) -> dict[str, str]:
    """Return the labels of a server under the usual paths, without TLS."""
    return {
        **labels,
        "instance": address,
        "__scheme__": "http",
        "__metrics_path__": "/scrape",
        "__param_target": address,
        "__param_module": module,
    }


def groups(daemon: Exporter, path: str = "/sd", **headers: Any) -> list[dict[str, Any]]:
    """Return what is told."""
    answer = daemon.request(path, **headers)
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    found: list[dict[str, Any]] = json.loads(answer.body.decode())
    return found


def only(daemon: Exporter, **headers: Any) -> tuple[str, str, str]:
    """Return target, scheme and path of the only server."""
    (group,) = groups(daemon, **headers)
    (address,) = group["targets"]
    return address, group["labels"]["__scheme__"], group["labels"]["__metrics_path__"]


def test_each_server_is_a_target(exporter: Start, config_file: Configure) -> None:
    """In the configured order, by the address that the client has called, with its own labels."""
    daemon = exporter(config_file(SERVERS))
    found = groups(daemon)
    assert [group["targets"] for group in found] == [[f"127.0.0.1:{daemon.port}"]] * 4
    assert [group["labels"] for group in found] == [
        target("cache-1"),
        target("cache-2:11212", "brief", rack="7", text='é " \\ {}'),
        target("[::1]:11213"),
        target("/run/memcached.sock", cluster="web"),
    ]
    assert all(isinstance(text, str) for group in found for text in group["labels"].values())


def test_targets_lead_to_their_servers(
    exporter: Start, memcached: Callable[..., Memcached], config_file: Configure
) -> None:
    """What Prometheus makes of a target is answered with the metrics of that server."""
    servers = [memcached("-m", "64"), memcached("-m", "96")]
    lines = "".join(f"- {{address: '{s.address}', labels: {{x: '{s.port}'}}}}\n" for s in servers)
    daemon = exporter(config_file(f"web: {{scrape_path: /probe}}\nservers:\n{lines}"))
    for group, server in zip(groups(daemon), servers, strict=True):
        labels = group["labels"]
        assert labels["x"] == str(server.port)
        names = ("target", "module")
        query = urlencode({name: labels[f"__param_{name}"] for name in names})
        answer = daemon.request(f"{labels['__metrics_path__']}?{query}")
        assert answer.status == 200
        assert "\nmemcached_up 1\n" in answer.text
        limit = server.stats()["limit_maxbytes"]
        assert f"\nmemcached_limit_bytes {limit}\n" in answer.text


def test_no_servers(exporter: Start, config_file: Configure) -> None:
    """An empty list, which Prometheus takes for what it is."""
    answer = exporter(config_file("servers: []\n")).request("/sd")
    assert (answer.status, answer.text) == (200, "[]")


def test_nothing_rather_than_a_part(
    exporter: Start, tmp_path: Path, config_file: Configure
) -> None:
    """Until all sources were read once it is an error, upon which Prometheus keeps what it has."""
    daemon = exporter(
        config_file("servers: [{address: a}]\ndiscovery: {files: [one.yml, two.yml]}\n")
    )
    for name in ("one.yml", "two.yml"):
        answer = daemon.request("/sd")
        assert (answer.status, len(answer.text.splitlines())) == (503, 1)
        assert "sources of servers were not read yet" in answer.text
        (tmp_path / "new").write_text(f"- targets: ['{name}:1']\n")
        (tmp_path / "new").rename(tmp_path / name)
    assert eventually(lambda: daemon.request("/sd").status == 200)
    names = [group["labels"]["instance"] for group in groups(daemon)]
    assert names == ["a", "one.yml:1", "two.yml:1"]


def test_methods(exporter: Start, config_file: Configure) -> None:
    """HEAD is answered as GET is, without a body; others are refused."""
    daemon = exporter(config_file(SERVERS))
    head, get = daemon.request("/sd", "HEAD"), daemon.request("/sd")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["Content-Length"] == str(len(get.body))
    for method in ("POST", "PUT", "DELETE"):
        answer = daemon.request("/sd", method)
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


ONE = "servers: [{address: a}]\n"


@pytest.mark.parametrize(
    "host",
    [
        "exporter",
        "exporter:9150",
        "Exporter.Example.",
        "my_exporter-1.monitoring.svc:80",
        "10.0.0.1",
        "10.0.0.1:9150",
        "[::1]:9150",
        "[2001:DB8::1]",
    ],
)
def test_the_address_is_that_of_the_client(site: Site, host: str) -> None:
    """Names, and addresses of both families, with and without a port, are told as they came."""
    assert only(site.exporter, Host=host) == (host, "http", "/scrape")


def test_ipv6(exporter: Start, config_file: Configure) -> None:
    """A client that asks over IPv6 gets a target that leads there."""
    daemon = exporter(config_file(ONE), listen="[::1]:0")
    assert only(daemon) == (f"[::1]:{daemon.port}", "http", "/scrape")


BAD_HOSTS = [
    b"",
    b" ",
    b"a b",
    b"a/b",
    b"a,b:1",
    b"user@a",
    b"a:123456",
    b"a:",
    b"a:b",
    b"a:1:2",
    b"::1",
    b"[::1",
    b"[::1]x",
    b"[a]",
    b"[1.2.3.4]",
    b"a:99999",
    b'"',
    b'a","labels":{"x":"y"},"z":"',
    b"<script>",
    b"${x}",
    b"a\\n",
    b"a\tb",
    b"a\x00",
    b"\xc3\xa9",
    b"a?b",
    b"a#b",
]


def sent(daemon: Exporter, head: bytes) -> Reply:
    """Send a request of these lines, and return the answer."""
    (reply,) = replies(talk(place(daemon), head + b"Connection: close\r\n\r\n"))
    return reply


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_hostile_hosts(site: Site, host: bytes) -> None:
    """A Host header that names no host is refused with the remedy, and not repeated."""
    reply = sent(site.exporter, b"GET /sd HTTP/1.1\r\nHost: " + host + b"\r\n")
    assert reply.status == 400
    assert host.strip() == b"" or host not in reply.body
    if b"\x00" not in host:
        assert b"--web.external-url" in reply.body


@pytest.mark.parametrize(
    "head",
    [
        b"GET /sd HTTP/1.0\r\n",
        b"GET /sd HTTP/1.1\r\n",
        b"GET /sd HTTP/1.1\r\nHost: a:1\r\nHost: b:1\r\n",
    ],
)
def test_no_host_or_two(site: Site, head: bytes) -> None:
    """Without a Host header, or with two of them, nobody knows how this exporter was called."""
    assert sent(site.exporter, head).status == 400


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://mon.example", ("mon.example", "https", "/scrape")),
        ("https://mon.example/", ("mon.example", "https", "/scrape")),
        ("http://mon.example:8080/a/b/", ("mon.example:8080", "http", "/a/b/scrape")),
        ("http://[2001:db8::1]:80/x", ("[2001:db8::1]:80", "http", "/x/scrape")),
    ],
)
def test_external_url(
    exporter: Start, config_file: Configure, url: str, expected: tuple[str, str, str]
) -> None:
    """Behind a proxy the targets are what clients have to ask, whatever Host says."""
    daemon = exporter(config_file(f"{ONE}web: {{external_url: '{url}'}}\n"))
    prefix = expected[2].removesuffix("/scrape")
    assert only(daemon) == expected
    assert only(daemon, Host="user@elsewhere/") == expected
    for path in ("/sd", "/metrics", "/-/healthy"):
        assert daemon.request(prefix + path).status == 200
        assert daemon.request(path).status == 200
    assert daemon.request(f"{prefix}x/sd").status == 404


def test_external_url_as_a_flag(exporter: Start, config_file: Configure) -> None:
    """The flag stands above the file."""
    text = f"{ONE}web: {{external_url: 'http://file.example'}}\n"
    daemon = exporter(config_file(text), "--web.external-url=https://flag.example/p")
    assert only(daemon) == ("flag.example", "https", "/p/scrape")


def test_over_tls(
    exporter: Start, config_file: Configure, write: Callable[..., Path], authority: Authority
) -> None:
    """Who asked over TLS is told to scrape over TLS."""
    daemon = exporter(config_file(ONE), f"--web.config.file={write()}")
    answer = ask(place(daemon), "/sd", authority.trusting())
    (group,) = json.loads(answer.text)
    assert group["targets"] == [f"127.0.0.1:{daemon.port}"]
    assert group["labels"] == target("a") | {"__scheme__": "https"}


def test_only_for_those_who_have_access(
    exporter: Start, config_file: Configure, users_file: Path
) -> None:
    """The list of servers is told to nobody without a password."""
    daemon = exporter(config_file(ONE), f"--web.config.file={users_file}")
    assert daemon.request("/sd").status == 401
    assert only(daemon, Authorization=basic("alice", "right"))[1:] == ("http", "/scrape")


def test_servers_that_are_down_are_targets_too(exporter: Start, config_file: Configure) -> None:
    """Whether a server answers is for the scrape to find out."""
    daemon = exporter(config_file(f"servers: [{{address: '127.0.0.1:{free_port()}'}}]\n"))
    daemon.request("/metrics")
    assert only(daemon)[2] == "/scrape"
