"""The host as one page sees it: all collectors, read by a thread of their own within a time.

A file of the kernel can keep its reader waiting, for a lock of the network card's driver say. A
page does not wait for that: what is missing is said to have failed, and the servers' metrics go
out.
"""

import contextlib
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import msgspec
import structlog

from exporter.catalogue.host.collectors import HOST_SECTIONS, PROCESS_SECTIONS
from exporter.configuration import HostSettings
from exporter.host.collector import Collector, Gathered
from exporter.host.process import Process, find, is_running
from exporter.host.sources import HOST_SOURCES, PROCESS_SOURCES

_PATIENCE = 1.0
"""Longest time that a page waits for the host, in seconds."""
_LEAST_PATIENCE = 0.04
"""What each errand gets out of the margin when the servers have used up all time."""
_FORGET_SECONDS = 300.0

_log = structlog.get_logger()

Labels = tuple[tuple[str, str], ...]


class Subject(msgspec.Struct, frozen=True):
    """A server whose process is read if it runs on this host."""

    server: str
    """Its address as configured."""
    labels: Labels
    """Labels for the samples of its process, ``server`` included where it is wanted."""
    answered: bool = False
    """Whether it was read now, so that ``process`` says where it runs."""
    process: Process | None = None
    connected: bool = True
    """False when nobody took the connection: the name may lead elsewhere by now."""
    pid_file: str = ""
    """File that holds the process number, as this host sees it; empty for none."""


class Portion(msgspec.Struct, frozen=True):
    """What one collector brought, and the labels that its samples carry besides their own."""

    gathered: Gathered
    labels: Labels = ()


class Errand:
    """A reading of some collectors, under way; ``task`` is None when it could not begin."""

    def __init__(self, steps: list[tuple[Collector, Labels]]) -> None:
        self.steps = steps
        self.done: list[Portion] = []
        self.task: Future[None] | None = None
        self.began = time.monotonic()

    def result(self, deadline: float) -> list[Portion]:
        """Wait, at most until ``deadline`` (``time.monotonic``), and return what was read.

        Collectors that were not read in time come as failed.
        """
        if self.task:
            # Patience begins with the errand: a page has two, which it does not wait for in turn.
            patience = min(deadline, self.began + _PATIENCE) - time.monotonic()
            wait([self.task], max(patience, _LEAST_PATIENCE))
            self.task.cancel()
        done = self.done.copy()
        seconds = time.monotonic() - self.began
        late = [
            Portion(Gathered(collector.section, [], success=False, seconds=seconds), labels)
            for collector, labels in self.steps[len(done) :]
        ]
        return done + late


class _Known:
    """A server's process with what reads it, and when that was last asked for."""

    def __init__(self, process: Process, collectors: list[Collector]) -> None:
        self.process = process
        self.collectors = collectors
        """They remember what threads that have ended had counted."""
        self.used = time.monotonic()


class Host:
    """All that is read of the host; safe to use from several threads."""

    def __init__(self, settings: HostSettings) -> None:
        self.settings = settings
        self._collectors = [
            Collector(section, HOST_SOURCES[section.name](settings))
            for section in HOST_SECTIONS
            if section.name in settings.collectors
        ]
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()
        # One thread: sources need no locks, and one that hangs cannot take more threads with it.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="host")
        self._reading: tuple[str, float] | None = None
        self._hung = ""

    def begin(self) -> Errand:
        """Begin to read what concerns the whole host."""
        return self._submit(Errand([(collector, ()) for collector in self._collectors]))

    def begin_processes(self, subjects: Iterable[Subject]) -> Errand:
        """Begin to read the processes of those servers that run on this host."""
        steps: list[tuple[Collector, Labels]] = []
        with self._lock:
            for subject in subjects:
                steps += [(one, subject.labels) for one in self._collectors_of(subject)]
            self._forget()
        return self._submit(Errand(steps))

    def close(self) -> bool:
        """Let the thread end; return whether it has nothing more to do."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        return self._reading is None

    def _submit(self, errand: Errand) -> Errand:
        """Hand an errand to the thread, unless a source keeps that from an earlier one."""
        reading = self._reading
        hung = reading[0] if reading and time.monotonic() - reading[1] > _PATIENCE else ""
        if hung != self._hung:
            self._hung = hung
            if hung:
                _log.warning("a source of host metrics does not answer", collector=hung)
            else:
                _log.info("sources of host metrics answer again")
        if errand.steps and not hung:
            with contextlib.suppress(RuntimeError):  # closed by a reload that was quicker
                errand.task = self._executor.submit(self._run, errand)
        return errand

    def _run(self, errand: Errand) -> None:
        for collector, labels in errand.steps:
            self._reading = (collector.section.name, time.monotonic())
            errand.done.append(Portion(collector.gather(errand.began), labels))
        self._reading = None

    def _collectors_of(self, subject: Subject) -> list[Collector]:
        """Return what reads the process of a server; a server that is silent keeps its own."""
        known = self._known.get(subject.server)
        process = subject.process
        if not subject.answered and known and subject.connected and is_running(known.process):
            process = known.process
        elif not subject.answered and subject.pid_file:
            process = find(None, 0.0, subject.pid_file, self.settings)
        if process is None:
            self._known.pop(subject.server, None)
            return []
        if known is None or known.process != process:
            known = _Known(process, self._process_collectors(process, subject.server))
            self._known[subject.server] = known
        known.used = time.monotonic()
        return known.collectors

    def _process_collectors(self, process: Process, server: str) -> list[Collector]:
        return [
            Collector(section, PROCESS_SOURCES[section.name](process, self.settings), server)
            for section in PROCESS_SECTIONS
            if section.name in self.settings.collectors
        ]

    def _forget(self) -> None:
        """Drop what is known of servers that nobody asks for any more."""
        stale = time.monotonic() - _FORGET_SECONDS
        for server in [name for name, known in self._known.items() if known.used < stale]:
            del self._known[server]
