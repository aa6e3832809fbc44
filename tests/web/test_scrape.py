"""``/scrape?target=``: which servers it reads, and what comes out."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from exporter.catalogue import HOST_FAMILIES
from tests.processes import Answer, Exporter, Memcached, parse, sample

ALLOW = """
scrape:
  allow: [127.0.0.2/31, '*.cache.internal:11211', '127.0.0.4:*', '/run/memcached/*.sock']
"""

BAD = {
    "": "write the server to read: /scrape?target=host:port",
    "?": "write the server to read",
    "?target": "write the server to read",
    "?target=": "write the server to read",
    "?targets=a": "write the server to read",
    "?module=default": "write the server to read",
    "?target=a:1,b:2": 'target: address "a:1,b:2" is a list: give each address on its own',
    "?target=host:99999": "target: address \"host:99999\": port '99999' is not a number from 1",
    "?target=tcp/11211": 'target: address "tcp/11211" has a character that no host name has',
    f"?target={quote('“x:1”')}": 'target: address "“x:1”" has a character that no host name has',
    "?target=%20": 'target: address " " is no memcached address: write host:port',
    "?target=http://a:1/": 'target: address "http://a:1/" is a URL: write host:port without',
    "?target=::1": 'target: address "::1" is ambiguous: write IPv6 in brackets',
    "?target=a%00": "target: address 'a\\x00' has a character",
    "?target=%ff": "target: address",
    "?target=a%0d%0aX:%20y": "target: address 'a\\r\\nX: y'",
    "?target=/run/": 'target: address "/run/" is no socket path',
    "?target=127.0.0.1:1&module=none": "no module is named",
    "?target=127.0.0.1:1&module=%0a": "no module is named",
}

FORBIDDEN = [
    "127.0.0.1:1",
    "127.0.0.5:1",
    "10.0.0.1",
    "169.254.1.1:80",
    "127.0.0.1",
    "localhost:1",
    "[::1]:1",
    "[::ffff:127.0.0.1]:1",
    "127.0.0.40:1",
    "/run/other.sock",
    "/etc/passwd",
    "unix:/run/memcached/x.sock2",
]

ALLOWED = ["127.0.0.2:1", "127.0.0.3:65535", "127.0.0.4:2", "/run/memcached/a.sock"]


class Place(NamedTuple):
    """A daemon with two configured servers, and an allow-list."""

    exporter: Exporter
    first: Memcached
    second: Memcached

    def scrape(self, target: str, rest: str = "") -> Answer:
        """Ask for a target as Prometheus does."""
        return self.exporter.request(f"/scrape?target={quote(target, safe='')}{rest}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Start servers and daemon once for the file."""
    directory: Path = tmp_path_factory.mktemp("scrape")
    started: list[Memcached | Exporter] = []
    try:
        first, second = Memcached(), Memcached(host="::1")
        started += [first, second]
        config = directory / "exporter.yml"
        config.write_text(
            f"servers:\n- address: '{first.address}'\n  labels: {{cluster: x}}\n"
            f"- address: '{second.address}'\n  module: brief\n"
            f"modules: {{brief: {{sections: [stats]}}, whole: {{}}}}\n{ALLOW}"
        )
        exporter = Exporter(directory / "log", f"--config.file={config}")
        started.append(exporter)
        yield Place(exporter, first, second)
    finally:
        for process in started:
            process.stop()


@pytest.mark.parametrize(("query", "text"), BAD.items())
def test_a_bad_request_is_400(place: Place, query: str, text: str) -> None:
    """A missing or bad target, or an unknown module, is one line with the remedy (D04, D08)."""
    answer = place.exporter.request(f"/scrape{query}")
    assert answer.status == 400
    assert text in answer.text
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.text.count("\n") == 1


@pytest.mark.parametrize("target", FORBIDDEN)
def test_a_target_outside_is_403(place: Place, target: str) -> None:
    """What is neither configured nor allowed is refused, with the setting to allow it (D08)."""
    answer = place.scrape(target)
    assert answer.status == 403, answer.text
    assert "scrape.allow" in answer.text
    assert answer.text.count("\n") == 1


@pytest.mark.parametrize("target", ALLOWED)
def test_an_allowed_target_that_is_dead_is_down(place: Place, target: str) -> None:
    """A dead server is a page that says 0, with nothing but what is known of it (D08)."""
    answer = place.scrape(target)
    assert answer.status == 200, answer.text
    samples = parse(answer.text)
    assert samples.pop(sample("memcached_up")) == 0
    assert {name for name, _ in samples} == {"memcached_scrape_duration_seconds"}


@pytest.mark.parametrize("form", ["{host}:{port}", "[0:0:0:0:0:0:0:1]:{port}", "[::1]:{port}"])
def test_a_configured_server_is_allowed_in_any_spelling(place: Place, form: str) -> None:
    """Servers of the configuration need no allow-list, however the target writes them."""
    server = place.second if form.startswith("[") else place.first
    answer = place.scrape(form.format(host=server.host, port=server.port))
    assert answer.status == 200, answer.text
    assert parse(answer.text)[sample("memcached_up")] == 1


