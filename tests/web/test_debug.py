"""``/scrape?debug=true``: how a scrape went, in words, and its metrics."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import Answer, Exporter, FakeMemcached, Memcached, parse, sample
from tests.resilience.certificates import Authority
from tests.resilience.test_secrets import IN_ENVIRONMENT, IN_FILE, VARIABLE, Parrot

Configure = Callable[[str], str]
Start = Callable[..., Exporter]
Fake = Callable[..., FakeMemcached]
Memcacheds = Callable[..., Memcached]


class Report(NamedTuple):
    """A debug page, taken apart."""

    result: dict[str, str]
    sections: dict[str, str]
    module: str
    settings: list[str]
    metrics: str
    text: str


def report(answer: Answer) -> Report:
    """Take a debug page apart; it is always text with status 200."""
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    head, module, metrics = answer.text.split("\n\n", 2)
    lines, _, sections = head.partition("\nsections\n")
    name, *settings = module.splitlines()
    assert metrics.startswith("metrics\n")
    return Report(
        result=dict(re.split(" +", line, maxsplit=1) for line in lines.splitlines()),
        sections=dict(line[2:].split(": ", 1) for line in sections.splitlines()),
        module=name.removeprefix("module "),
        settings=settings,
        metrics=metrics.removeprefix("metrics\n"),
        text=answer.text,
    )


def debug(daemon: Exporter, target: str, more: str = "", **headers: str) -> Report:
    """Ask how a scrape goes."""
    return report(daemon.request(f"/scrape?target={target}{more}&debug=true", **headers))  # type: ignore[arg-type]


def names(metrics: str) -> set[str]:
    """Return the names of all samples."""
    return {name for name, _ in parse(metrics)}


def test_up(exporter: Start, memcached: Memcacheds) -> None:
    """It tells what was dialled, the times, the process and each section, and has the metrics."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}")
    first, second = debug(daemon, server.address), debug(daemon, server.address)
    for found in (first, second):
        assert found.result["server"] == server.address
        assert found.result["result"] == "up"
        assert re.fullmatch(r"[0-9]+\.[0-9] ms of 1000 ms", found.result["took"])
        assert re.fullmatch(r"[0-9]+\.[0-9] ms", found.result["statistics"])
        assert re.fullmatch(r"[0-9]+\.[0-9]{2} ms", found.result["ping"])
        assert found.result["process"] == f"{server.process.pid}, on this host"
        assert set(found.sections) >= {"stats", "settings", "items", "slabs"}
        assert all(re.fullmatch(r"read, [0-9]+ bytes", text) for text in found.sections.values())
        assert found.module == "default"
        assert parse(found.metrics)[sample("memcached_up")] == 1
    how = rf"{re.escape(server.address)} \(connected in [0-9]+\.[0-9] ms\)"
    assert re.fullmatch(how, first.result["dialled"])
    assert second.result["dialled"] == f"{server.address} (held since before)"
    plain = daemon.request(f"/scrape?target={server.address}").text
    assert names(second.metrics) == names(plain)


def test_names_are_dialled_by_address(exporter: Start, memcached: Memcacheds) -> None:
    """Of a name it is told where it led."""
    server = memcached()
    daemon = exporter(f"--memcached.address=localhost:{server.port}")
    found = debug(daemon, f"localhost:{server.port}")
    assert found.result["server"] == f"localhost:{server.port}"
    assert found.result["dialled"].startswith(f"127.0.0.1:{server.port} (connected in ")


def test_refused(exporter: Start, config_file: Configure) -> None:
    """A server that is down has its reason in words, and its metrics say the same."""
    daemon = exporter(config_file("scrape: {allow: [127.0.0.1]}\nservers: []\n"))
    found = debug(daemon, "127.0.0.1:1")
    assert found.result["result"] == "down: refused: connection refused"
    assert set(found.result) == {"server", "result", "took"}
    assert found.sections == {}
    assert parse(found.metrics)[sample("memcached_up")] == 0


