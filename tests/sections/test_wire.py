"""What goes over the wire: to recorded servers, to a strict proxy, and to real ones."""

import contextlib
import socket
import time
from collections.abc import Callable

import pytest

from exporter.catalogue.sections import DEFAULT_SECTIONS
from tests.memcached.oracle import pairs
from tests.memcached.pages import Page
from tests.memcached.support import reader, scrape, store
from tests.processes import Exporter, Memcached, sample
from tests.sections.support import ALL, COMMANDS
from tests.sections.test_planner import COMMON, PROXY, TABLE, UNSURE
from tests.sections.wire import Tap, Wire, recorded_server


def written(*sections: str) -> str:
    """Return the one write that asks for these sections."""
    return "".join(f"{COMMANDS[section]}\r\n" for section in sections)


def check(server: Wire, sections: tuple[str, ...], scrapes: int) -> None:
    """One connection had an introduction, and then at each scrape exactly these sections.

    All of them go out in one write, but for the dump, whose answer clients can spoil.
    """
    assert len(server.writes) == 1
    (writes,) = server.writes
    assert writes[0] == "version\r\nstats\r\n"
    asked = [command for command in server.commands if command != "version"]
    assert asked == [COMMANDS[section] for section in ("stats", *sections)] * scrapes
    together = [section for section in sections if section != "detail"]
    assert writes[1] == written(*together)
    assert writes.count(written("stats", *together)) == scrapes - 1
    assert len(writes) <= 1 + 3 * scrapes


@pytest.mark.parametrize("assume", [False, True], ids=["careful", "vouched for"])
@pytest.mark.parametrize("case", sorted(TABLE))
def test_recorded_servers(case: str, assume: bool) -> None:
    """Each recorded server gets what it survives, all in one write, and keeps its connection."""
    sections = TABLE[case][0 if assume else 1]
    with (
        recorded_server(case) as server,
        reader(server.address, sections=ALL, assume_no_napi_ids=assume) as held,
    ):
        for _ in range(3):
            read = scrape(held)
            assert read.success == dict.fromkeys(("stats", *sections), True)
    check(server, sections, scrapes=3)


@pytest.mark.parametrize("wanted", [DEFAULT_SECTIONS, ALL], ids=["default", "all"])
def test_a_proxy_keeps_its_connection(
    wanted: tuple[str, ...], sectioned: Callable[..., Page]
) -> None:
    """A proxy that closes on any unknown command sees one connection over five scrapes."""
    with recorded_server("new-proxy") as server:
        page = sectioned(server.address, sections=list(wanted))
        for _ in range(5):
            assert page().get("memcached_up") == 1
            assert page.get("memcached_proxy_commands_total", command="get") == 746
        assert page.get("memcached_scrape_section_success", section="proxybe") == 1
    sections = tuple(section for section in PROXY if section in wanted)
    check(server, sections, scrapes=5)


def test_what_a_proxy_does_not_know_closes() -> None:
    """The strict proxy of these tests does close on an unknown command."""
    with recorded_server("new-proxy") as server:
        host, _, port = server.address.partition(":")
        with socket.create_connection((host, int(port)), timeout=5) as client:
            client.sendall(b"stats proxybe\r\n")
            assert client.recv(4096) == b"STAT bad_dead1 4\r\nEND\r\n"
            client.sendall(b"stats extstore\r\n")
            assert client.recv(4096) == b""


