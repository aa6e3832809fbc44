"""The pages of a real daemon say what real servers say of themselves."""

import contextlib
import re
import socket
import time
from collections.abc import Callable

import pytest

from exporter.observation.history import LEAST_SECONDS
from tests.processes import Answer, Exporter, FakeMemcached, Memcached
from tests.web.status import Page


def seen(daemon: Exporter, path: str = "/") -> Page:
    """Return a page of the daemon."""
    answer = daemon.request(path)
    assert answer.status == 200, answer.text
    return Page(answer.text)


def scrape_twice(daemon: Exporter, between: Callable[[], None]) -> None:
    """Scrape, let something happen, and scrape again when that makes a point."""
    daemon.samples()
    between()
    time.sleep(LEAST_SECONDS + 0.1)
    daemon.samples()


def test_numbers_of_a_server(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """Levels and rates are those of the server's own statistics."""
    server = memcached("-m", "64", "-c", "100")
    daemon = exporter(f"--memcached.address={server.address}")

    def load() -> None:
        with contextlib.closing(server.client()) as client:
            client.set("a", b"x" * 5000)
            for key in ("a", "a", "a", "b") * 10:
                client.get(key)

    scrape_twice(daemon, load)
    told, stats = seen(daemon, f"/server?target={server.address}"), server.stats()
    lines = told.lines
    assert lines["Version"] == stats["version"]
    assert lines["Items"] == stats["curr_items"] == "1"
    assert lines["Connections it can take"] == str(int(stats["max_connections"]) - reserved(stats))
    assert lines["Memory limit"] == "64 MiB"
    assert lines["Memory of items"] == f"{int(stats['bytes']) / 1024:.3g} KiB"
    assert lines["Hit rate"] == "75 %"
    over = re.search(r"over the last ([\d.]+) s", told.text)
    assert over
    assert float(lines["get"]) * float(over[1]) == pytest.approx(40, rel=0.02)
    assert float(lines["set"]) * float(over[1]) == pytest.approx(1, rel=0.02)
    assert "CPUs used" in lines
    (row,) = seen(daemon).servers
    assert row["Hit rate"] == "75 %"
    assert (row["State"], row["Version"]) == ("up", stats["version"])


def reserved(stats: dict[str, str]) -> int:
    """Return the descriptors that a server keeps for itself."""
    return int(stats["reserved_fds"])


def test_states(memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]) -> None:
    """A page shows the last scrape, and comes at once while the server hangs."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout=300ms")
    told = seen(daemon)
    assert told.servers[0]["State"] == "not scraped yet"
    assert "No scrape since the exporter was started." in told.text
    daemon.samples()
    (row,) = seen(daemon).servers
    assert (row["State"], row["Version"]) == ("up", server.stats()["version"])
    server.freeze()
    daemon.samples()
    (row,) = seen(daemon).servers
    assert row["State"].startswith("down: timeout ")
    assert row["Memory"] == "\u2013"


def test_the_pages_read_no_server(
    fake: Callable[..., FakeMemcached],
    exporter: Callable[..., Exporter],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Not one command is sent for them."""
    commands = tmp_path_factory.mktemp("fake") / "commands.log"
    commands.touch()
    server = fake("--log", str(commands))
    daemon = exporter(f"--memcached.address={server.address}")
    seen(daemon)
    seen(daemon, f"/server?target={server.address}")
    assert commands.read_text() == ""
    daemon.samples()
    assert "stats" in commands.read_text()


@pytest.mark.parametrize("version", ["<b>1.6</b>", "1.6 & <script src=//x>"])
def test_a_hostile_version(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter], version: str
) -> None:
    """A server's version is text on the page, and so is the odd path of its socket."""
    server = fake("--set", f"version {version}")
    path = "/tmp/<i>x</i>.sock"
    daemon = exporter(f"--memcached.address={server.address}", f"--memcached.address={path}")
    daemon.samples()
    told = seen(daemon)
    assert {"i", "script"}.isdisjoint(told.tags)
    assert {row["Server"] for row in told.servers} == {server.address, path}
    assert version in [row["Version"] for row in told.servers]


def test_a_full_server_is_found(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    connect: Callable[[tuple[str, int]], socket.socket],
) -> None:
    """Findings appear with the first scrape, with the numbers that the server tells."""
    server = memcached("-c", "100", "-t", "1")
    most = int(server.stats()["max_connections"]) - reserved(server.stats())
    for _ in range(round(0.85 * most)):
        connect((server.host, server.port)).sendall(b"version\r\n")
    daemon = exporter(f"--memcached.address={server.address}")
    daemon.samples()
    told = seen(daemon)
    used = int(server.stats()["curr_connections"]) - 1
    assert f"{used} of the {most} connections that it can take are open" in told.text
    assert told.servers[0]["Connections"].endswith(f" warning {used} of {most}")
    assert "warning connections_high" in told.text


def test_a_compressed_page(exporter: Callable[..., Exporter]) -> None:
    """Browsers that take gzip get it, with the same headers."""
    daemon = exporter("--memcached.address=127.0.0.1:1")
    answers: list[Answer] = [
        daemon.request("/", Accept_Encoding=coding) for coding in ("gzip", "identity")
    ]
    packed, open_one = answers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in open_one.headers
    assert packed.text == open_one.text
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "Content-Type"):
        assert packed.headers[name] == open_one.headers[name]
    assert "Accept-Encoding" in packed.headers["Vary"]


def test_unknown_servers_and_queries(exporter: Callable[..., Exporter]) -> None:
    """They get a status of their own, and one line."""
    daemon = exporter("--memcached.address=127.0.0.1:1")
    for path, status in (("/server", 400), ("/server?target=x:1", 404), ("/?sort=x", 400)):
        answer = daemon.request(path)
        assert (answer.status, answer.text.count("\n")) == (status, 1)


def test_behind_a_prefix(exporter: Callable[..., Exporter]) -> None:
    """Both pages answer below the path of the external URL, and link there."""
    daemon = exporter(
        "--memcached.address=127.0.0.1:1", "--web.external-url=http://proxy.example/mc"
    )
    link = seen(daemon, "/mc/").links["127.0.0.1:1"]
    assert link == "/mc/server?target=127.0.0.1%3A1"
    assert seen(daemon, link).links["memcached-exporter"] == "/mc/"


def test_reloads_keep_what_is_known(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    config_file: Callable[[str], str],
) -> None:
    """A server that is configured as before keeps its numbers, one that is gone is gone."""
    kept, gone = memcached(), memcached()
    servers = "servers: [{{address: '{}'}}, {{address: '{}'}}]\nweb: {{enable_lifecycle: true}}\n"
    flag = config_file(servers.format(kept.address, gone.address))
    daemon = exporter(flag)
    daemon.samples()
    config_file(servers.format(kept.address, "127.0.0.1:1"))
    assert daemon.request("/-/reload", "POST").status == 200
    rows = {row["Server"]: row for row in seen(daemon).servers}
    assert rows.keys() == {kept.address, "127.0.0.1:1"}
    assert rows[kept.address]["Connections"].endswith(" of 1,004")
    assert daemon.request(f"/server?target={gone.address}").status == 404
