"""The prober within the daemon: its series, and that it and scrapes do not disturb each other."""

import contextlib
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from exporter.exposition import Format
from tests.memcached.pages import Page
from tests.memcached.support import Samples, parsed, promtool
from tests.processes import Memcached, sample
from tests.sections.wire import Tap
from tests.web.clients import eventually

SECONDS = "memcached_probe_duration_seconds"
FAILURES = "memcached_probe_failures_total"


def buckets(page: Page, operation: str) -> dict[float, float]:
    """Return the cumulative counts of the last scrape by upper bound."""
    own = {"operation": operation, "server": page.address}
    return {
        float(found.pop("le")): number
        for (name, labels), number in page.samples.items()
        if name == f"{SECONDS}_bucket" and own.items() <= (found := dict(labels)).items()
    }


def count(page: Page, operation: str) -> float:
    """Scrape and return how many probes of a kind were answered."""
    number = page().get(f"{SECONDS}_count", operation=operation)
    assert number is not None
    return number


def failures(page: Page, operation: str) -> float:
    """Scrape and return how many probes of a kind failed."""
    number = page().get(FAILURES, operation=operation)
    assert number is not None
    return number


def in_format(page: Page, form: Format) -> Samples:
    """Scrape in a format and read it with the client library's parser."""
    answer = page.daemon.request("/metrics", Accept=form.value)
    assert answer.headers["Content-Type"] == form.value
    return parsed(answer.text, form)


def test_series_begin_at_zero(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Before the first probe all series are there, with buckets at the limits people alert on."""
    probe = {"interval": "1h", "canary_key": "canary"}
    page = sectioned(memcached().address, probe=probe)
    for operation in ("noop", "get"):
        assert count(page, operation) == failures(page, operation) == 0
        assert page.get(f"{SECONDS}_sum", operation=operation) == 0
        found = buckets(page, operation)
        assert set(found.values()) == {0}
        assert {0.0001, 0.001, 0.005, 0.01, 0.05, float("inf")} <= set(found)
        assert sum(0.0001 <= bound <= 0.05 for bound in found) >= 8
    for form in Format:
        names = {name for name, _ in in_format(page, form)}
        assert {f"{SECONDS}_bucket", f"{SECONDS}_count", FAILURES} <= names
    assert promtool(page.daemon.request("/metrics").text) == ""


def test_without_a_prober_there_is_no_series(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A server that nobody probes has no series of probes, not even at 0."""
    page = sectioned(memcached().address)()
    assert not any(name.startswith("memcached_probe") for name, _ in page.samples)


def test_without_a_canary_only_the_no_op(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Without a canary key nothing is written, and there is no series of gets."""
    server = memcached()
    page = sectioned(server.address, probe={"interval": "20ms"})
    assert eventually(lambda: count(page, "noop") > 10)
    assert page.get(f"{SECONDS}_count", operation="get") is None
    stats = server.stats()
    assert (stats["cmd_set"], stats["cmd_get"], stats["curr_items"]) == ("0", "0", "0")


def test_a_canary_on_the_page(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Both operations are measured at each interval; the histogram adds up."""
    server = memcached()
    page = sectioned(server.address, probe={"interval": "20ms", "canary_key": "canary"})
    assert eventually(lambda: count(page, "get") > 10)
    for operation in ("noop", "get"):
        found = buckets(page, operation)
        counts = [found[bound] for bound in sorted(found)]
        assert counts == sorted(counts)
        assert counts[-1] == page.get(f"{SECONDS}_count", operation=operation)
        assert 0 < (page.get(f"{SECONDS}_sum", operation=operation) or 0) < counts[-1]
    stats = server.stats()
    assert (stats["cmd_set"], stats["get_misses"]) == ("1", "1")
    assert int(stats["get_hits"]) > 8
    assert page.get("memcached_commands_total", command="set", status="attempt") == 1


def test_a_hung_server_and_its_recovery(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Failures are counted while a server hangs, and the same prober goes on afterwards."""
    server = memcached()
    page = sectioned(server.address, timeout="100ms", probe={"interval": "20ms"})
    assert eventually(lambda: count(page, "noop") > 3)
    server.freeze()
    assert eventually(lambda: failures(page, "noop") >= 3)
    assert page.get("memcached_up") == 0
    answered = count(page, "noop")
    server.thaw()
    assert eventually(lambda: count(page, "noop") > answered + 3)
    failed = failures(page, "noop")
    assert page.get("memcached_up") == 1
    time.sleep(0.2)
    assert failures(page, "noop") == failed


@pytest.mark.parametrize("hung", [False, True], ids=["well", "hung"])
def test_the_daemon_stops_with_a_prober(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page], hung: bool
) -> None:
    """A prober that is running, or waiting for a hung server, does not hold up the end."""
    server = memcached()
    page = sectioned(server.address, timeout="30s", probe={"interval": "20ms"})
    assert eventually(lambda: count(page, "noop") > 0)
    if hung:
        server.freeze()
        time.sleep(0.1)
    page.daemon.process.send_signal(signal.SIGTERM)
    assert page.daemon.process.wait(5) == 0


def test_scrapes_and_probes_do_not_disturb_each_other(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """Both have a connection of their own, and neither sees the other's answers."""
    server = memcached()
    with contextlib.closing(Tap(server.host, server.port)) as tap:
        probe = {"interval": "1ms", "canary_key": "canary"}
        page = sectioned(tap.address, probe=probe)
        with ThreadPoolExecutor(4) as pool:
            pages = list(pool.map(lambda _: page.daemon.samples(), range(60)))
        up = sample("memcached_up", server=tap.address)
        malformed = sample("memcached_exporter_malformed_values", server=tap.address)
        assert {found[up] for found in pages} == {1}
        assert {found[malformed] for found in pages} == {0}
        assert count(page, "get") > 5
        assert failures(page, "noop") == failures(page, "get") == 0
        assert len(tap.writes) == 2
        kinds = [
            {line.split()[0] for text in writes for line in text.splitlines()}
            for writes in tap.writes
        ]
    assert {"version", "get", "set", "canary"} in kinds
    assert {"version", "stats"} in kinds


def test_many_probers(memcached: Callable[..., Memcached], sectioned: Callable[..., Page]) -> None:
    """A prober adds one connection and one thread, however long it runs and fails."""
    server = memcached()
    page = sectioned(server.address, timeout="50ms", probe={"interval": "5ms"})
    assert eventually(lambda: count(page, "noop") > 5)
    threads, files = page.daemon.threads(), page.daemon.descriptors()
    server.freeze()
    assert eventually(lambda: failures(page, "noop") > 8)
    server.thaw()
    answered = count(page, "noop")
    assert eventually(lambda: count(page, "noop") > answered + 5)
    assert eventually(lambda: page.daemon.descriptors() <= files)
    assert page.daemon.threads() <= threads + 1
    assert int(server.stats()["curr_connections"]) <= 4
