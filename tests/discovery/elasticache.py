"""Configuration endpoints: the fake that knows ElastiCache's command, and real servers' old way."""

import contextlib
from pathlib import Path

from exporter.addresses import parse_address
from exporter.configuration import ElastiCacheDiscovery, Module
from exporter.discovery.elasticache import elasticache_finder
from exporter.discovery.finding import Find
from tests.discovery.support import modules
from tests.processes import Memcached

COMMAND = "config get cluster"
OLD_COMMAND = "get AmazonElastiCache:cluster"
KEY = "AmazonElastiCache:cluster"

DOCUMENTED = (
    "12\n"
    "myCluster.pc4ldq.0001.use1.cache.amazonaws.com|10.82.235.120|11211"
    " myCluster.pc4ldq.0002.use1.cache.amazonaws.com|10.80.249.27|11211\n"
)
"""The example in AWS' documentation of auto discovery, which gives its length as 136."""


def payload(*nodes: str, version: int = 12) -> str:
    """Return what an endpoint says of these nodes, each of which is ``host|ip|port``."""
    return f"{version}\n{' '.join(nodes)}\n"


def answer(text: str, head: str = "CONFIG cluster 0") -> str:
    """Return an answer to the command, as it comes over the wire."""
    return f"{head} {len(text)}\r\n{text}\r\nEND\r\n"


def raw(path: Path, text: str, command: str = COMMAND) -> tuple[str, str]:
    """Return the flags that make the fake server answer a command with this text."""
    path.write_bytes(text.encode("latin-1"))
    return "--raw", f"{command}={path}"


def find(address: str, module: Module | None = None, **labels: str) -> Find:
    """Return what asks an endpoint."""
    source = ElastiCacheDiscovery(
        address=parse_address(address),
        refresh=60.0,
        module=module or modules()["default"],
        labels=tuple(labels.items()),
    )
    return elasticache_finder(source)


def announce(endpoint: Memcached, *nodes: Memcached | str) -> None:
    """Let a real server be the configuration endpoint of these nodes, as engines of old are."""
    lines = [n if isinstance(n, str) else f"{n.host}|{n.host}|{n.port}" for n in nodes]
    tell(endpoint, payload(*lines))


def tell(endpoint: Memcached, text: str) -> None:
    """Let a real server say this, or know of no cluster if it is empty."""
    with contextlib.closing(endpoint.client()) as client:
        if text:
            client.set(KEY, text, noreply=False)
        else:
            client.delete(KEY, noreply=False)