@pytest.mark.parametrize(
    ("mode", "reason"),
    [("hang", "timeout"), ("close", "closed"), ("full", "connection_limit"), ("extra", "protocol")],
)
def test_down(exporter: Start, fake: Fake, config_file: Configure, mode: str, reason: str) -> None:
    """Whatever goes wrong is told with its reason, within the module's time."""
    server = fake("--mode", mode)
    text = f"modules: {{default: {{timeout: 200ms}}}}\nservers: [{{address: '{server.address}'}}]\n"
    found = debug(exporter(config_file(text)), server.address)
    assert found.result["result"].startswith(f"down: {reason}: ")
    assert found.result["took"].endswith(" ms of 200 ms")
    assert parse(found.metrics)[sample("memcached_up")] == 0


def test_the_limit_is_the_shorter_one(exporter: Start, memcached: Memcacheds) -> None:
    """Of Prometheus' timeout, less a margin, and the module's it tells what counted."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}")
    for seconds, limit in (("0.5", "400"), ("10", "1000")):
        found = debug(daemon, server.address, X_Prometheus_Scrape_Timeout_Seconds=seconds)
        assert found.result["took"].endswith(f" ms of {limit} ms")


def test_sections_that_are_left_out_or_fail(exporter: Start, fake: Fake) -> None:
    """A section that the server does not know, or cannot give, is told with the server's words."""
    server = fake("--err", "stats items=ERROR", "--err", "stats slabs=SERVER_ERROR out of memory")
    daemon = exporter(f"--memcached.address={server.address}")
    for _ in range(2):
        found = debug(daemon, server.address)
        assert found.result["result"] == "up"
        assert found.sections["items"] == "left out: the server answered 'ERROR'"
        assert found.sections["slabs"] == "failed: SERVER_ERROR out of memory"
        assert found.sections["settings"].startswith("left out: `stats settings` kills memcached")
        assert found.sections["stats"].startswith("read, ")


def test_the_settings_of_the_module(
    exporter: Start, memcached: Memcacheds, config_file: Configure
) -> None:
    """They are those that counted, named as in the file, also where the target chose the module."""
    server = memcached()
    text = (
        f"servers: [{{address: '{server.address}'}}]\n"
        "modules:\n"
        "  odd: {timeout: 2s500ms, sections: [slabs, conns], top_clients: 7, max_prefixes: 8,\n"
        "        max_reply_bytes: 65536, probe: {interval: 5s, canary_key: bird}}\n"
    )
    daemon = exporter(config_file(text))
    found = debug(daemon, server.address, "&module=odd")
    assert found.module == "odd"
    assert set(found.sections) == {"stats", "slabs", "conns"}
    for line in (
        "  timeout: 2.5",
        "  sections: stats, slabs, conns",
        "  top_clients: 7",
        "  max_prefixes: 8",
        "  max_reply_bytes: 65536",
        "  probe_interval: 5.0",
        "  canary_key: bird",
    ):
        assert line in found.settings
    default = debug(daemon, server.address)
    assert default.module == "default"
    assert "  timeout: 1.0" in default.settings
    assert "  tls: None" in default.settings


def test_tls(
    exporter: Start, memcached: Memcacheds, config_file: Configure, tmp_path: Path
) -> None:
    """The TLS settings are shown with the places of the files; a wrong certificate is told."""
    tmp_path.chmod(0o755)
    (tmp_path / "ca").mkdir()
    (tmp_path / "other").mkdir()
    authority, other = Authority(tmp_path / "ca"), Authority(tmp_path / "other")
    pair = authority.issue()
    server = memcached(*pair.serve())
    text = (
        f"servers: [{{address: '{server.address}', module: good}}]\n"
        "modules:\n"
        f"  good: {{tls: {{ca_file: '{authority.ca}', cert_file: '{pair.cert}',"
        f" key_file: '{pair.key}', server_name: localhost, min_version: TLS13}}}}\n"
        f"  bad: {{tls: {{ca_file: '{other.ca}'}}}}\n"
    )
    daemon = exporter(config_file(text))
    good = debug(daemon, server.address)
    assert good.result["result"] == "up"
    for line in (
        f"    ca_file: {authority.ca}",
        f"    cert_file: {pair.cert}",
        f"    key_file: {pair.key}",
        "    server_name: localhost",
        "    min_version: TLS13",
        "    insecure_skip_verify: False",
    ):
        assert line in good.settings
    key = pair.key.read_text().splitlines()[1:-1]
    assert not any(line in good.text for line in key)
    bad = debug(daemon, server.address, "&module=bad")
    assert bad.result["result"].startswith("down: tls: the certificate is not accepted")