def test_a_server_with_napi_ids_survives_everything(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A real server started with `-N 2` survives 20 scrapes with all sections asked for."""
    server = memcached("-N", "2", "-o", "track_sizes")
    store(server, {"user:1": b"x"})
    page = sectioned(server.address, top_clients=10)
    for _ in range(20):
        assert page().get("memcached_up") == 1
        for section in ("stats", "slabs", "items", "conns", "sizes", "detail"):
            assert page.get("memcached_scrape_section_success", section=section) == 1
        assert page.get("memcached_scrape_section_success", section="settings") is None
        assert page.get("memcached_item_size_bytes_bucket", le="+Inf") == 1
        assert page.get("memcached_client_connections", client="127.0.0.1") == 1
    assert server.process.poll() is None
    assert page.daemon.log.count("section is left out") == 1
    assert "-N" in page.daemon.log


def test_a_server_with_napi_ids_is_safe_from_who_vouches(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """The server's own counters outweigh an operator who says that nobody uses -N."""
    server = memcached("-N", "2")
    # Connections by loopback have no such id, which is counted.
    for _ in range(3):
        version = tuple(map(int, server.stats()["version"].split(".")))
    if not (1, 6, 9) <= version <= (1, 6, 39):
        pytest.skip("needs a memcached of 1.6.9 to 1.6.39")
    page = sectioned(server.address, assume_no_napi_ids=True)
    for _ in range(5):
        assert page().get("memcached_up") == 1
        assert page.get("memcached_scrape_section_success", section="settings") is None
    assert server.process.poll() is None


def test_a_plain_server_is_never_asked_for_storage(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A real server gets exactly the common sections, and nothing that it lacks."""
    server = memcached()
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        page = sectioned(tap.address, assume_no_napi_ids=True)
        for _ in range(4):
            assert page().get("memcached_up") == 1
        check(tap, COMMON, scrapes=4)


def test_defaults_send_nothing_costly(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """Without configuration connections, sizes, prefixes and storage pages are not asked for."""
    server = memcached()
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        daemon = exporter(f"--memcached.address={tap.address}", "--memcached.assume-no-napi-ids")
        for _ in range(2):
            assert daemon.samples()[sample("memcached_up", server=tap.address)] == 1
        check(tap, ("settings", "slabs", "items"), scrapes=2)


def test_nothing_is_written(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """With everything switched on the exporter sends commands that only read."""
    server = memcached("-o", "track_sizes")
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        page = sectioned(
            tap.address, top_clients=5, probe={"interval": "50ms"}, assume_no_napi_ids=True
        )
        assert page().get("memcached_up") == 1
        time.sleep(0.3)
        assert page().get("memcached_up") == 1
        assert set(tap.commands) == {"version", *(COMMANDS[name] for name in ("stats", *COMMON))}
    stats = server.stats()
    assert (stats["cmd_set"], stats["cmd_get"], stats["cmd_flush"]) == ("0", "0", "0")


@pytest.mark.parametrize(
    ("section", "error"),
    [
        ("detail", "CLIENT_ERROR stats detail not allowed"),
        ("sizes", "ERROR"),
        ("conns", "SERVER_ERROR out of memory"),
    ],
)
def test_a_refused_section_costs_nothing_else(
    section: str, error: str, sectioned: Callable[..., Page]
) -> None:
    """A server that refuses a section is asked no more for it, unless the refusal may pass."""
    with recorded_server("new-default") as server:
        server.replies[COMMANDS[section]] = f"{error}\r\n".encode()
        page = sectioned(server.address)
        for _ in range(3):
            assert page().get("memcached_up") == 1
            passing = 0 if error.startswith("SERVER_ERROR") else None
            assert page.get("memcached_scrape_section_success", section=section) == passing
            assert page.get("memcached_scrape_section_success", section="items") == 1
        assert server.commands.count(COMMANDS[section]) == (3 if passing == 0 else 1)
        assert len(server.writes) == 1


def test_a_torn_dump_is_not_taken_for_statistics(sectioned: Callable[..., Page]) -> None:
    """The rest of a dump with an end in it is not read as the reply to the next `stats`."""
    false = b"STAT pid 1\r\nSTAT version 1.6.45\r\nSTAT curr_items 666\r\nEND\r\n"
    with recorded_server("new-default") as server:
        right = int(pairs(server.replies["stats"])["curr_items"])
        server.slow["stats detail dump"] = [b"PREFIX a\r\nEND\r\n", false]
        page = sectioned(server.address)
        for _ in range(4):
            assert page().get("memcached_up") == 1
            assert page.get("memcached_current_items") == right
            assert page.get("memcached_scrape_section_success", section="items") == 1
            time.sleep(0.15)


def test_a_careful_plan_is_kept(sectioned: Callable[..., Page]) -> None:
    """What was left out at first is left out later, with one line in the log."""
    with recorded_server("deb1618-default") as server:
        page = sectioned(server.address)
        for _ in range(3):
            assert page().get("memcached_up") == 1
        check(server, UNSURE, scrapes=3)
        assert page.daemon.log.count("section is left out") == 1
