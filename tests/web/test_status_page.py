"""The status page has the right numbers, in the order and the selection that were asked for."""

from typing import Any

import pytest

from exporter.web.messages import Response
from exporter.web.status.pages import MOST_ROWS, status_page
from exporter.web.status.rows import STALE_SECONDS, Row
from tests.web.status import NOW, Page, context, down, finding, new, request, up

BUSY: dict[str, Any] = {
    "uptime": 7200.0,
    "connections": 34.0,
    "connections_limit": 40.0,
    "connections_ratio": 0.85,
    "memory_bytes": 16 * 2.0**20,
    "memory_limit_bytes": 64 * 2.0**20,
    "memory_ratio": 0.25,
    "ping_seconds": 0.00025,
    "commands": {"get": 90.0, "set": 10.5},
    "hit_ratio": 0.975,
    "evictions": 1.5,
}


def page(*rows: Row, query: str = "") -> Page:
    """Return the page about some servers."""
    response = status_page(request(query), rows, context())
    assert response.status == 200
    return Page(response)


def refused(query: str) -> Response:
    """Return the answer to a query that means nothing."""
    response = status_page(request(query), [up()], context())
    assert response.status == 400
    return response


def addresses(*rows: Row, query: str = "") -> list[str]:
    """Return the servers on the page in their order."""
    return [row["Server"] for row in page(*rows, query=query).servers]


def test_a_server_that_is_up() -> None:
    """Each number stands in its column, with its unit and what it is made of."""
    assert page(up(**BUSY, found=(finding(), finding(severity="info")))).servers == [
        {
            "Server": "a:1",
            "State": "up",
            "Findings": "1 warning 1 info",
            "Version": "1.6.18",
            "Uptime": "2 h",
            "Hit rate": "97.5 %",
            "Commands/s": "100",
            "Memory": "25 % 16 MiB of 64 MiB",
            "Connections": "85 % warning 34 of 40",
            "Evictions/s": "1.5",
            "Latency": "0.25 ms",
            "Last scrape": "12 s ago 1970-01-03 23:59:48 UTC",
        }
    ]


def test_a_server_that_is_down() -> None:
    """It has its reason, the version that it had, and no number from before."""
    before = up(**BUSY).points
    fallen = down(version="1.5.6")
    (row,) = page(Row(fallen.state, (*before, *fallen.points), ())).servers
    assert row["State"] == "down: refused connection refused"
    assert row["Version"] == "1.5.6"
    numbers = ("Uptime", "Hit rate", "Commands/s", "Memory", "Connections", "Latency")
    assert {row[name] for name in numbers} == {"\u2013"}


def test_a_server_whose_last_look_is_not_yet_a_point() -> None:
    """Numbers of a time when it was up do not stand beside the word down."""
    (row,) = page(Row(down().state, up(**BUSY).points, ())).servers
    assert row["Memory"] == "\u2013"


def test_a_server_before_its_first_scrape() -> None:
    """What is not known yet is said to be so."""
    (row,) = page(new()).servers
    assert (row["State"], row["Version"], row["Last scrape"]) == (
        "not scraped yet",
        "\u2013",
        "never",
    )


def test_a_server_that_does_not_tell_its_limit() -> None:
    """What it tells is shown, and no share is made up."""
    (row,) = page(up(connections=34.0)).servers
    assert (row["Connections"], row["Memory"]) == ("\u2013 34, limit not known", "\u2013")


def test_sections_that_are_missing_are_told() -> None:
    """A server can be up and yet not tell all."""
    fallen = down(left_out={"settings": "dangerous"}, failures={"slabs": "ERROR"})
    (row,) = page(fallen).servers
    assert row["State"] == "down: refused connection refused 2 sections not read"


def test_the_totals_are_sums() -> None:
    """What servers tell is added up, and how many did is said where some did not."""
    half = up("d:4", connections=6.0, connections_limit=60.0, commands={"get": 9.5})
    text = page(up(**BUSY), half, down()).text
    assert "Servers 3 1 down 2 up" in text
    assert "Commands/s 110 on 2 of 3 servers" in text
    assert "Connections 40 of 100 on 2 of 3 servers" in text
    assert "Memory 16 MiB of 64 MiB on 1 of 3 servers" in text
    assert "Evictions/s 1.5 on 1 of 3 servers" in text
    assert "Findings 0" in text


def test_totals_that_nobody_tells() -> None:
    """They are not known, and not 0."""
    text = page(new(), new("d:4")).text
    assert "Servers 2 2 never scraped" in text
    assert "Commands/s \u2013 not known yet" in text


def test_findings_are_counted_by_severity() -> None:
    """The worst stand first."""
    kinds = ("info", "warning", "critical", "warning")
    text = page(up(found=tuple(finding(severity=kind) for kind in kinds))).text
    assert "Findings 1 critical 2 warning 1 info" in text


def test_the_page_says_how_fresh_it_is() -> None:
    """The newest of all scrapes counts."""
    text = page(up(), new()).text
    assert "The last scrape was 12 s ago ( 1970-01-03 23:59:48 UTC )" in text


def test_nobody_has_scraped() -> None:
    """A new operator is told what to do first."""
    told = page(new())
    assert "No scrape since the exporter was started." in told.text
    assert told.links["/metrics"] == "/metrics"


@pytest.mark.parametrize(("late", "is_old"), [(0.0, False), (1.0, True)])
def test_nobody_scrapes_any_more(late: float, is_old: bool) -> None:
    """After five minutes the page says so before all, and at each server."""
    now = NOW - 12 + STALE_SECONDS + late
    told = Page(status_page(request(), [up()], context(now=now)))
    assert ("No scrape since 1970-01-03 23:59:48 UTC" in told.text) == is_old
    assert ("old" in told.servers[0]["Last scrape"]) == is_old


