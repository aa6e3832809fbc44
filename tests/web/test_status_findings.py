"""Findings stand once, with their advice, and name the servers that they were found on."""

import msgspec
import pytest

from exporter.web.status.findings import MOST_SERVERS
from exporter.web.status.pages import status_page
from tests.web.status import Page, context, finding, request, up


def test_a_finding_has_its_advice() -> None:
    """What was seen, why it matters, what changes it, when to leave it."""
    told = Page(status_page(request(), [up(found=(finding(),))], context()))
    assert (
        "warning connections_high a:1 : seen Why it matters why What changes it remedy"
        " When to leave it leave Runbook alerts/runbooks/runbook.md"
    ) in told.text
    assert told.links["a:1"] == "/server?target=a%3A1"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See `stats conns`, then `ps`.", "See <code>stats conns</code>, then <code>ps</code>."),
        ("81.7 % of `awk %s`", "81.7\N{NO-BREAK SPACE}% of <code>awk %s</code>"),
        ("`<b>` < 1", "<code>&lt;b&gt;</code> &lt; 1"),
        ("an odd ` stays", "an odd ` stays"),
    ],
)
def test_commands_are_code(text: str, shown: str) -> None:
    """They can be told from the words around them, copied as they are, and write no markup."""
    words = {"seen": text, "why": text, "remedy": text, "leave": text}
    source = Page(status_page(request(), [up(found=(finding(**words),))], context())).source
    assert source.count(shown) == len(words)


def test_the_same_finding_on_several_servers_stands_once() -> None:
    """Remedies that differ by their numbers are told for one server, which is named."""
    rows = [up(name, found=(finding(seen=f"seen {name}", remedy=f"-c {name}"),)) for name in "ab"]
    text = Page(status_page(request(), rows, context())).text
    assert text.count("connections_high") == 1
    assert "a : seen a b : seen b" in text
    assert "What changes it (numbers of a) -c a" in text
    assert "-c b" not in text


def test_the_same_remedy_is_of_no_single_server() -> None:
    """It is for all of them then."""
    rows = [up(name, found=(finding(),)) for name in "ab"]
    assert "numbers of" not in Page(status_page(request(), rows, context())).text


def test_the_worst_findings_stand_first() -> None:
    """By severity, then by how many servers have it; one name can have two severities."""
    found = {
        "a": (finding("rare"), finding("common"), finding("odd", "info")),
        "b": (finding("odd", "critical"), finding("common")),
    }
    rows = [up(name, found=several) for name, several in found.items()]
    text = Page(status_page(request(), rows, context())).text
    places = [text.index(told) for told in ("critical odd", "warning common", "warning rare")]
    assert [*places, text.index("info odd")] == sorted([*places, text.index("info odd")])


@pytest.mark.parametrize("more", [0, 1, 5])
def test_many_servers_are_a_link(more: int) -> None:
    """A finding names some servers, and leads to all of them."""
    rows = [up(f"s{i}", found=(finding(),)) for i in range(MOST_SERVERS + more)]
    told = Page(status_page(request(), rows, context()))
    assert told.text.count(": seen") == MOST_SERVERS
    assert told.links.get(f"and {more} more") == (
        "/?finding=connections_high&rows=all" if more else None
    )


@pytest.mark.parametrize(
    ("runbooks", "leads"),
    [
        ("https://wiki.example/books", "https://wiki.example/books/MemcachedDown.md"),
        ("http://wiki.example", "http://wiki.example/MemcachedDown.md"),
        ("alerts/runbooks", None),
        ("javascript:alert(1)//", None),
    ],
)
def test_runbooks_are_links_where_they_have_a_site(runbooks: str, leads: str | None) -> None:
    """Else their place in the source is told; nothing but a web address becomes a link."""
    at = context()
    at = msgspec.structs.replace(at, runbooks=runbooks)
    row = up(found=(finding(runbook="MemcachedDown"),))
    told = Page(status_page(request(), [row], at))
    assert told.links.get("MemcachedDown") == leads
    assert (f"Runbook {runbooks}/MemcachedDown.md" in told.text) == (leads is None)


@pytest.mark.parametrize(
    ("runbooks", "leads"),
    [
        (
            "https://git.example/exporter/blob/main/alerts/runbooks",
            "https://git.example/exporter/blob/main/docs",
        ),
        ("https://wiki.example/memcached", None),
        ("alerts/runbooks", None),
        ("javascript:alert(1)/alerts/runbooks", None),
    ],
)
def test_documents_are_linked_where_the_source_is(runbooks: str, leads: str | None) -> None:
    """They are beside the runbooks; of another site nobody knows where it has them."""
    at = msgspec.structs.replace(context(), runbooks=runbooks)
    assert Page(status_page(request(), [up()], at)).links.get("Documents") == leads


def test_what_is_ignored_is_told() -> None:
    """Nobody wonders at 3 a.m. why there is no word of it, even if nothing else is found."""
    for rows in ([up()], [up(found=(finding(),))]):
        told = Page(status_page(request(), rows, context(ignored="udp_on memory_high")))
        assert "Ignored, as findings.ignore says: memory_high, udp_on" in told.text
    assert "Ignored" not in Page(status_page(request(), [up()], context())).text


def test_a_finding_without_a_runbook() -> None:
    """There is no word of one."""
    row = up(found=(finding(runbook=""),))
    assert "Runbook" not in Page(status_page(request(), [row], context())).text


def test_nothing_was_found() -> None:
    """Then there is no section of findings."""
    told = Page(status_page(request(), [up()], context()))
    assert "what to do" not in told.links
    assert 'id="findings"' not in told.source
