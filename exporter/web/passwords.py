"""Passwords of clients, held against bcrypt hashes.

One check costs 60 ms of a processor and more, by design; Prometheus asks every few seconds. So what
was found is remembered, under a keyed digest that tells nothing of the password. Those that were
not seen before are checked one at a time, and few may wait: guessing takes no more than one
processor, and delays nobody whose password is known.
"""

import hashlib
import secrets
import threading
from collections.abc import Mapping

import bcrypt

MOST_REMEMBERED = 1024
"""Good passwords that are remembered, and as many bad ones."""
MOST_WAITING = 32
"""Clients whose password is being checked or waits for it."""
_BCRYPT_BYTES = 72
"""Bytes of a password that bcrypt takes into account."""


class BusyError(Exception):
    """Too many passwords wait to be checked."""


class Passwords:
    """Tells right passwords from wrong ones."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._found: dict[bool, dict[bytes, None]] = {True: {}, False: {}}
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)
        self._turn = threading.Lock()

    def right(self, users: Mapping[bytes, bytes], name: bytes, password: bytes) -> bool:
        """Return whether a user has this password; ``users`` has the hash of each, at least one.

        A name that is no user's costs the same time as one that is. Raises BusyError.
        """
        known = name in users
        stored = users[name] if known else self._stand_in(users, name)
        ticket = self._digest(b"known" if known else b"unknown", name, password, stored)
        found = self._remembered(ticket)
        if found is not None:
            return found
        if not self._waiting.acquire(blocking=False):
            raise BusyError
        try:
            with self._turn:
                found = self._remembered(ticket)
                if found is None:
                    found = bcrypt.checkpw(password[:_BCRYPT_BYTES], stored) and known
                    self._remember(ticket, found)
        finally:
            self._waiting.release()
        return found

    def _stand_in(self, users: Mapping[bytes, bytes], name: bytes) -> bytes:
        """Return the hash to check an unknown name against: always the same one for a name."""
        hashes = sorted(users.values())
        return hashes[int.from_bytes(self._digest(b"stand-in", name)) % len(hashes)]

    def _digest(self, *parts: bytes) -> bytes:
        digest = hashlib.blake2b(key=self._secret, digest_size=32)
        for part in parts:
            digest.update(len(part).to_bytes(8))
            digest.update(part)
        return digest.digest()

    def _remembered(self, ticket: bytes) -> bool | None:
        with self._lock:
            for found, tickets in self._found.items():
                if ticket in tickets:
                    # The last to be asked for is the last to be forgotten.
                    del tickets[ticket]
                    tickets[ticket] = None
                    return found
        return None

    def _remember(self, ticket: bytes, found: bool) -> None:  # noqa: FBT001
        with self._lock:
            tickets = self._found[found]
            while len(tickets) >= MOST_REMEMBERED:
                del tickets[next(iter(tickets))]
            tickets[ticket] = None
