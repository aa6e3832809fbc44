"""What a look at a source of servers brings."""

from collections.abc import Callable, Iterable

import msgspec

from exporter.addresses import parse_address
from exporter.configuration import DnsDiscovery, ElastiCacheDiscovery, Server


class Finding(msgspec.Struct, frozen=True):
    """The servers of a source, and what was wrong with a part of it."""

    servers: tuple[Server, ...]
    trouble: str = ""
    """Why a part is as it was before, or missing; empty when all is well."""
    complete: bool = True
    """False when something is missing that was never read."""


def finding(texts: Iterable[str], source: DnsDiscovery | ElastiCacheDiscovery) -> Finding:
    """Return the servers of a source, by their addresses. Raises AddressError."""
    return Finding(
        tuple(
            Server(address=parse_address(text), module=source.module, labels=source.labels)
            for text in texts
        )
    )


Find = Callable[[], Finding]
"""Looks at a source. Raises DiscoveryError when nothing of it can be read now."""
