"""Reloads while scrapes and probes are under way."""

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.processes import Memcached, parse, sample
from tests.resilience.support import Daemon, at_rest, count, servers_on, settle
from tests.resilience.test_reload import LIFECYCLE, listing, reload
from tests.web.clients import eventually, threads_at_rest

Start = Callable[..., Memcached]
Configured = Callable[..., Daemon]

PROBED = "modules: {probed: {timeout: 300ms, probe: {interval: 20ms}}}\n"


def warmed_up(running: Daemon) -> int:
    """Return the threads of a daemon that has started all that scrapes can want.

    For that it has more pages at once than later; each thread that scrapes stays.
    """
    with ThreadPoolExecutor(16) as crowd:
        for _ in range(4):
            list(crowd.map(lambda _: running.request("/metrics").status, range(32)))
    return threads_at_rest(running)


def test_a_removed_server_that_hangs(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """A server that is removed while a scrape waits for it leaves no connection behind."""
    kept, hung = memcached(), memcached()
    alone = at_rest(hung)
    running = configured(listing(kept, hung), LIFECYCLE)
    for _ in range(3):
        running.samples()
    threads, files = running.threads(), running.descriptors()
    hung.freeze()
    with ThreadPoolExecutor(4) as clients:
        waiting = [clients.submit(running.request, "/metrics") for _ in range(4)]
        time.sleep(0.3)
        (shared / "exporter.yml").write_text(listing(kept))
        began = time.monotonic()
        reload(running)
        assert time.monotonic() - began < 0.5
        assert servers_on(running.samples()) == {kept.address}
        assert time.monotonic() - began < 0.6
        for page in waiting:
            samples = parse(page.result().text)
            assert samples[sample("memcached_up", server=hung.address)] == 0
            assert samples[sample("memcached_up", server=kept.address)] == 1
    settle(running, threads + 8, files - 1)  # threads that scrape stay, at most two for a page
    hung.thaw()
    assert eventually(lambda: count(hung, "curr_connections") == alone)


def test_probers_start_and_stop(memcached: Start, configured: Configured, shared: Path) -> None:
    """A prober comes with its server and goes with it: thread, connection and series."""
    kept, other = memcached(), memcached()
    alone = at_rest(other)
    running = configured(listing(kept, other), LIFECYCLE)
    threads = warmed_up(running)
    plain, probed = listing(kept), listing(other, more=", module: probed")
    probes = sample(
        "memcached_probe_duration_seconds_count", server=other.address, operation="noop"
    )
    for _ in range(3):
        (shared / "exporter.yml").write_text(probed + plain.partition("\n")[2] + PROBED)
        reload(running)
        assert probes in running.samples()
        assert eventually(lambda: running.samples()[probes] > 3)
        (shared / "exporter.yml").write_text(plain)
        reload(running)
        time.sleep(0.1)
        assert not [name for name, _ in running.samples() if name.startswith("memcached_probe")]
    assert eventually(lambda: count(other, "curr_connections") == alone)
    assert eventually(lambda: running.threads() <= threads)


def test_series_of_a_prober_that_hangs(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """A probe that is under way at the reload does not bring its server's series back."""
    kept, hung = memcached(), memcached()
    probed = listing(hung, more=", module: probed") + PROBED
    running = configured(probed, LIFECYCLE)
    failures = sample("memcached_probe_failures_total", server=hung.address, operation="noop")
    hung.freeze()
    assert eventually(lambda: running.samples()[failures] > 0)
    threads = running.threads()
    (shared / "exporter.yml").write_text(listing(kept))
    reload(running)
    time.sleep(0.8)
    assert not [name for name, _ in running.samples() if name.startswith("memcached_probe")]
    assert running.threads() < threads


def test_fifty_reloads_under_scrapes(
    memcached: Start, configured: Configured, shared: Path
) -> None:
    """While the configuration changes all the time each page is whole, and nothing is left over."""
    servers = [memcached() for _ in range(3)]
    alone = [at_rest(server) for server in servers]
    path = shared / "exporter.yml"
    texts = itertools.cycle(
        [
            listing(*servers),
            listing(servers[0]) + "scrape: {allow: [127.0.0.1]}\n",
            listing(*servers, more=", labels: {zone: x}"),
            listing(servers[1], servers[0], more=", module: probed") + PROBED,
        ]
    )
    running = configured(listing(*servers), LIFECYCLE)
    done = threading.Event()
    pages: list[int] = []

    def scrape(path: str) -> None:
        while not done.is_set():
            answer = running.request(path)
            assert answer.status == 200, answer.text
            samples = parse(answer.text)
            ups = {labels: up for (name, labels), up in samples.items() if name == "memcached_up"}
            assert ups
            assert set(ups.values()) == {1}
            pages.append(answer.status)

    threads, files = warmed_up(running), running.descriptors()
    with ThreadPoolExecutor(4) as clients:
        target = f"/scrape?target={servers[0].address}"
        tasks = [clients.submit(scrape, where) for where in ["/metrics"] * 3 + [target]]
        try:
            for _ in range(50):
                fresh = path.with_suffix(".new")
                fresh.write_text(next(texts))
                fresh.rename(path)
                reload(running)
                time.sleep(0.02)
        finally:
            done.set()
        for task in tasks:
            task.result()
    assert len(pages) > 50
    path.write_text(listing(*servers))
    reload(running)
    running.samples()
    assert "Traceback" not in running.log
    settle(running, threads, files)
    assert eventually(
        lambda: [count(server, "curr_connections") - 1 for server in servers] == alone
    )
