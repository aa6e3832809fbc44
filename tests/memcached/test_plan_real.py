"""Real servers that would die of a question, and are not asked it."""

import time
from collections.abc import Callable

import pytest

from tests.memcached.support import COMMANDS, reader, scrape, store
from tests.processes import Exporter, Memcached, sample

DANGER = "`stats settings` kills memcached 1.6.9 to 1.6.39 that was started with -N"
REASONS = {f"{DANGER}, and this server shows signs of -N", f"{DANGER}, as this one was"}


def test_a_server_started_with_napi_ids_survives(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """A 1.6.18 with -N lives through 20 scrapes, without its settings and with all else."""
    server = memcached("-N", "2")
    store(server, {"a": b"b"})
    daemon = exporter(f"--memcached.address={server.address}")
    for _ in range(20):
        samples = daemon.samples()
        label = {"server": server.address}
        assert samples[sample("memcached_up", **label)] == 1
        for section in ("stats", "items", "slabs"):
            key = sample("memcached_scrape_section_success", section=section, **label)
            assert samples[key] == 1
        assert (
            sample("memcached_scrape_section_success", section="settings", **label) not in samples
        )
        assert samples[sample("memcached_slab_current_items", slab="1", **label)] == 1
    assert server.process.poll() is None
    assert daemon.log.count("section is left out") == 1


@pytest.mark.parametrize("option", [["-N", "2"], ["-N2"], ["-vN2"], ["--napi-ids=2"]], ids=str)
def test_no_spelling_of_the_option_kills_a_server(
    memcached: Callable[..., Memcached], option: list[str]
) -> None:
    """Each spelling that memcached takes is recognised before a counter gives it away."""
    server = memcached(*option)
    with reader(server.address) as held:
        read = scrape(held)
    assert sorted(read.bodies) == ["items", "slabs", "stats"]
    assert read.left_out["settings"] in REASONS
    assert server.process.poll() is None


def test_a_plain_local_server_gives_its_settings(memcached: Callable[..., Memcached]) -> None:
    """A local 1.6.18 without -N is asked for everything from the first scrape on."""
    with reader(memcached("-m", "48").address) as held:
        for _ in range(2):
            read = scrape(held)
            assert read.success == dict.fromkeys(COMMANDS, True)
            assert read.left_out == {}


def test_a_restart_with_the_option_is_noticed(memcached: Callable[..., Memcached]) -> None:
    """The plan belongs to the connection: a server that comes back with -N is not asked again."""
    plain = memcached()
    with reader(plain.address) as held:
        assert "settings" in scrape(held).bodies
        plain.stop()
        dangerous = memcached("-N", "2", port=plain.port)
        deadline = time.monotonic() + 5
        assert "settings" not in held.read(deadline).bodies
        assert "settings" not in held.read(deadline).bodies
    assert dangerous.process.poll() is None
