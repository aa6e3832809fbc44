"""Latency as a client sees it: a small request to a server at a steady pace.

A prober has a connection and a thread of its own, so that it neither waits for scrapes nor makes
them wait. It writes nothing, unless a canary key is configured: then it stores that key when it is
missing, so that its gets count as hits.
"""

import threading
import time
from collections.abc import Callable

import structlog

from exporter.configuration import Server
from exporter.errors import ReadError, Reason
from exporter.memcached.connection import Connection
from exporter.memcached.door import Door
from exporter.memcached.server import NO_OP

OPERATIONS = ("noop", "get")

_CANARY = "0 0 6\r\ncanary"
"""Flags, expiry and length of what is stored, and the value."""
_LONGEST_ANSWER = 2 * 2**20

_log = structlog.get_logger()


class Prober:
    """Probes one server until it is stopped.

    ``observe`` is told operation, server and seconds of each answer, ``count_failure`` operation
    and server of what failed.
    """

    def __init__(
        self,
        server: Server,
        observe: Callable[[str, str, float], None],
        count_failure: Callable[[str, str], None],
    ) -> None:
        self.server = server
        self._observe = observe
        self._count_failure = count_failure
        self._door = Door(server.address, server.module)
        self._stopped = threading.Event()
        self._reporting = threading.Lock()
        self._connection: Connection | None = None
        self._thread = threading.Thread(
            target=self._run, name=f"probe {server.address.text}", daemon=True
        )

    @property
    def operations(self) -> tuple[str, ...]:
        """What is measured: a get only with a canary key."""
        return OPERATIONS if self.server.module.canary_key else OPERATIONS[:1]

    def start(self) -> None:
        """Begin; the first probe comes after one interval."""
        self._thread.start()

    def stop(self) -> None:
        """Tell the prober to end; a probe under way ends with its timeout."""
        with self._reporting:
            self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self.server.module.probe_interval):
            self.probe()
        self._drop()

    def probe(self) -> None:
        """Measure each operation once."""
        for operation in self.operations:
            try:
                seconds = self._measure_held(operation)
            except Exception as error:  # noqa: BLE001, whatever it is, the next probe must come
                self._drop()
                self._report(self._count_failure, operation, self.server.address.text)
                _log.debug("probe failed", server=self.server.address.text, error=str(error))
            else:
                self._report(self._observe, operation, self.server.address.text, seconds)

    def _report(self, tell: Callable[..., None], *what: object) -> None:
        """Tell of a probe, unless the prober was stopped meanwhile: its series are gone."""
        with self._reporting:
            if not self._stopped.is_set():
                tell(*what)

    def _measure_held(self, operation: str) -> float:
        """Measure, once more if the server has closed the held connection in the meantime."""
        held = self._connection is not None
        try:
            return self._measure(operation)
        except ReadError as error:
            if not held or error.reason is not Reason.CLOSED:
                raise
        self._drop()
        return self._measure(operation)

    def _measure(self, operation: str) -> float:
        deadline = time.monotonic() + self.server.module.timeout
        if self._connection is None:
            self._connection = self._door.open(deadline)
        key = self.server.module.canary_key
        command = NO_OP if operation == "noop" else f"get {key}"
        began = time.perf_counter()
        (reply,) = self._connection.exchange([command], deadline, _LONGEST_ANSWER)
        seconds = time.perf_counter() - began
        if reply.error or reply.body.startswith("VERSION") != (operation == "noop"):
            raise ReadError(Reason.PROTOCOL, f"the server answered {(reply.error or reply.body)!r}")
        if operation == "get" and not reply.body:
            self._connection.exchange([f"set {key} {_CANARY}"], deadline, _LONGEST_ANSWER)
        return seconds

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def probers(
    servers: tuple[Server, ...],
    observe: Callable[[str, str, float], None],
    count_failure: Callable[[str, str], None],
) -> list[Prober]:
    """Return a prober for each server whose module wants one."""
    return [
        Prober(server, observe, count_failure) for server in servers if server.module.probe_interval
    ]
