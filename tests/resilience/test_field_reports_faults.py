"""Faults that operators ran into (B, C05, D06), with the numbers that their reports ask for."""

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from exporter.catalogue import HOST_FAMILIES
from tests.memcached.pages import DOWN
from tests.processes import FakeMemcached, Memcached, parse, sample
from tests.resilience.networks import need_namespaces
from tests.resilience.support import Samples, Watched, count, elapsed_below, settle

Watch = Callable[..., Watched]
Start = Callable[..., Memcached]
Fake = Callable[..., FakeMemcached]

WITHOUT_PROC = (
    *("unshare", "--mount", "sh", "-c"),
    'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"',
    "sh",
)
"""What starts a program that finds nothing in /proc."""


def memcached_names(found: Watched) -> set[str]:
    """Return the names of the server's samples in the last page."""
    return {name for name, labels in found.samples if ("server", found.address) in labels}


def test_each_scrape_of_a_hung_server_ends_in_time(memcached: Start, watch: Watch) -> None:
    """With the default timeout, 50 scrapes, ten at once, each end well below 10 s (B02)."""
    server = memcached()
    found = watch(server.address, "{}")
    for _ in range(2):
        assert found.up() == 1
    threads, files = found.daemon.threads(), found.daemon.descriptors()

    def scrape(_: int) -> tuple[float, Samples]:
        began = time.monotonic()
        samples = found.daemon.samples()
        return time.monotonic() - began, samples

    server.freeze()
    with ThreadPoolExecutor(10) as clients:
        pages = list(clients.map(scrape, range(50)))
    for seconds, samples in pages:
        assert seconds < 5
        assert samples[sample("memcached_up", server=server.address)] == 0
    settle(found.daemon, threads, files)
    server.thaw()
    assert found.up() == 1
    assert found.errors() == {"timeout": 50}
    assert len(found.daemon.warnings()) == 1


def test_counters_after_a_restart(memcached: Start, watch: Watch) -> None:
    """The first scrape after each restart has the new process's numbers, and none fails (B06)."""
    server = memcached()
    found = watch(server.address, "{}")
    assert found.up() == 1
    for _ in range(3):
        with contextlib.closing(server.client()) as client:
            client.set_many({f"key{i}": b"x" for i in range(7)}, noreply=False)
            assert len(client.get_many([f"key{i}" for i in range(5, 10)])) == 2
        assert found.up() == 1
        assert found.get("memcached_items_total") == 7
        assert found.get("memcached_commands_total", command="get", status="hit") == 2
        assert found.get("memcached_commands_total", command="get", status="miss") == 3
        server.restart()
        assert found.up() == 1
        assert found.get("memcached_items_total") == 0
        assert found.get("memcached_current_items") == 0
        assert found.get("memcached_commands_total", command="get", status="hit") == 0
        assert found.get("memcached_commands_total", command="get", status="miss") == 0
        assert (found.get("memcached_uptime_seconds") or 0) < 10
    assert found.errors() == {}


@pytest.mark.parametrize(
    "last",
    [
        "STAT curr_items 10",
        "STAT curr_items 1000\r",
        "STAT curr_items 1000\r\n",
        "STAT curr_items 1000\r\nEND",
    ],
)
def test_a_number_is_cut_in_two(fake: Fake, watch: Watch, tmp_path: Path, last: str) -> None:
    """Where an answer is cut before the end of its END, nothing of it is on the page (B09)."""
    sent = b"STAT pid 1\r\nSTAT version 1.6.18\r\nSTAT curr_connections 3\r\n" + last.encode()
    never_sent = b"x" * (len(sent) - 7) + b"\r\nEND\r\n"
    answer = tmp_path / "answer"
    answer.write_bytes(sent + never_sent)
    torn = ("--mode", "half", "--only", "stats", "--raw", f"stats={answer}")
    found = watch(fake(*torn).address, "{}")
    for number in range(1, 4):
        assert found.up() == 0
        assert memcached_names(found) == DOWN
        assert found.errors() == {"closed": number}


def test_a_binary_only_server_is_bounded(memcached: Start, watch: Watch) -> None:
    """No answer to a text command costs the deadline and nothing else; one line says why (B17)."""
    found = watch(memcached("-B", "binary").address, "{timeout: 1s}")
    with elapsed_below(2):
        assert found.up() == 0
    threads, files = found.daemon.threads(), found.daemon.descriptors()
    for number in range(2, 4):
        with elapsed_below(2):
            assert found.up() == 0
        assert found.errors() == {"timeout": number}
        assert memcached_names(found) == DOWN
    settle(found.daemon, threads, files)
    (line,) = found.daemon.warnings()
    assert "binary protocol" in line