@pytest.fixture
def parrots() -> Iterator[list[Parrot]]:
    """Servers that ask for a login and repeat it in each place of an answer."""
    answers = (b"%s\r\n", b"ERROR %s\r\n", b"CLIENT_ERROR bad data %s\r\n", b"SERVER_ERROR %s\r\n")
    made = [Parrot(answer) for answer in answers]
    yield made
    for parrot in made:
        parrot.close()


def test_secrets_are_not_told(
    exporter: Start,
    parrots: list[Parrot],
    config_file: Configure,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither passwords nor what a careless server makes of them are on the page; places are."""
    monkeypatch.setenv(VARIABLE, IN_ENVIRONMENT)
    password = tmp_path / "password"
    password.write_text(f"{IN_FILE}\n")
    lines = "".join(f"- {{address: '{server.address}', module: file}}\n" for server in parrots)
    daemon = exporter(
        config_file(
            f"servers:\n{lines}"
            "modules:\n"
            "  file: {auth: {username: mon, password_file: password}}\n"
            f"  env: {{auth: {{username: mon, password_env: {VARIABLE}}}}}\n"
        )
    )
    for server in parrots:
        for module in ("file", "env"):
            found = debug(daemon, server.address, f"&module={module}")
            assert found.result["result"].startswith("down: ")
            assert IN_FILE not in found.text
            assert IN_ENVIRONMENT not in found.text
            assert "    username: mon" in found.settings
        assert f"    password_env: {VARIABLE}" in found.settings
        assert f"    password_file: {password}" in debug(daemon, server.address).settings
    assert IN_FILE not in daemon.log


@pytest.mark.parametrize("value", ["", "1", "TRUE", "yes", "nonsense", "%0a"])
def test_debug_is_true_or_false(exporter: Start, memcached: Memcacheds, value: str) -> None:
    """Anything else is an error with the remedy, and reads nobody."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}")
    before = int(server.stats()["total_connections"])
    answer = daemon.request(f"/scrape?target={server.address}&debug={value}")
    assert (answer.status, answer.text) == (400, "debug: write true or false\n")
    assert int(server.stats()["total_connections"]) == before + 1  # that of who counts


def test_debug_is_no_way_around(exporter: Start, memcached: Memcacheds) -> None:
    """What is refused without it is refused with it; false is as if it were not there."""
    server = memcached()
    daemon = exporter("--memcached.address=127.0.0.1:1")
    answer = daemon.request(f"/scrape?target={server.address}&debug=true")
    assert (answer.status, "scrape.allow" in answer.text) == (403, True)
    assert daemon.request("/scrape?debug=true").status == 400
    assert daemon.request("/scrape?target=127.0.0.1:1&module=no&debug=true").status == 400
    answer = daemon.request("/scrape?target=127.0.0.1:1&debug=false")
    assert parse(answer.text)[sample("memcached_up")] == 0
    assert "module" not in answer.text.split("\n", 1)[0]


def test_it_is_plain_whatever_is_accepted(exporter: Start, memcached: Memcacheds) -> None:
    """The page is for people: neither compressed nor OpenMetrics."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}")
    accept = "application/openmetrics-text;version=1.0.0"
    found = debug(daemon, server.address, Accept=accept, Accept_Encoding="gzip")
    assert found.result["result"] == "up"
    assert "\nmemcached_up 1" in found.metrics
