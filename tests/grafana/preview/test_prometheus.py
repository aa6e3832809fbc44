"""What is asked of Prometheus over HTTP, and what becomes of its answers."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from grafana.preview.prometheus import PreviewError, Prometheus, Series
from tests.processes import free_port

REFUSED = {"status": "error", "error": "parse error: unexpected end of input"}


class Fake:
    """Answers with what a test wants."""

    def __init__(self) -> None:
        asked: list[tuple[str, dict[str, str]]] = []
        self.asked = asked
        answers: list[tuple[int, Any]] = []
        self.answers = answers

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Give the next answer."""
                url = urlsplit(self.path)
                asked.append((url.path, dict(parse_qsl(url.query))))
                status, body = answers.pop(0)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def fake() -> Iterator[Fake]:
    """Start a fake, and end it."""
    made = Fake()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_instant(fake: Fake) -> None:
    """One number each, at the time that was asked for."""
    result = [{"metric": {"server": "a"}, "value": [1000.5, "0.25"]}]
    fake.answers.append((200, {"data": {"result": result}}))
    found = Prometheus(fake.url + "/").instant('x{server=~".+"}', 1000.5)
    assert found == [Series({"server": "a"}, [(1000.5, 0.25)])]
    assert fake.asked == [("/api/v1/query", {"query": 'x{server=~".+"}', "time": "1000.5"})]


def test_range(fake: Fake) -> None:
    """All numbers from start to end; what is no number, or infinite, is not there."""
    result = [{"metric": {}, "values": [[10, "1"], [20, "NaN"], [30, "+Inf"]]}]
    fake.answers.append((200, {"data": {"result": result}}))
    found = Prometheus(fake.url).range("x", 10, 30, 10)
    assert found == [Series({}, [(10, 1)])]
    wanted = {"query": "x", "start": "10", "end": "30", "step": "10"}
    assert fake.asked == [("/api/v1/query_range", wanted)]


def test_a_refused_query_is_told(fake: Fake) -> None:
    """The message has the query and Prometheus' own reason."""
    fake.answers.append((400, REFUSED))
    with pytest.raises(PreviewError, match=r"refuses sum\(: .*unexpected end of input"):
        Prometheus(fake.url).instant("sum(", 0)


def test_a_server_that_is_not_there_is_told() -> None:
    """The message has the URL."""
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(PreviewError, match=f"no answer of a Prometheus at {url}: .*refused"):
        Prometheus(url).instant("up", 0)


def test_a_server_that_is_no_prometheus_is_told(fake: Fake) -> None:
    """An answer that is not Prometheus' is no crash."""
    fake.answers.append((200, {"hello": "world"}))
    with pytest.raises(PreviewError, match="no answer of a Prometheus"):
        Prometheus(fake.url).instant("up", 0)
