"""A server of the fleet: its labels, its last state, and a log line when that changes."""

import re
import time
from collections.abc import Callable

import msgspec
import structlog

from exporter.configuration import Module
from exporter.errors import ForbiddenTargetError, ReadError, Reason
from exporter.host.host import Subject
from exporter.memcached.aggregation import Limits
from exporter.memcached.server import Reading, Server
from exporter.memcached.translation import Result, Translator, suffix

_NOBODY_THERE = {Reason.REFUSED, Reason.UNREACHABLE, Reason.DNS}

_log = structlog.get_logger()


class Outcome(msgspec.Struct, frozen=True):
    """How one scrape of one server went, and its samples."""

    result: Result
    suffix: str
    """What closes the samples' label lists."""
    module: Module
    """How the server is read."""
    subject: Subject
    """Whose process this is, for the metrics of the host."""
    error: ReadError | None = None
    reading: Reading | None = None
    taken: float = 0.0
    """When the server had answered, in seconds of ``time.monotonic``."""


class State(msgspec.Struct, frozen=True):
    """What is known of a server from its last scrape."""

    address: str
    up: bool | None = None
    """None before the first scrape."""
    reason: str = ""
    detail: str = ""
    version: str = ""
    left_out: dict[str, str] = {}
    """Section name to why it was not asked for."""
    failures: dict[str, str] = {}
    """Section name to the server's error line."""
    scraped: float = 0.0
    """Unix time of the last scrape, in seconds."""


class Member:
    """One server, read for ``/metrics`` (its samples with labels) or for ``/scrape`` (without)."""

    def __init__(self, server: Server, labels: tuple[tuple[str, str], ...] = ()) -> None:
        self.server = server
        self.key = (server.address, server.module, labels, server.pid_file)
        """Equal for servers that are configured alike."""
        self.state = State(address=server.address.text)
        self.used = time.monotonic()
        self._labels = (("server", server.address.text), *labels)
        self._suffix = suffix(self._labels)
        self._limits = Limits(
            top_clients=server.module.top_clients, max_prefixes=server.module.max_prefixes
        )
        self._strange: tuple[list[str], list[str]] = ([], [])

    def read(
        self,
        budget: float,
        translator: Translator,
        *,
        labelled: bool,
        count_error: Callable[[Reason], None],
    ) -> Outcome:
        """Scrape within ``budget`` seconds; all that goes wrong becomes an Outcome.

        Raises only ForbiddenTargetError.
        """
        own_suffix = self._suffix if labelled else ""
        began = self.used = time.monotonic()
        try:
            reading = self.server.read(began + min(budget, self.server.module.timeout))
            taken = time.monotonic()
            result = translator.success(reading, taken - began, self._limits)
        except ForbiddenTargetError:
            raise
        except ReadError as error:
            failure = error
        except Exception as error:  # noqa: BLE001
            # Whatever this is, it must not blank the metrics of the other servers.
            _log.exception("scrape failed inside the exporter", server=self.state.address)
            failure = ReadError(Reason.INTERNAL, repr(error))
        else:
            self._note_success(reading, result)
            subject = self._subject(labelled=labelled, reading=reading)
            how = self.server.module
            return Outcome(result, own_suffix, how, subject, reading=reading, taken=taken)
        count_error(failure.reason)
        self._note_failure(failure)
        result = translator.failure(time.monotonic() - began)
        subject = self._subject(labelled=labelled, failure=failure)
        return Outcome(result, own_suffix, self.server.module, subject, failure)

    def give_up(
        self, translator: Translator, count_error: Callable[[Reason], None], *, tried: bool
    ) -> Outcome:
        """Return the Outcome of a scrape that did not end within its time.

        When it was ``tried`` it is still under way, and notes its own end.
        """
        failure = ReadError(Reason.TIMEOUT, "too many servers are hung to try this one in time")
        if not tried:
            count_error(failure.reason)
            self._note_failure(failure)
        result, subject = translator.failure(0.0), self._subject(labelled=True)
        return Outcome(result, self._suffix, self.server.module, subject, failure)

    def _subject(
        self, *, labelled: bool, reading: Reading | None = None, failure: ReadError | None = None
    ) -> Subject:
        return Subject(
            server=self.state.address,
            labels=self._labels if labelled else (),
            answered=reading is not None,
            process=reading.process if reading else None,
            connected=failure is None or failure.reason not in _NOBODY_THERE,
            pid_file=self.server.pid_file,
        )

    def _note_success(self, reading: Reading, result: Result) -> None:
        before = self.state
        version = re.search(r"^STAT version (.*)$", reading.bodies["stats"], re.MULTILINE)
        self.state = State(
            address=before.address,
            up=True,
            version=version[1].strip() if version else "",
            left_out=reading.left_out,
            failures=reading.failures,
            scraped=time.time(),
        )
        log = _log.bind(server=before.address)
        if not before.up:
            log.info("server is up", version=self.state.version, dialled=reading.dialled)
        for section, why in reading.left_out.items():
            if before.left_out.get(section) != why:
                log.warning("section is left out", section=section, why=why)
        for section in reading.failures.keys() - before.failures.keys():
            text = reading.failures[section]
            log.warning("section cannot be read", section=section, error=text)
        for section in before.failures.keys() & reading.bodies.keys():
            log.info("section can be read again", section=section)
        self._note_strange(result)

    def _note_strange(self, result: Result) -> None:
        # Of a malformed line the key counts: the value may change at each scrape.
        malformed = [" ".join(line.split(" ", 2)[:2]) for line in result.malformed]
        strange = (result.unknown, malformed)
        if strange == self._strange:
            return
        if result.unknown != self._strange[0]:
            _log.debug("unknown statistics", server=self.state.address, keys=result.unknown)
        if malformed and malformed != self._strange[1]:
            _log.warning(
                "malformed values are left out",
                server=self.state.address,
                count=len(result.malformed),
                first=result.malformed[:3],
            )
        self._strange = strange

    def _note_failure(self, error: ReadError) -> None:
        before = self.state
        self.state = State(
            address=before.address,
            up=False,
            reason=error.reason,
            detail=str(error),
            version=before.version,
            left_out=before.left_out,
            failures=before.failures,
            scraped=time.time(),
        )
        if before.up is not False or before.reason != error.reason:
            _log.warning(
                "server cannot be read",
                server=before.address,
                reason=error.reason,
                error=str(error),
            )
