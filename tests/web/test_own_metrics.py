"""The exporter's own metrics without those of its servers."""

from collections.abc import Callable

import pytest

from tests.processes import Exporter, FakeMemcached, sample


def test_servers_can_be_left_out(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter]
) -> None:
    """Nothing is asked of memcached, and what is no server's is there."""
    server = fake()
    daemon = exporter(f"--memcached.address={server.address}")
    assert daemon.samples()[sample("memcached_up", server=server.address)] == 1
    own = daemon.samples("/metrics?servers=none")
    names = {name for name, _ in own}
    assert "memcached_up" not in names
    assert {"memcached_exporter_build_info", "memcached_host_cpus"} <= names
    everything = daemon.samples("/metrics?servers=all")
    assert everything[sample("memcached_up", server=server.address)] == 1


@pytest.mark.parametrize("query", ["servers=", "servers=some", "servers=127.0.0.1"])
def test_another_choice_is_400(exporter: Callable[..., Exporter], query: str) -> None:
    """The answer is one line with what can be written."""
    daemon = exporter("--memcached.address=127.0.0.1:1")
    answer = daemon.request(f"/metrics?{query}")
    assert (answer.status, answer.text) == (
        400,
        "servers: write all, or none for the exporter and its host alone\n",
    )