def test_a_proxy_without_slabs(fake: Fake, watch: Watch) -> None:
    """A proxy that answers `stats slabs` with nothing but END is up, with its own counts (B19)."""
    server = fake(
        *("--set", "proxy_conn_requests 5", "--set", "proxy_req_active 1"),
        *("--err", "stats slabs=END", "--err", "stats items=END"),
    )
    found = watch(server.address, "{}")
    for _ in range(3):
        assert found.up() == 1
        assert found.get("memcached_proxy_conn_requests_total") == 5
        assert found.get("memcached_proxy_req_active") == 1
        assert found.get("memcached_scrape_section_success", section="slabs") == 1
        assert found.get("memcached_current_items") == 10
        assert not any("slab" in dict(labels) for _, labels in found.samples)
    assert found.errors() == {}
    assert "Traceback" not in found.daemon.log


def test_an_answer_before_prometheus_gives_up(memcached: Start, watch: Watch) -> None:
    """However long a server may take, the page is there before Prometheus hangs up (B22)."""
    server = memcached()
    found = watch(server.address, "{timeout: 30s}")
    assert found.up() == 1
    server.freeze()

    def seconds(path: str) -> float:
        began = time.monotonic()
        page = found.daemon.request(path, X_Prometheus_Scrape_Timeout_Seconds="2")
        taken = time.monotonic() - began
        assert page.status == 200
        ups = [value for (name, _), value in parse(page.text).items() if name == "memcached_up"]
        assert ups == [0]
        return taken

    for path in ("/metrics", f"/scrape?target={server.address}"):
        # This machine may be busier than the margin is long, but not each time.
        assert any(seconds(path) < 2 for _ in range(3))
    server.thaw()
    assert found.up() == 1
    assert found.errors().keys() == {"timeout"}


def test_one_section_fails(fake: Fake, watch: Watch) -> None:
    """An error in one section costs that section's samples, and says so by its metric (C05)."""
    whole = watch(fake().address, "{}")
    assert whole.up() == 1
    server = fake("--err", "stats items=SERVER_ERROR out of memory writing stats")
    found = watch(server.address, "{}")
    of_items = {
        "memcached_slab_current_items",
        "memcached_slab_items_age_seconds",
        "memcached_slab_items_evicted_total",
        "memcached_slab_items_outofmemory_total",
        "memcached_slab_mem_requested_bytes",
    }
    for _ in range(3):
        assert found.up() == 1
        for section in ("stats", "slabs"):
            assert found.get("memcached_scrape_section_success", section=section) == 1
        assert found.get("memcached_scrape_section_success", section="items") == 0
        assert memcached_names(whole) - memcached_names(found) == of_items
        assert found.get("memcached_slab_chunks_used", slab="1") == 10
        assert found.get("memcached_current_items") == 10
    assert "Traceback" not in found.daemon.log


def test_nothing_to_be_read_in_proc(memcached: Start, watch: Watch) -> None:
    """Without /proc that is lacking which is read there, and nothing of the servers (C05)."""
    need_namespaces()
    server = memcached("-m", "48")
    module = "{assume_no_napi_ids: true}"
    whole = watch(server.address, module)
    found = watch(server.address, module, prefix=WITHOUT_PROC)
    for _ in range(3):
        assert (whole.up(), found.up()) == (1, 1)
        assert memcached_names(found) <= memcached_names(whole)
        lost = {name for name, _ in whole.samples} - {name for name, _ in found.samples}
        assert "process_resident_memory_bytes" in lost
        assert all(name in HOST_FAMILIES or name.startswith("process_") for name in lost)
        assert found.get("memcached_limit_bytes") == 48 * 2**20
        assert found.get("memcached_process_user_cpu_seconds_total") is not None
        for section in ("stats", "settings", "slabs", "items"):
            assert found.get("memcached_scrape_section_success", section=section) == 1
    told = [line.split(" ", 1)[1] for line in found.daemon.warnings()]
    assert len(told) == len(set(told))
    assert "Traceback" not in found.daemon.log


def test_liveness_is_cheap(memcached: Start, watch: Watch) -> None:
    """The health path takes below 50 ms, and no connection to a server that hangs (D06)."""
    server = memcached()
    found = watch(server.address, "{}")
    before = count(server, "total_connections")
    server.freeze()
    fastest = 10.0
    for _ in range(20):
        began = time.monotonic()
        answer = found.daemon.request("/-/healthy")
        fastest = min(fastest, time.monotonic() - began)
        assert (answer.status, answer.text) == (200, "healthy\n")
    assert fastest < 0.05
    server.thaw()
    # The one more is that of this question.
    assert count(server, "total_connections") == before + 1
