"""Which format and compression a client gets."""

import gzip as reference
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.exposition import Format
from exporter.web import negotiation
from exporter.web.negotiation import accepts_gzip, choose_format, gzip
from tests.processes import parse
from tests.web.clients import Site, parse_openmetrics, replies, talk

OM = Format.OPENMETRICS
TEXT = Format.TEXT

FORMATS = {
    # what Prometheus sends: 2.x, 3.x, and set to prefer or to take text only
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1": OM,
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,"
    "*/*;q=0.1": OM,
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,"
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.3,*/*;q=0.1": TEXT,
    "text/plain;version=0.0.4;q=1,*/*;q=0.1": TEXT,
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
    "application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1": OM,
    # browsers and tools
    "": TEXT,
    "*/*": TEXT,
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": TEXT,
    "text/plain": TEXT,
    "application/json": TEXT,
    # OpenMetrics, asked for in different ways
    "application/openmetrics-text": OM,
    "application/openmetrics-text; version=1.0.0": OM,
    "application/openmetrics-text; version=1.0.0; charset=utf-8": OM,
    'application/openmetrics-text; version="1.0.0"': OM,
    "APPLICATION/OpenMetrics-Text; Version=1.0.0": OM,
    " application/openmetrics-text ; version = 1.0.0 ": OM,
    "application/openmetrics-text;version=0.0.1": OM,
    "application/openmetrics-text;q=0.001": OM,
    "application/openmetrics-text, text/plain": OM,
    "text/plain, application/openmetrics-text": OM,
    # a version that is not made here
    "application/openmetrics-text;version=2.0.0": TEXT,
    "application/openmetrics-text;version=2.0.0,application/openmetrics-text;q=0.1": OM,
    # weights
    "application/openmetrics-text;q=0": TEXT,
    "application/openmetrics-text;q=0.0": TEXT,
    "application/openmetrics-text;q=0, */*": TEXT,
    "application/openmetrics-text;q=0.5, text/plain": TEXT,
    "application/openmetrics-text;q=0.5, text/plain;q=0.9": TEXT,
    "application/openmetrics-text;q=0.5, text/*;q=0.9": TEXT,
    "application/openmetrics-text;q=0.5, */*;q=0.9": TEXT,
    "application/openmetrics-text;Q=0.5, text/plain;Q=0.9": TEXT,
    "application/openmetrics-text;q=0.9, text/plain;q=0.5": OM,
    "application/openmetrics-text;q=0.5, text/plain;q=0.5": OM,
    # junk
    "application/openmetrics-text;q=abc": TEXT,
    "application/openmetrics-text;q=-1": TEXT,
    "application/openmetrics-text;q=2": TEXT,
    "application/openmetrics-text;q=": TEXT,
    "application/openmetrics-text;q=nan": TEXT,
    "application/openmetrics-text;q=1e9": TEXT,
    ",,;;==,": TEXT,
    ";q=1": TEXT,
    "application/openmetrics-textual": TEXT,
    "\x00\xff": TEXT,
}

ENCODINGS = {
    "gzip": True,
    "GZIP": True,
    "deflate, gzip;q=1.0, *;q=0.5": True,
    "gzip;q=0.001": True,
    "br,gzip": True,
    "*": True,
    "identity, *;q=0.1": True,
    " gzip ; q=1 ": True,
    "": False,
    "identity": False,
    "deflate, br, zstd": False,
    "gzip;q=0": False,
    "gzip;q=0.000": False,
    "gzip;Q=0": False,
    "*;q=0": False,
    "gzip;q=0, *": False,
    "*, gzip;q=0": False,
    "gzip;q=abc": False,
    "gzip;q=-1": False,
    "gzipped": False,
    "not-gzip": False,
    ";": False,
}


@pytest.mark.parametrize(("accept", "expected"), FORMATS.items())
def test_the_format_follows_the_accept_header(accept: str, expected: Format) -> None:
    """OpenMetrics goes to those who want it at least as much as text, text to all others (C04)."""
    assert choose_format(accept) is expected


@pytest.mark.parametrize(("accept", "expected"), ENCODINGS.items())
def test_gzip_goes_to_those_who_take_it(accept: str, expected: bool) -> None:
    """A weight of 0 is a refusal, and a star stands for gzip only where gzip is not named."""
    assert accepts_gzip(accept) is expected


