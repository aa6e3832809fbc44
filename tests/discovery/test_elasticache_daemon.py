"""A daemon whose servers an ElastiCache endpoint lists: a real server that knows the old way."""

from collections.abc import Callable

import pytest

from tests.discovery.elasticache import announce, tell
from tests.discovery.support import on_page, sd, sources, up
from tests.processes import Memcached
from tests.resilience.support import Daemon
from tests.web.clients import eventually

Start = Callable[..., Daemon]
Memcacheds = Callable[..., Memcached]


def config(endpoint: Memcached) -> str:
    """Return a configuration that asks this endpoint."""
    return (
        "modules: {brief: {sections: []}}\n"
        "discovery:\n"
        "  elasticache:\n"
        f"  - {{endpoint: '{endpoint.address}', refresh: 50ms, module: brief,"
        " labels: {cluster: web}}\n"
    )


def test_nodes_come_and_go(memcached: Memcacheds, start: Start) -> None:
    """The nodes are the servers, with the module and labels of the source; the endpoint is none."""
    endpoint, first, second = memcached(), memcached(), memcached()
    announce(endpoint, first)
    daemon = start(config(endpoint))
    source = f"elasticache:{endpoint.address}"
    assert up(daemon, first.address, cluster="web") == 1
    assert on_page(daemon) == {first.address: 1}
    assert sources(daemon) == {"static": 0, source: 1}
    announce(endpoint, first, second)
    assert eventually(lambda: on_page(daemon) == {first.address: 1, second.address: 1})
    assert [group["labels"]["__param_module"] for group in sd(daemon)] == ["brief"] * 2
    announce(endpoint, second)
    assert eventually(lambda: on_page(daemon) == {second.address: 1})
    assert sources(daemon, "failures_total")[source] == 0
    assert daemon.warnings() == []


@pytest.mark.parametrize("fault", ["forgotten", "torn", "gone", "frozen"])
def test_faults_keep_the_list(memcached: Memcacheds, start: Start, fault: str) -> None:
    """Whatever happens to the endpoint, its servers stay, and the failures count."""
    endpoint, node, other = memcached(), memcached(), memcached()
    announce(endpoint, node)
    daemon = start(config(endpoint))
    source = f"elasticache:{endpoint.address}"
    assert on_page(daemon) == {node.address: 1}
    match fault:
        case "forgotten":
            tell(endpoint, "")
        case "torn":
            tell(endpoint, f"13\n{other.host}|{other.host}|{other.port} 127.0.0.1|127.")
        case "gone":
            endpoint.stop()
        case "frozen":
            endpoint.freeze()
    assert eventually(lambda: sources(daemon, "failures_total")[source] >= 2, 30)
    assert on_page(daemon) == {node.address: 1}
    assert sources(daemon)[source] == 1
    assert [group["labels"]["instance"] for group in sd(daemon)] == [node.address]
    warnings = daemon.warnings()
    # An endpoint that ends while it is asked is told of first as one that closes.
    assert 1 <= len(warnings) <= (2 if fault == "gone" else 1)
    for warning in warnings:
        assert f"source={source}" in warning
        assert "what was found before stays" in warning
    last = sources(daemon, "last_success_timestamp_seconds")[source]
    if fault == "frozen":
        endpoint.thaw()
    if fault == "gone":
        endpoint.restart()
    announce(endpoint, node, other)
    assert eventually(lambda: on_page(daemon) == {node.address: 1, other.address: 1})
    assert sources(daemon, "last_success_timestamp_seconds")[source] > last
    assert "discovery works again" in daemon.log


def test_an_endpoint_that_was_never_there(memcached: Memcacheds, start: Start) -> None:
    """The daemon starts without it; /sd waits for the first list."""
    endpoint, node = memcached(), memcached()
    daemon = start(config(endpoint))
    assert on_page(daemon) == {}
    assert daemon.request("/sd").status == 503
    announce(endpoint, node)
    assert eventually(lambda: daemon.request("/sd").status == 200)
    assert on_page(daemon) == {node.address: 1}