def test_no_servers() -> None:
    """Without servers the page says so, and where they are named."""
    assert "No server is configured or found. Name servers with --memcached.address" in page().text


def test_the_worst_come_first() -> None:
    """Down, critical, warning, not scraped, info, well; and else as configured."""
    rows = [
        up("well"),
        up("info", found=(finding(severity="info"),)),
        new("new"),
        up("warning", found=(finding(),)),
        up("critical", found=(finding(severity="critical"),)),
        down("down"),
        down("down too"),
    ]
    assert addresses(*rows) == ["down", "down too", "critical", "warning", "new", "info", "well"]


@pytest.mark.parametrize(
    ("sort", "field", "numbers", "order"),
    [
        ("hit_rate", "hit_ratio", (0.9, 0.5, 0.7), "bcad"),
        ("commands", "commands", ({"get": 1.0}, {"get": 3.0}, {"get": 2.0}), "bcad"),
        ("memory", "memory_ratio", (0.1, 0.3, 0.2), "bcad"),
        ("connections", "connections_ratio", (0.1, 0.3, 0.2), "bcad"),
        ("evictions", "evictions", (1.0, 3.0, 2.0), "bcad"),
        ("latency", "ping_seconds", (1.0, 3.0, 2.0), "bcad"),
        ("uptime", "uptime", (3.0, 1.0, 2.0), "bcad"),
        ("server", "uptime", (1.0, 1.0, 1.0), "abcd"),
    ],
)
def test_sorting(sort: str, field: str, numbers: tuple[object, ...], order: str) -> None:
    """The worst number comes first, and what is not known last."""
    known: list[dict[str, Any]] = [{field: value} for value in numbers]
    rows = [up(name, **numbers) for name, numbers in zip("abc", known, strict=True)]
    assert "".join(addresses(down("d"), *rows, query=f"sort={sort}")) == order


def test_sorting_by_findings_and_last_scrape() -> None:
    """Most findings, and the server that was not looked at for longest."""
    rows = [up("a"), up("b", found=(finding(),)), down("c", scraped=NOW - 99)]
    assert addresses(*rows, query="sort=findings") == ["b", "a", "c"]
    many = up("d", found=(finding(severity="info"),) * 3)
    assert addresses(many, *rows, query="sort=findings") == ["b", "d", "a", "c"]
    assert addresses(*rows, query="sort=scraped") == ["c", "a", "b"]


def test_choosing() -> None:
    """The table is of those that were asked for, with the way back; the sums are of all."""
    rows = [up("a"), down("b"), new("c"), up("d", found=(finding(name="noisy"),))]
    for query, chosen in (
        ("state=up", ["d", "a"]),
        ("state=down", ["b"]),
        ("state=unknown", ["c"]),
        ("finding=noisy", ["d"]),
        ("state=down&finding=noisy", []),
    ):
        assert addresses(*rows, query=query) == chosen
    told = page(*rows, query="state=down")
    assert "1 server with state down. Show all" in told.text
    assert told.links["Show all"] == "/"
    assert "Servers 4" in told.text
    assert told.links["2 up"] == "/?state=up"
    assert told.links["Memory"] == "/?state=down&sort=memory"


def test_large_fleets_are_cut() -> None:
    """Only the first rows are sent, unless all are asked for."""
    rows = [up(f"s{i}") for i in range(MOST_ROWS + 7)]
    cut = page(*rows, query="sort=memory")
    assert len(cut.servers) == MOST_ROWS
    assert cut.links["Show 7 more"] == "/?sort=memory&rows=all"
    whole = page(*rows, query="rows=all")
    assert len(whole.servers) == MOST_ROWS + 7
    assert "more" not in " ".join(whole.links)
    assert "Show" not in " ".join(page(*rows[:MOST_ROWS]).links)


@pytest.mark.parametrize("query", ["state=ill", "sort=version", "rows=5", "state=", "sort=%0a<b>"])
def test_a_query_that_means_nothing(query: str) -> None:
    """It gets one plain line with what can be asked for."""
    response = refused(query)
    assert response.content_type == "text/plain; charset=utf-8"
    name = query.partition("=")[0]
    assert response.body.decode().startswith(f"{name}: ")
    assert response.body.decode().count("\n") == 1
    assert "is none of: " in response.body.decode()


def test_links_stay_below_the_external_url() -> None:
    """All of them lead to this exporter, below the prefix that a proxy knows it by."""
    behind = context(external_url="https://proxy.example/mc", telemetry_path="/m", scrape_path="/s")
    rows = [down(), up("a:1 &b", found=(finding(),)), *(new(f"n{i}") for i in range(MOST_ROWS))]
    told = Page(status_page(request(), rows, behind))
    assert told.links["Metrics"] == "/mc/m"
    assert told.links["Service discovery"] == "/mc/sd"
    assert told.links["a:1 &b"] == "/mc/server?target=a%3A1+%26b"
    assert told.links["1 down"] == "/mc/?state=down"
    inner = {"#findings"}
    assert all(link.startswith("/mc/") for link in set(told.links.values()) - inner)
    assert "/mc/s ?target=host:port" in told.text.replace("/mc/s?", "/mc/s ?")


def test_the_title_tells_what_is_down() -> None:
    """It is seen in a tab of a browser without looking at the page."""
    assert "<title>2 down - memcached-exporter</title>" in page(down(), down("d"), up()).source
    assert "<title>memcached-exporter</title>" in page(up()).source
