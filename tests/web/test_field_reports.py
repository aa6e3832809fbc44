"""What operators ran into at the web side (C, D04, D08), word for word as it goes over the wire."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.memcached.pages import DOWN
from tests.processes import Exporter, Memcached, free_port, parse, sample
from tests.resilience.support import refused_start
from tests.web.clients import Site

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


def test_the_page_at_the_root(site: Site) -> None:
    """The page at / is small, links to the metrics, and reads no server (C02)."""
    before = site.asked()
    answer = site.exporter.request("/")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "/metrics" in re.findall(r'href="([^"]*)"', answer.text)
    assert len(answer.body) < 20_000
    assert "# TYPE" not in answer.text
    assert site.asked() == before


def test_metrics_with_a_query(site: Site) -> None:
    """A query that means nothing changes nothing (C02)."""
    before = site.asked()
    assert site.exporter.samples("/metrics?x=1")[sample("memcached_up", server=site.address)] == 1
    assert site.asked() > before


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, TEXT),
        ("*/*", TEXT),
        ("text/plain", TEXT),
        ("application/openmetrics-text; version=1.0.0", OPENMETRICS),
        ("application/openmetrics-text; version=1.0.0; q=0, */*", TEXT),
        ("application/openmetrics-text; version=1.0.0; q=0.2, text/plain; q=0.5", TEXT),
        ("application/openmetrics-text; version=1.0.0; q=0.5, text/plain; q=0.2", OPENMETRICS),
    ],
)
def test_the_type_says_what_the_body_is(site: Site, accept: str | None, content_type: str) -> None:
    """A body that ends with the end mark is OpenMetrics by its type, any other is text (C04)."""
    request = site.exporter.request
    answer = request("/metrics", Accept=accept) if accept else request("/metrics")
    assert answer.headers["Content-Type"] == content_type
    assert answer.text.endswith("\n# EOF\n") is (content_type == OPENMETRICS)
    assert ("# EOF" in answer.text) is (content_type == OPENMETRICS)


@pytest.mark.parametrize("accept", ["text/plain", "application/openmetrics-text"])
def test_no_series_of_births(site: Site, accept: str) -> None:
    """After errors, pages and scrapes there is no line of a `_created` series (C11)."""
    site.exporter.request("/nope")
    site.exporter.request(f"/scrape?target=127.0.0.1:{free_port()}")
    site.exporter.samples()
    for path in ("/metrics", f"/scrape?target={site.address}"):
        page = site.exporter.request(path, Accept=accept).text
        assert "_total" in page
        assert "_created" not in page


@pytest.mark.parametrize(
    "listen",
    ["", "127.0.0.1", "9150", "::1:9150", "[::1", "[::1]", "host:99999", "host:http", "a:1,b:2"],
)
def test_a_bad_place_to_listen(listen: str) -> None:
    """What is no place to listen ends the start, with flag and value in the one line (C14)."""
    error = refused_start(f"--web.listen-address={listen}")
    assert f'--web.listen-address: address "{listen}"' in error


@pytest.mark.parametrize("address", ["a:1,b:2", "host:99999", "tcp/11211", "“x:1”"])
def test_one_text_for_a_bad_address(
    exporter: Callable[..., Exporter], tmp_path: Path, address: str
) -> None:
    """A bad address has the same text as a flag, in the file and as a target (D04)."""
    answer = exporter().request(f"/scrape?target={quote(address)}")
    assert answer.status == 400
    text = answer.text.removeprefix("target: ").rstrip("\n")
    assert text.startswith(f'address "{address}"')
    flag = refused_start(f"--memcached.address={address}")
    assert f"--memcached.address: {text}" in flag
    path = tmp_path / "exporter.yml"
    path.write_text(f"servers:\n- address: {json.dumps(address, ensure_ascii=False)}\n")
    file = refused_start(f"--config.file={path}")
    assert f"{path}:2: servers[0].address: {text}" in file


def test_targets_beside_the_default_one(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """No target is 400, a dead one is down alone, a live one has its own values only (D08)."""
    default, other = memcached("-m", "48"), memcached("-m", "72")
    config = tmp_path / "exporter.yml"
    config.write_text(
        f"servers: [{{address: '{default.address}'}}]\nscrape: {{allow: [127.0.0.0/8]}}\n"
    )
    daemon = exporter(f"--config.file={config}")
    assert daemon.samples()[sample("memcached_up", server=default.address)] == 1

    none = daemon.request("/scrape")
    assert (none.status, none.text.count("\n")) == (400, 1)
    assert "write the server to read" in none.text
    outside = daemon.request("/scrape?target=169.254.1.1:80")
    assert (outside.status, "scrape.allow" in outside.text) == (403, True)

    dead = daemon.request(f"/scrape?target=127.0.0.1:{free_port()}")
    assert dead.status == 200
    samples = parse(dead.text)
    assert samples[sample("memcached_up")] == 0
    assert {name for name, _ in samples} == DOWN

    samples = daemon.samples(f"/scrape?target={other.address}")
    assert samples[sample("memcached_up")] == 1
    assert samples[sample("memcached_limit_bytes")] == 72 * 2**20
    limits = [labels for name, labels in samples if name == "memcached_limit_bytes"]
    assert limits == [frozenset()]
    assert not any("server" in dict(labels) for _, labels in samples)

    page = daemon.samples()
    assert page[sample("memcached_limit_bytes", server=default.address)] == 48 * 2**20
    assert [dict(labels) for name, labels in page if name == "memcached_up"] == [
        {"server": default.address}
    ]
