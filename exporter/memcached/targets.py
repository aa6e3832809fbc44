"""Servers that clients ask for by ``/scrape`` though they are not configured so."""

import resource
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from exporter.memcached.member import Member

Key = tuple[str, str, bool]
"""Endpoint, name of the module, and whether any IP address may be dialled."""

_MOST_TARGETS = 16384
_DESCRIPTOR_SHARE = 3
"""Of the descriptors that the exporter may have, targets hold one in so many at most."""
_IDLE_SECONDS = 300.0


class Targets:
    """Remembers targets as long as they are asked for; safe to use from several threads."""

    def __init__(self) -> None:
        self._members: OrderedDict[Key, Member] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = min(_MOST_TARGETS, descriptors // _DESCRIPTOR_SHARE)

    def remember(self, key: Key, make: Callable[[], Member]) -> Member:
        """Return the member of a target, so that its connection is held between scrapes."""
        with self._lock:
            member = self._members.get(key)
            if member is None:
                member = self._members[key] = make()
            self._members.move_to_end(key)
            member.used = time.monotonic()
            if self._closed:
                member.server.close()
            self._forget()
            return member

    def close(self) -> bool:
        """Close all held connections that no scrape uses; return whether that is all of them.

        What is asked for later connects, and closes at its end.
        """
        with self._lock:
            self._closed = True
            closed = [member.server.close() for member in self._members.values()]
            return all(closed)

    def _forget(self) -> None:
        """Drop targets that nobody asks for any more, so that names cannot pile up."""
        while self._members:
            key, oldest = next(iter(self._members.items()))
            stale = oldest.used < time.monotonic() - _IDLE_SECONDS
            if not stale and len(self._members) <= self._most:
                return
            oldest.server.close()
            del self._members[key]
