"""What a look at a source of servers brings."""

from collections.abc import Callable

import msgspec

from exporter.configuration import Server


class Finding(msgspec.Struct, frozen=True):
    """The servers of a source, and what was wrong with a part of it."""

    servers: tuple[Server, ...]
    trouble: str = ""
    """Why a part is as it was before, or missing; empty when all is well."""
    complete: bool = True
    """False when something is missing that was never read."""


Find = Callable[[], Finding]
"""Looks at a source. Raises DiscoveryError when nothing of it can be read now."""
