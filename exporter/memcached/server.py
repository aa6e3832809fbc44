"""One memcached server, read over one held connection."""

import threading
import time

import msgspec

from exporter.addresses import Address
from exporter.catalogue import SECTIONS
from exporter.configuration import HostSettings, Module
from exporter.errors import ReadError, Reason
from exporter.host.process import Process, arguments, find
from exporter.memcached.connection import Connection, Permit
from exporter.memcached.door import Door
from exporter.memcached.plan import Plan, facts, plan
from exporter.memcached.replies import Reply

NO_OP = "version"
"""What is sent alone to measure a round trip: every release answers it, also proxies, which would
count the meta no-op `mn` as a client's request, and servers older than that."""

_APART = "detail"
"""A key prefix that a client of memcached makes can hold line ends, and so end the reply early."""

_COMMANDS = {section.name: section.command for section in SECTIONS}


class Reading(msgspec.Struct, frozen=True):
    """What one scrape of a server brought."""

    bodies: dict[str, str]
    """Section name to reply body."""
    success: dict[str, bool]
    """Section name to whether it was read; sections that were not asked for are absent."""
    left_out: dict[str, str]
    """Section name to the reason why it was not asked for."""
    ping_seconds: float
    dialled: str
    """The IP address and port, or the path, that the connection goes to."""
    certificate_expires: float | None = None
    """When the server's certificate ends, in Unix seconds; None without TLS."""
    process: Process | None = None
    """The server's process; None when it does not run on this host, or cannot be proved to."""
    failures: dict[str, str] = {}
    """Section name to the server's error line, where it could not be read."""
    connect_seconds: float | None = None
    """How long it took to connect; None when the connection was held already."""
    statistics_seconds: float = 0.0
    """How long it took to ask and to be answered, the ping left out."""