def test_the_page_is_that_of_the_server_alone(place: Place) -> None:
    """No configured label, no other server, nothing of the exporter: just the target (D08)."""
    alone = parse(place.scrape(place.first.address).text)
    assert all({"server", "cluster", "instance"}.isdisjoint(dict(labels)) for _, labels in alone)
    assert not [name for name, _ in alone if re.match("python_|process_", name)]
    own = "memcached_exporter_(build|config|scrape|page)"
    assert not [name for name, _ in alone if re.match(own, name)]
    together = place.exporter.samples()
    added = {("server", place.first.address), ("cluster", "x")}
    for_this = {
        (name, labels - added): value
        for (name, labels), value in together.items()
        if added <= labels
    }
    assert for_this.keys() == alone.keys()
    moving = re.compile("_seconds|_bytes|connections|response_objects|total$")
    steady = {key for key in alone if key[0] not in HOST_FAMILIES}
    still = {key for key in steady if not moving.search(key[0])}
    assert len(still) > 30
    assert {key: alone[key] for key in still} == {key: for_this[key] for key in still}


def test_the_values_are_the_servers_own(place: Place) -> None:
    """What a scrape says is what the server says itself."""
    client = place.first.client()
    for i in range(7):
        client.set(f"key-{i}", "x" * 100, noreply=False)
    client.get("key-1")
    client.close()
    stats = place.first.stats()
    samples = parse(place.scrape(place.first.address).text)
    assert samples[sample("memcached_current_items")] == int(stats["curr_items"]) == 7
    hits = sample("memcached_commands_total", command="get", status="hit")
    assert samples[hits] == int(stats["get_hits"])
    assert samples[sample("memcached_current_bytes")] == int(stats["bytes"])


@pytest.mark.parametrize(
    ("rest", "sections"),
    [
        ("", {"stats"}),
        ("&module=", {"stats"}),
        ("&module=brief", {"stats"}),
        ("&module=whole", {"stats", "settings", "items", "slabs"}),
        ("&module=default", {"stats", "settings", "items", "slabs"}),
    ],
)
def test_the_module_says_how_to_read(place: Place, rest: str, sections: set[str]) -> None:
    """Without a module the server's own counts, else the one that is asked for."""
    samples = parse(place.scrape(place.second.address, rest).text)
    read = {
        dict(labels)["section"]: value
        for (name, labels), value in samples.items()
        if name == "memcached_scrape_section_success"
    }
    assert read == dict.fromkeys(sections, 1)


def test_the_last_of_two_parameters_counts_or_is_refused(place: Place) -> None:
    """Two targets are not mixed up: one is read and checked, or the request is refused."""
    answer = place.exporter.request(f"/scrape?target={place.first.address}&target=10.0.0.1:1")
    assert answer.status in {400, 403}


@pytest.fixture
def allowing(
    exporter: Callable[..., Exporter], tmp_path: Path
) -> Callable[[str], Callable[[str], int]]:
    """Start a daemon with an allow-list, and return what asks it for the status of a target."""

    def start(allow: str) -> Callable[[str], int]:
        config = tmp_path / "exporter.yml"
        config.write_text(f"servers: []\nscrape: {{allow: {allow}}}\n")
        daemon = exporter(f"--config.file={config}")
        return lambda target: daemon.request(f"/scrape?target={quote(target, safe='')}").status

    return start


def test_a_name_that_leads_outside_is_403(
    allowing: Callable[[str], Callable[[str], int]],
) -> None:
    """A network in the allow-list is held against the address that a name leads to."""
    status = allowing("['10.0.0.0/8', '2001:db8::/32']")
    assert status("localhost:1") == 403
    assert status("127.0.0.1:1") == 403
    assert status("[::1]:1") == 403
    status = allowing("['127.0.0.0/8']")
    assert status("localhost:1") == 200
    assert status("127.1.2.3:1") == 200


def test_a_star_opens_hosts_but_no_sockets(
    allowing: Callable[[str], Callable[[str], int]],
) -> None:
    """``*:*`` means any host and port; files of this machine need a pattern of their own."""
    status = allowing("['*:*']")
    assert status("127.0.0.1:1") == 200
    assert status("[::1]:1") == 200
    assert status("/run/none.sock") == 403
    assert status("unix:/run/none:1") == 403
    status = allowing("['/run/*.sock']")
    assert status("/run/none.sock") == 200
    assert status("/tmp/none.sock") == 403
    assert status("/run/../tmp/none.sock") in {400, 403}
    assert status("127.0.0.1:1") == 403


def test_a_pattern_fits_whole_names_and_ports(
    allowing: Callable[[str], Callable[[str], int]],
) -> None:
    """A pattern for names is held against all of host and port, in any case of letters."""
    status = allowing("['*.Cache.internal:11211', 'local?ost:1', 'a.internal']")
    assert status("LOCALHOST:1") == 200
    for outside in (
        "cache.internal",
        "a.cache.internal:11212",
        "a.cache.internal.example",
        "a.internal:11212",
        "b.a.internal",
        "localhost:11",
        "localhost",
        "127.0.0.1:1",
    ):
        assert status(outside) == 403, outside


def test_a_path_cannot_leave_its_directory(place: Place) -> None:
    """Dots in a path do not lead out of the directory that a pattern names."""
    for path in ("/run/memcached/../x.sock", "/run/memcached/a/../../x.sock"):
        assert place.scrape(path).status in {400, 403}


def test_ipv6_networks_and_patterns(allowing: Callable[[str], Callable[[str], int]]) -> None:
    """IPv6 is allowed by network, by address with its port, and by address alone."""
    status = allowing("['::1/128']")
    assert status("[::1]:1") == status("[0::1]:2") == 200
    assert status("[::2]:1") == 403
    status = allowing("['[::1]:1', '[::1]']")
    assert status("[::1]:1") == status("[0:0:0:0:0:0:0:1]:1") == status("[::1]") == 200
    assert status("[::1]:2") == 403
