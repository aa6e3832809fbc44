"""The page of one server has all that is known of it."""

import pytest

from exporter.health.figures import Levels, Rates
from exporter.memcached.member import State
from exporter.web.status.details import LEVELS, PROCESS, RATES, server_page
from exporter.web.status.rows import Row
from tests.web.status import (
    NOW,
    Moment,
    Page,
    context,
    down,
    finding,
    levels,
    new,
    rates,
    request,
    row_of,
    up,
)

ALL_LEVELS = {
    "uptime": 7200.0,
    "connections": 34.0,
    "connections_limit": 40.0,
    "connections_ratio": 0.85,
    "memory_bytes": 16 * 2.0**20,
    "memory_limit_bytes": 64 * 2.0**20,
    "memory_ratio": 0.25,
    "items": 1234.0,
    "ping_seconds": 0.00025,
}
ALL_RATES = {
    "commands": {"set": 10.5, "get": 90.0},
    "hit_ratio": 0.975,
    "evictions": 1.5,
    "evicted_per_set": 0.14,
    "connections": 0.5,
    "rejected": 0.1,
    "read_bytes": 2048.0,
    "written_bytes": 4096.0,
    "cpu": 0.25,
    "voluntary_switches": 900.0,
    "involuntary_switches": 3.0,
}


def page(row: Row) -> Page:
    """Return the page of a server among others."""
    target = f"target={row.state.address}"
    response = server_page(request(target), [up("other:1"), row], context())
    assert response.status == 200
    return Page(response)


def test_all_numbers() -> None:
    """Each level and rate stands with its unit."""
    moment = Moment(NOW - 12, True, levels(**ALL_LEVELS), rates(**ALL_RATES))
    row = row_of(up("s:1").state, [moment])
    told = page(row)
    assert told.lines == {
        "Version": "1.6.18",
        "Uptime": "2 h",
        "Connections": "34",
        "Connections it can take": "40",
        "Connections used": "85 %",
        "Memory of items": "16 MiB",
        "Memory limit": "64 MiB",
        "Memory used": "25 %",
        "Items": "1,234",
        "Latency": "0.25 ms",
        "get": "90",
        "set": "10.5",
        "Hit rate": "97.5 %",
        "Evictions/s": "1.5",
        "Evicted per item stored": "14 %",
        "New connections/s": "0.5",
        "Connections rejected/s": "0.1",
        "Read/s": "2 KiB",
        "Written/s": "4 KiB",
        "CPUs used": "0.25",
        "Voluntary context switches/s": "900",
        "Involuntary context switches/s": "3",
    }
    assert "Commands a second, over the last 15 s" in told.text
    assert "Rates over the last 15 s" in told.text


def test_no_number_is_forgotten() -> None:
    """A new field of levels or rates gets its line."""
    assert [field for _, field, _ in LEVELS] == list(Levels.__struct_fields__)
    shown = {field for _, field, _ in (*RATES, *PROCESS)}
    assert shown | {"seconds", "commands"} == set(Rates.__struct_fields__)


def test_a_server_on_another_host() -> None:
    """Of its process nothing is known, and nothing is said."""
    assert "Its process" not in page(up("s:1", commands={"get": 1.0})).text


def test_charts_have_their_scale_and_time() -> None:
    """The ends of both axes are told, and the last, lowest and highest value."""
    points = tuple(
        Moment(NOW - 60 + i * 15, True, levels(ping_seconds=value))
        for i, value in enumerate((0.001, 0.004, 0.002))
    )
    told = page(row_of(up("s:1").state, points))
    assert (
        "Latency last 2 ms, lowest 1 ms, highest 4 ms 4 ms 0"
        " 1970-01-03 23:59:00 UTC 23:59:30 UTC, 30 s later"
    ) in told.text
    assert told.labels == ["Latency: last 2 ms, lowest 1 ms, highest 4 ms"]


def test_ratios_are_drawn_up_to_all() -> None:
    """Their scale ends at 100 %."""
    text = page(up("s:1", memory_ratio=0.25)).text
    assert "Memory last 25 %, lowest 25 %, highest 25 % 100 % 0" in text


def test_findings_stand_whole() -> None:
    """Also here with their advice."""
    text = page(up("s:1", found=(finding(remedy="-c 120"),))).text
    assert "warning connections_high s:1 : seen Why it matters why What changes it -c 120" in text


def test_a_server_that_is_down() -> None:
    """Why, since when nothing is known, and the sections that it was not asked for."""
    told = page(down("s:1", left_out={"settings": "dangerous"}, failures={"slabs": "ERROR"}))
    assert "down: refused connection refused 2 sections not read" in told.text
    assert told.lines == {"settings": "left out: dangerous", "slabs": "failed: ERROR"}
    assert "Nothing to draw yet." in told.text


def test_a_server_before_its_first_scrape() -> None:
    """It says so, and not a number."""
    told = page(new("s:1"))
    assert "not scraped yet" in told.text
    assert "No scrape since the exporter was started." in told.text
    assert told.lines == {}


def test_the_link_to_a_reading() -> None:
    """It asks the server now, with a report."""
    told = page(up("s:1"))
    assert told.links["Read it now, with a report"] == "/scrape?target=s%3A1&debug=true"


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("", 400, "write the server to show: /server?target=host:port\n"),
        ("target=", 400, "write the server to show: /server?target=host:port\n"),
        ("target=x:1", 404, 'no server is configured as "x:1": see / for those that are\n'),
        (
            "target=%0d%0a<b>",
            404,
            "no server is configured as '\\r\\n<b>': see / for those that are\n",
        ),
    ],
)
def test_a_server_that_is_not_there(query: str, status: int, told: str) -> None:
    """One plain line says what is wrong."""
    response = server_page(request(query), [up()], context())
    assert (response.status, response.body.decode()) == (status, told)
    assert response.content_type == "text/plain; charset=utf-8"


def test_a_unix_socket() -> None:
    """Odd addresses are found as they are configured."""
    row = Row(State(address="unix:/run/a b&c.sock"), (), ())
    query = "target=unix%3A%2Frun%2Fa+b%26c.sock"
    assert Page(server_page(request(query), [row], context())).source.count("unix:/run") > 1