class Server:
    """A memcached server with its held connection; safe to use from several threads.

    One scrape at a time uses the connection: it still answers when the server is full.
    """

    def __init__(
        self,
        address: Address,
        module: Module,
        permit: Permit | None = None,
        host: HostSettings | None = None,
        pid_file: str = "",
    ) -> None:
        self.address = address
        self.module = module
        self.pid_file = pid_file
        self._host = host or HostSettings()
        self._door = Door(address, module, permit)
        self._lock = threading.Lock()
        self._closing = False
        self._connection: Connection | None = None
        self._plan = Plan(sections=(), left_out={})
        self._process: Process | None = None

    def read(self, deadline: float) -> Reading:
        """Read all sections until ``deadline`` (``time.monotonic``).

        A held connection that turns out to be closed is made anew once, in the same scrape. Raises
        ReadError, and ForbiddenTargetError when the address may not be dialled.
        """
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise ReadError(Reason.TIMEOUT, "another scrape of this server still waits for it")
        try:
            if time.monotonic() >= deadline:
                raise ReadError(Reason.TIMEOUT, "no time was left to ask the server")
            held = self._connection is not None
            try:
                return self._read(deadline)
            except ReadError as error:
                if not held or error.reason is not Reason.CLOSED:
                    raise
                return self._read(deadline)
        finally:
            self._lock.release()
            # Only now: a close that came a moment earlier found the lock taken and left it to us.
            if self._closing:
                self.close()

    def close(self) -> bool:
        """Hold no connection any more: close it now, or after the scrape that uses it.

        Return whether it was now. A later scrape connects, and closes at its end.
        """
        self._closing = True
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._drop()
        finally:
            self._lock.release()
        return True

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _read(self, deadline: float) -> Reading:
        try:
            began = time.perf_counter()
            connection, connect_seconds = self._connection, None
            if connection is None:
                connection = self._connection = self._door.open(deadline)
                connect_seconds = time.perf_counter() - began
                replies = self._introduce(connection, deadline)
            else:
                replies = self._ask(connection, ["stats", *self._together()], deadline)
                _check(replies["stats"])
            statistics_seconds = time.perf_counter() - began - (connect_seconds or 0.0)
            ping_seconds = self._ping(connection, deadline)
            if _APART in self._plan.sections:
                replies |= self._ask_apart(connection, deadline)
            reading = self._reading(connection, replies, ping_seconds)
            return msgspec.structs.replace(
                reading, connect_seconds=connect_seconds, statistics_seconds=statistics_seconds
            )
        except BaseException:
            # A late or torn answer would be taken for the next one.
            self._drop()
            raise

    def _introduce(self, connection: Connection, deadline: float) -> dict[str, Reply]:
        """Plan what to ask from what `version` and `stats` alone say, and ask it."""
        try:
            version, stats = connection.exchange(
                [NO_OP, "stats"], deadline, self.module.max_reply_bytes
            )
            _check_in_step(version)
        except ReadError as error:
            self._door.explain(error, deadline)
            raise
        _check(stats)
        known = facts(stats.body)
        # Now: a later answer would be of another age than the process.
        self._process = find(connection.evidence(known.pid), known.age, self.pid_file, self._host)
        self._plan = plan(
            self.module.sections,
            known,
            assume_no_napi_ids=self.module.assume_no_napi_ids,
            arguments=lambda: arguments(self._process) if self._process else None,
        )
        return {"stats": stats, **self._ask(connection, self._together(), deadline)}

    def _together(self) -> list[str]:
        """The planned sections that go out in one write."""
        return [section for section in self._plan.sections if section != _APART]

    def _ask(
        self, connection: Connection, sections: list[str], deadline: float
    ) -> dict[str, Reply]:
        commands = [_COMMANDS[section] for section in sections]
        replies = connection.exchange(commands, deadline, self.module.max_reply_bytes)
        return dict(zip(sections, replies, strict=True))

    def _ask_apart(self, connection: Connection, deadline: float) -> dict[str, Reply]:
        """Ask for what a client of the server can spoil: its failure is that section's alone."""
        try:
            reply, end = connection.exchange(
                [_COMMANDS[_APART], NO_OP], deadline, self.module.max_reply_bytes
            )
            _check_in_step(end)
        except ReadError as error:
            if error.reason is not Reason.PROTOCOL:
                raise
            self._drop()
            reply = Reply("", error=f"SERVER_ERROR {error}")
        return {_APART: reply}

    def _ping(self, connection: Connection, deadline: float) -> float:
        before = time.perf_counter()
        (reply,) = connection.exchange([NO_OP], deadline, self.module.max_reply_bytes)
        seconds = time.perf_counter() - before
        _check_in_step(reply)
        return seconds

    def _reading(
        self, connection: Connection, replies: dict[str, Reply], ping_seconds: float
    ) -> Reading:
        unsupported = {
            section: f"the server answered {reply.error!r}"
            for section, reply in replies.items()
            if reply.error and not reply.error.startswith("SERVER_ERROR")
        }
        if unsupported:
            self._plan = Plan(
                sections=tuple(s for s in self._plan.sections if s not in unsupported),
                left_out=self._plan.left_out | unsupported,
            )
        asked = {name: reply for name, reply in replies.items() if name not in unsupported}
        return Reading(
            bodies={name: reply.body for name, reply in asked.items() if not reply.error},
            success={name: not reply.error for name, reply in asked.items()},
            failures={name: reply.error for name, reply in asked.items() if reply.error},
            left_out=self._plan.left_out,
            ping_seconds=ping_seconds,
            dialled=connection.dialled,
            certificate_expires=connection.certificate_expires(),
            process=self._process,
        )


def _check(stats: Reply) -> None:
    """Refuse a `stats` reply that says nothing: the server is no memcached, or asks for more."""
    if stats.error or not stats.body.startswith("STAT "):
        answer = stats.error or stats.body[:80] or "END"
        raise ReadError(Reason.PROTOCOL, f"the server answered `stats` with {answer!r}")


def _check_in_step(reply: Reply) -> None:
    """Refuse anything but the answer to the no-op: one answer too many would shift all others."""
    if not (reply.error or reply.body.startswith("VERSION")):
        raise ReadError(Reason.PROTOCOL, "the server's answers are out of step with the questions")
