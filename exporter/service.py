"""What the daemon serves: servers, probers and routes of the configuration now in force.

A reload builds all of it anew from the files and swaps it whole, or changes nothing.
"""

import threading
from collections.abc import Callable, Iterable

import msgspec
import structlog

from exporter.configuration import Configuration
from exporter.discovery.discovery import Discovery
from exporter.errors import ConfigurationError
from exporter.host.host import Host
from exporter.memcached.fleet import Fleet
from exporter.memcached.prober import Prober, probers
from exporter.observation.history import History
from exporter.telemetry import Telemetry
from exporter.web.messages import Request, Response
from exporter.web.routes import Readers, Routes

_log = structlog.get_logger()


class Service:
    """The web application, with the means to load its configuration again.

    ``load`` reads flags and files as they are now. Raises ConfigurationError as that does.
    """

    def __init__(self, load: Callable[[], Configuration]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._closed = False
        self.telemetry = Telemetry()
        self._told = load()
        self.configuration = self._told
        """What was loaded, with the servers that were found."""
        self._discovery = Discovery(self._servers_changed, self.telemetry)
        self._fleet = Fleet(self.configuration, self.telemetry.count_error)
        self._host = Host(self.configuration.host)
        self._history = History(self.configuration.thresholds, self.configuration.ignored)
        self._routes = self._new_routes(complete=False)
        self._probers: list[Prober] = []
        self.telemetry.note_reload(success=True)

    def __call__(self, request: Request) -> Response:
        """Answer a request by the configuration in force."""
        return self._routes(request)

    def start(self) -> None:
        """Look for servers, and begin what goes on in the background."""
        with self._lock:
            self._discovery.follow(self._told.discovery)
            self._put_in_force()

    def reload(self) -> str:
        """Load the configuration again; return what is wrong with it, nothing when all is well.

        Servers that are configured as before keep their connections; where the exporter listens
        and how it logs stay as they were at the start.
        """
        with self._lock:
            try:
                self._told = self._load()
            except ConfigurationError as error:
                self.telemetry.note_reload(success=False)
                _log.error("configuration is not reloaded", error=str(error))
                return str(error)
            self._discovery.follow(self._told.discovery)
            self._put_in_force()
            self.telemetry.note_reload(success=True)
            _log.info("configuration reloaded", servers=len(self.configuration.servers))
            return ""

    def close(self) -> bool:
        """End probers, connections and threads; return whether no scrape is under way."""
        with self._lock:
            self._closed = True
            self._discovery.stop()
            self._stop(self._probers)
            closed = [self._host.close(), self._fleet.close()]
            return all(closed)

    def _servers_changed(self) -> None:
        with self._lock:
            if not self._closed:
                self._put_in_force()

    def _put_in_force(self) -> None:
        """Serve by what was loaded and found; servers that were there keep their connections."""
        complete = self._discovery.complete  # asked first, so it never says more than the servers
        servers = self._discovery.servers(self._told.servers)
        self.configuration = msgspec.structs.replace(self._told, servers=servers)
        before = self._fleet
        self._fleet = Fleet(self.configuration, self.telemetry.count_error, previous=before)
        if self.configuration.host != self._host.settings:
            self._host.close()
            self._host = Host(self.configuration.host)
        self._history.thresholds = self.configuration.thresholds
        self._history.ignored = self.configuration.ignored
        self._history.follow({server.address.text: server.module.name for server in servers})
        self._routes = self._new_routes(complete=complete)
        before.replaced(self._fleet)
        self._start_probers()

    def _start_probers(self) -> None:
        """Probe the servers whose modules want it; those that are configured as before go on."""
        running = {prober.server: prober for prober in self._probers}
        wanted = probers(
            self.configuration.servers,
            self.telemetry.observe_probe,
            self.telemetry.count_probe_failure,
        )
        self._probers = [running.pop(prober.server, prober) for prober in wanted]
        self._stop(running.values())
        for prober in self._probers:
            if prober in wanted:
                self.telemetry.expect_probes(prober.operations, prober.server.address.text)
                prober.start()

    def _new_routes(self, *, complete: bool) -> Routes:
        readers = Readers(self._fleet, self._host, self.telemetry, self._history, complete)
        return Routes(self.configuration, readers, self.reload)

    def _stop(self, ended: Iterable[Prober]) -> None:
        for prober in ended:
            prober.stop()
            self.telemetry.forget_probes(prober.operations, prober.server.address.text)
