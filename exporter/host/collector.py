"""How a source of the host is read: what may go wrong stays with it, and changes are logged."""

import math
import time
from collections.abc import Callable, Iterable

import msgspec
import structlog

from exporter.catalogue.row import Section
from exporter.host.reading import ABSENT

Sample = tuple[str, tuple[str, ...], float]
"""The key of a row, the values of its ``dynamic`` labels, and the number in base units."""

Read = Callable[[], Iterable[Sample]]
"""Reads a source. What the host does not have raises OSError, nonsense in it ValueError."""

_log = structlog.get_logger()


class Gathered(msgspec.Struct, frozen=True):
    """What one collector brought."""

    section: Section
    samples: list[Sample]
    success: bool | None
    """None when this host does not have the source."""
    seconds: float


class Collector:
    """A source with its name and last state; a line is logged when that changes."""

    def __init__(self, section: Section, read: Read, server: str = "") -> None:
        self.section = section
        self._read = read
        self._named = {"collector": section.name} | ({"server": server} if server else {})
        self._trouble = ""
        self._warned = False
        self._last: tuple[float, Gathered] | None = None
        """When the last reading began, and what it brought."""

    def gather(self, asked: float = math.inf) -> Gathered:
        """Read the source, unless that was begun after ``asked`` (``time.monotonic``).

        Nothing is raised. Pages that wait at the same time share what is read for one of them.
        """
        if self._last and self._last[0] >= asked:
            return self._last[1]
        began = time.monotonic()
        samples: list[Sample] = []
        success: bool | None = True
        trouble = ""
        try:
            samples = list(self._read())
        except OSError as error:
            success = None if error.errno in ABSENT else False
            trouble = f"{error.filename or self.section.command}: {(error.strerror or '').lower()}"
        except Exception as error:  # noqa: BLE001
            # Whatever this is, it must not blank the other metrics.
            success, trouble = False, f"{self.section.command}: {error!r}"
        self._note(trouble, absent=success is None)
        gathered = Gathered(self.section, samples, success, time.monotonic() - began)
        self._last = began, gathered
        return gathered

    def _note(self, trouble: str, *, absent: bool) -> None:
        if trouble == self._trouble:
            return
        log = _log.bind(**self._named)
        if absent:
            log.debug("this host does not have the source", error=trouble)
        elif trouble:
            log.warning("host metrics cannot be read", error=trouble)
        elif self._warned:
            log.info("host metrics can be read again")
        else:
            log.debug("this host has the source again")
        self._trouble = trouble
        self._warned = bool(trouble) and (self._warned or not absent)
