"""HTTP on the wire: what clients and scanners send, well-formed or not."""

import socket
import time
from collections.abc import Callable

import pytest

from exporter.web import server as server_module
from exporter.web.messages import Request, Response, plain
from exporter.web.server import Application, HttpServer
from tests.web.clients import Site, eventually, place_of, replies, talk

REFUSED = ["OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "FOO"]
HEALTHY = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

WHOLE = {
    "query": (b"GET /-/healthy?x=1 HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
    "absolute form": (
        b"GET http://localhost:9150/-/healthy HTTP/1.1\r\nConnection: close\r\n\r\n",
        200,
    ),
    "percent": (b"GET /%2d/h%65althy HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
    "lower-case header": (b"GET /-/healthy HTTP/1.1\r\nconnection: CLOSE\r\n\r\n", 200),
    "bare newlines": (b"GET /-/healthy HTTP/1.1\nConnection: close\n\n", 200),
    "HTTP/1.0": (b"GET /-/healthy HTTP/1.0\r\n\r\n", 200),
    "fragment": (b"GET /-/healthy#x HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
    "empty path": (b"GET http://localhost HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
    "star": (b"OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
    "no path": (b"GET nope HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
    "traversal": (b"GET /-/../../etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
    "two slashes": (b"GET //metrics/x HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
    "not ASCII": (b"GET /\xc3\xa9\xff HTTP/1.1\r\nConnection: close\r\n\r\n", 404),
    "bad IPv6": (b"GET http://[::1/x HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
    "blank in path": (b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    "one word": (b"HELLO\r\n\r\n", 400),
    "bytes": (b"\x00\xff\xfe\r\n\r\n", 400),
    "TLS": (b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\r\n\r\n", 400),
    "version 9": (b"GET / HTTP/9\r\n\r\n", 400),
    "no version": (b"GET / HTTQ/1.1\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "long line": (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
    "long line, HEAD": (b"HEAD /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
    "long header": (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    "many headers": (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", 431),
}
"""What is sent, and the status of the one answer; then the connection ends."""


@pytest.mark.parametrize(("data", "status"), WHOLE.values(), ids=WHOLE)
def test_each_request_has_one_whole_answer(site: Site, data: bytes, status: int) -> None:
    """Odd requests get a whole HTTP/1.1 answer, then the connection is closed."""
    (reply,) = replies(talk(site.place, data))
    assert (reply.version, reply.status) == ("HTTP/1.1", status)
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["Connection"] == "close"
    assert site.exporter.request("/-/healthy").status == 200
    assert "Traceback" not in site.exporter.log


def test_a_request_without_a_version_is_answered(site: Site) -> None:
    """A client of HTTP/0.9 gets an answer and no silence, and the log no traceback."""
    answer = talk(site.place, b"GET /-/healthy\r\n\r\n")
    assert answer.endswith(b"healthy\n") or answer.startswith(b"HTTP/1.1 400 ")
    assert "Traceback" not in site.exporter.log


@pytest.mark.parametrize("method", REFUSED)
@pytest.mark.parametrize("path", ["/metrics", "/scrape", "/", "/-/healthy", "/-/ready"])
def test_other_methods_are_refused(site: Site, method: str, path: str) -> None:
    """All but GET and HEAD get 405 with the methods that work, and no server is read (C01)."""
    before = site.asked()
    target = f"{path}?target={site.address}" if path == "/scrape" else path
    answer = site.exporter.request(target, method=method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert "GET" in answer.text
    assert site.asked() == before


@pytest.mark.parametrize("path", ["/metrics", "/scrape", "/", "/-/healthy", "/nope"])
def test_head_is_get_without_the_body(site: Site, path: str) -> None:
    """HEAD has the status and the headers of GET, and nothing after them (C01)."""
    target = f"{path}?target={site.address}" if path == "/scrape" else path
    site.exporter.request(target)
    common = f"{target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    (get,) = replies(talk(site.place, b"GET " + common))
    (head,) = replies(talk(site.place, b"HEAD " + common), "HEAD")
    assert head.status == get.status
    assert head.headers.keys() == get.headers.keys()
    for name in ("Content-Type", "Vary", "Connection"):
        assert head.headers[name] == get.headers[name]
    # The values in a page have more or fewer digits each time.
    assert abs(int(head.headers["Content-Length"]) - len(get.body)) < 64
    assert len(get.body) > 5


@pytest.mark.parametrize(
    "path", ["/nope", "/favicon.ico", "/metrics/", "/METRICS", "/-/", "/-/healthy/", "/robots.txt"]
)
def test_unknown_paths_read_no_server(site: Site, path: str) -> None:
    """An unknown path is 404 with a hint, and costs memcached nothing (C02)."""
    before = site.asked()
    answer = site.exporter.request(path)
    assert answer.status == 404
    assert "/metrics" in answer.text
    assert site.asked() == before


def test_many_requests_on_one_connection(
    site: Site, connect: Callable[[tuple[str, int]], socket.socket]
) -> None:
    """A kept connection answers one request after the other, of different kinds."""
    connection = connect(site.place)
    stream = connection.makefile("rb")
    for i in range(60):
        path = (b"/metrics", b"/nope", b"/-/healthy", b"/scrape")[i % 4]
        connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        status = stream.readline().split()[1]
        length = 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split()[1])
        assert len(stream.read(length)) == length
        assert status == {b"/metrics": b"200", b"/-/healthy": b"200", b"/nope": b"404"}.get(
            path, b"400"
        )
    stream.close()


def test_pipelined_requests_are_answered_in_order(site: Site) -> None:
    """Requests that do not wait for each other are all answered, in their order."""
    get, head = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n", b"HEAD /-/ready HTTP/1.1\r\n\r\n"
    data = HEALTHY + get % b"/nope" + head + get % b"/metrics" + LAST
    found = replies(talk(site.place, data), "GET", "GET", "HEAD")
    assert [reply.status for reply in found] == [200, 404, 200, 200, 200]
    assert b"memcached_up" in found[3].body
    assert found[4].body == b"healthy\n"


@pytest.mark.parametrize(
    "head",
    [
        b"POST /metrics HTTP/1.1\r\nContent-Length: %d\r\n\r\n",
        b"GET /-/healthy HTTP/1.1\r\nContent-Length: %d\r\n\r\n",
        b"PUT /nope HTTP/1.1\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: %d\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\ncontent-length: +%d\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n",
        b"POST /metrics HTTP/1.1\r\nTransfer-Encoding: identity\r\nContent-Length: %d\r\n\r\n",
    ],
)
def test_a_body_is_not_taken_for_a_request(site: Site, head: bytes) -> None:
    """A request in a request's body is not answered: the connection ends after the answer."""
    inner = b"GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n"
    found = replies(talk(site.place, head % len(inner) + inner))
    assert [reply for reply in found if reply.body == b"ready\n"] == []
    final = [reply for reply in found if reply.status != 100]
    assert len(final) == 1
    assert final[0].headers["Connection"] == "close"


def test_http_1_0_ends_the_connection_unless_it_is_kept(site: Site) -> None:
    """HTTP/1.0 closes after the answer, and says so when it was asked to keep the connection."""
    (reply,) = replies(talk(site.place, b"GET /-/healthy HTTP/1.0\r\n\r\n"))
    assert reply.headers["Connection"] == "close"
    kept = b"GET /-/healthy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    found = replies(talk(site.place, kept + LAST))
    if found[0].headers["Connection"] == "close":
        assert len(found) == 1
    else:
        assert found[0].headers["Connection"].lower() == "keep-alive"
        assert len(found) == 2


def test_an_empty_line_before_a_request_or_nothing_at_all(site: Site) -> None:
    """Silence, and a connection that sends nothing but an empty line, end quietly."""
    socket.create_connection(site.place).close()
    talk(site.place, b"\r\n\r\n")
    assert "Traceback" not in site.exporter.log


def echo(request: Request) -> Response:
    """An application that says what it was asked."""
    return plain(200, f"{request.method} {request.path} {request.query}")


def test_the_application_gets_path_and_query_apart(
    serve: Callable[[Application], HttpServer],
) -> None:
    """The path is decoded, the query is not, and neither has the fragment."""
    server = serve(echo)
    data = b"GET /a%20b/%C3%A9?x=%26&y=1#z HTTP/1.1\r\nConnection: close\r\n\r\n"
    (reply,) = replies(talk(place_of(server), data))
    assert reply.body.decode() == "GET /a b/é x=%26&y=1\n"


def test_a_failing_application_is_one_answer_of_500(
    serve: Callable[[Application], HttpServer], capsys: pytest.CaptureFixture[str]
) -> None:
    """An error inside is 500 without details, and the connection still works."""

    def fail(request: Request) -> Response:
        raise RuntimeError("secret detail")

    server = serve(fail)
    found = replies(talk(place_of(server), HEALTHY + LAST))
    assert [reply.status for reply in found] == [500, 500]
    assert b"secret" not in b"".join(reply.body for reply in found)
    assert b"log" in found[0].body
    capsys.readouterr()


def test_headers_are_due_within_a_deadline(
    serve: Callable[[Application], HttpServer],
    connect: Callable[[tuple[str, int]], socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Silence and a trickle of header bytes end at the deadline; others are served meanwhile."""
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.6)
    place = place_of(serve(echo))
    silent, half, trickle = connect(place), connect(place), connect(place)
    half.sendall(b"GET / HTTP/1.1\r\nX: ")
    began = time.monotonic()
    ended = False
    while not ended and time.monotonic() - began < 10:
        try:
            trickle.sendall(b"X")
        except OSError:
            ended = True
        (reply,) = replies(talk(place, LAST))
        assert reply.status == 200
        time.sleep(0.05)
    assert ended
    assert time.monotonic() - began > 0.5
    assert silent.recv(10) == b""
    assert half.recv(10) == b""


def test_an_idle_connection_ends_at_its_deadline(
    serve: Callable[[Application], HttpServer],
    connect: Callable[[tuple[str, int]], socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A connection rests between requests for longer than for its headers, but not for ever."""
    monkeypatch.setattr(server_module, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 1.5)
    connection = connect(place_of(serve(echo)))
    for _ in range(2):
        connection.sendall(HEALTHY)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        time.sleep(0.7)
    began = time.monotonic()
    assert connection.recv(4096) == b""
    assert time.monotonic() - began < 10


def test_a_client_that_does_not_take_its_answer_is_left(
    serve: Callable[[Application], HttpServer],
    connect: Callable[[tuple[str, int]], socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A response that is not read does not hold a thread for ever, nor is it waited for."""
    monkeypatch.setattr(server_module, "SEND_SECONDS", 0.5)
    server = serve(lambda request: Response(200, b"x" * 50_000_000))
    connection = connect(place_of(server))
    connection.sendall(HEALTHY)
    assert eventually(lambda: server._requests == 1)
    assert eventually(lambda: server.drain(0))


def test_the_longest_waiting_connection_makes_room(
    serve: Callable[[Application], HttpServer],
    connect: Callable[[tuple[str, int]], socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond the limit the oldest silent connection goes, not the newest, and not one at work."""
    monkeypatch.setattr(server_module, "MOST_NEWCOMERS", 4)
    server = serve(echo)
    waiting = [connect(place_of(server)) for _ in range(4)]
    assert eventually(lambda: len(server.newcomers._due) == 4)
    newest = connect(place_of(server))
    assert waiting[0].recv(10) == b""
    newest.sendall(LAST)
    assert newest.recv(4096).startswith(b"HTTP/1.1 200 ")
    waiting[3].sendall(LAST)
    assert waiting[3].recv(4096).startswith(b"HTTP/1.1 200 ")