@settings(deadline=None)
@given(st.one_of(st.text(), st.text(alphabet='gzip*;,q=01. /textplain"')))
def test_any_header_is_understood_somehow(text: str) -> None:
    """No header makes an error of what should be a page."""
    assert choose_format(text) in Format
    assert accepts_gzip(text) in {True, False}


@pytest.fixture(params=["isal", "zlib"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compress with isal, or as where it is not installed."""
    if request.param == "isal":
        isal_zlib = pytest.importorskip("isal.isal_zlib")
        assert negotiation._zlib is isal_zlib
    else:
        monkeypatch.setattr(negotiation, "_zlib", zlib)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    "pieces",
    [[], [b""], [b"x"], [b"memcached_up 1\n" * 20_000] * 3, [bytes(range(256)), b"", b"y"] * 99],
)
def test_compression_loses_nothing(pieces: list[bytes]) -> None:
    """The pieces become one whole gzip member with the same body."""
    compressed = gzip(pieces)
    body = b"".join(pieces)
    assert reference.decompress(compressed) == body
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert decompressor.decompress(compressed) == body
    assert decompressor.eof
    assert decompressor.unused_data == b""


@pytest.mark.usefixtures("way")
def test_pages_become_small() -> None:
    """The fast level still leaves less than a quarter."""
    body = b"".join(b'memcached_up{server="cache-%d:11211"} 1\n' % i for i in range(1000))
    assert len(gzip([body])) < len(body) / 4


@pytest.mark.parametrize("path", ["/metrics", "/scrape"])
@pytest.mark.parametrize("encoding", ["", "gzip", "gzip;q=0", "identity"])
@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/plain", "application/openmetrics-text; version=1.0.0"]
)
def test_headers_match_the_body(site: Site, path: str, accept: str, encoding: str) -> None:
    """Type, length, coding and end mark say what the body is, in each combination (C04)."""
    target = f"{path}?target={site.address}" if path == "/scrape" else path
    answer = site.exporter.request(target, Accept=accept, Accept_Encoding=encoding)
    assert answer.status == 200
    assert int(answer.headers["Content-Length"]) == len(answer.body)
    assert {name.strip() for name in answer.headers["Vary"].split(",")} == {
        "Accept",
        "Accept-Encoding",
    }
    compressed = encoding == "gzip"
    assert answer.headers.get("Content-Encoding") == ("gzip" if compressed else None)
    assert answer.body.startswith(b"\x1f\x8b") is compressed
    assert answer.text.endswith("\n")
    if "openmetrics" in accept:
        assert answer.headers["Content-Type"] == Format.OPENMETRICS.value
        assert answer.text.count("# EOF") == 1
        assert answer.text.endswith("\n# EOF\n")
        names = {name for name, _ in parse_openmetrics(answer.text)}
    else:
        assert answer.headers["Content-Type"] == Format.TEXT.value
        assert "# EOF" not in answer.text
        names = {name for name, _ in parse(answer.text)}
    assert "memcached_up" in names
    assert ("python_info" in names) is (path == "/metrics")
    assert not [name for name in names if name.endswith("_created")]


def test_the_two_formats_have_the_same_samples(site: Site) -> None:
    """Names, labels and order of samples do not depend on the format."""

    def series(accept: str) -> list[str]:
        lines = site.exporter.request("/metrics", Accept=accept).text.splitlines()
        return [line.rsplit(" ", 1)[0] for line in lines if not line.startswith("#")]

    site.exporter.samples()
    assert series("application/openmetrics-text") == series("text/plain")


def test_two_accept_headers_count_as_one_list(site: Site) -> None:
    """A header that comes twice is read as if its lists were joined (RFC 9110, 5.3)."""
    head = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    (reply,) = replies(
        talk(
            site.place,
            head
            + b"Accept: text/plain;q=0.5\r\nAccept: application/openmetrics-text\r\n"
            + b"Accept-Encoding: deflate\r\nAccept-Encoding: gzip\r\n\r\n",
        )
    )
    assert reply.headers["Content-Type"] == Format.OPENMETRICS.value
    assert reply.headers["Content-Encoding"] == "gzip"
