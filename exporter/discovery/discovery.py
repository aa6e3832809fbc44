"""All sources of servers, and the one list that they make."""

import time
from collections.abc import Callable, Sequence

import structlog

from exporter.configuration import DiscoverySource, Server
from exporter.discovery.watcher import Watcher
from exporter.telemetry import Telemetry

STATIC = "static"
"""What the list in the configuration is called beside the sources."""
_FIRST_LOOK_SECONDS = 3.0
"""Time that the start, or a reload, gives to sources to be looked at once."""

_log = structlog.get_logger()


class Discovery:
    """Watches sources; ``changed`` is called from their threads when there are other servers."""

    def __init__(self, changed: Callable[[], None], telemetry: Telemetry) -> None:
        self._changed = changed
        self._telemetry = telemetry
        self._watchers: list[Watcher] = []
        self._conflicts: list[str] = []

    @property
    def complete(self) -> bool:
        """Whether all of every source was read at least once."""
        return not self.unread

    @property
    def unread(self) -> tuple[str, ...]:
        """Names of the sources of which something was never read."""
        return tuple(watcher.source.name for watcher in self._watchers if not watcher.complete)

    def follow(self, sources: Sequence[DiscoverySource]) -> None:
        """Watch these sources from now on, and wait a little for the first look at new ones.

        Those that are watched already go on with what they have found, also when they are to be
        watched in another way.
        """
        kept = [watcher for watcher in self._watchers if watcher.source in sources]
        for watcher in self._watchers:
            if watcher not in kept:
                watcher.stop()
        known = [watcher.source for watcher in kept]
        before = {watcher.source.name: watcher for watcher in self._watchers}
        fresh = [
            Watcher(source, self._changed, self._telemetry, before.get(source.name))
            for source in sources
            if source not in known
        ]
        for watcher in fresh:
            watcher.start()
        order = [*kept, *fresh]
        self._watchers = sorted(order, key=lambda watcher: sources.index(watcher.source))
        deadline = time.monotonic() + _FIRST_LOOK_SECONDS
        for watcher in fresh:
            watcher.tried.wait(max(0.0, deadline - time.monotonic()))

    def servers(self, static: Sequence[Server]) -> tuple[Server, ...]:
        """Return the servers of the configuration and then those of the sources, each once.

        Of a server that is found several times, the first way counts.
        """
        found: dict[str, Server] = {}
        conflicts: list[str] = []
        for servers in (static, *(watcher.servers for watcher in self._watchers)):
            for server in servers:
                first = found.setdefault(server.address.endpoint, server)
                if (dict(first.labels), first.module) != (dict(server.labels), server.module):
                    conflicts.append(server.address.text)
        self._telemetry.note_discovery(STATIC, servers=len(static), success=True)
        if conflicts and conflicts != self._conflicts:
            _log.warning(
                "servers are listed twice with other labels or modules: the first one counts",
                count=len(conflicts),
                servers=conflicts[:3],
            )
        self._conflicts = conflicts
        return tuple(found.values())

    def stop(self) -> None:
        """Watch nothing any more."""
        for watcher in self._watchers:
            watcher.stop()
