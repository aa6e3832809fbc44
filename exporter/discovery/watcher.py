"""One source of servers, looked at again and again in the background."""

import threading
from collections.abc import Callable

import structlog

from exporter.configuration import DiscoverySource, DnsDiscovery, FileDiscovery, Server
from exporter.discovery.elasticache import elasticache_finder
from exporter.discovery.files import FileFinder
from exporter.discovery.finding import Find
from exporter.errors import DiscoveryError
from exporter.telemetry import Telemetry

_FILE_SECONDS = 1.0
"""Between looks at files, of which only the changed ones are read."""

_log = structlog.get_logger()


def _finder(source: DiscoverySource) -> Find:
    if isinstance(source, FileDiscovery):
        return FileFinder(source)
    if isinstance(source, DnsDiscovery):
        from exporter.discovery.dns import dns_finder  # noqa: PLC0415, costs 16 MB

        return dns_finder(source)
    return elasticache_finder(source)


class Watcher:
    """Looks at a source in a thread of its own; what was good last stays when a look fails.

    ``changed`` is called from that thread when there are other servers than before.
    """

    def __init__(
        self,
        source: DiscoverySource,
        changed: Callable[[], None],
        telemetry: Telemetry,
        before: "Watcher | None" = None,
    ) -> None:
        self.source = source
        self.servers: tuple[Server, ...] = ()
        self.complete = False
        """False until all of the source was read once."""
        self.tried = threading.Event()
        """Set after the first look."""
        self._changed = changed
        self._telemetry = telemetry
        self._find = _finder(source)
        if before:
            self._inherit(before)
        self._seconds = _FILE_SECONDS if isinstance(source, FileDiscovery) else source.refresh
        self._trouble = ""
        self._ended = threading.Event()
        self._noting = threading.Lock()

    def _inherit(self, before: "Watcher") -> None:
        """Begin with what was found of this source when it was configured otherwise."""
        self.complete = before.complete
        if isinstance(self._find, FileFinder) and isinstance(before._find, FileFinder):  # noqa: SLF001
            self._find.inherit(before._find)  # noqa: SLF001, of its own kind
            self.servers = self._find.known()
        elif not isinstance(self.source, FileDiscovery):
            module, labels = self.source.module, self.source.labels
            self.servers = tuple(
                Server(address=server.address, module=module, labels=labels)
                for server in before.servers
            )

    def start(self) -> None:
        """Begin to look."""
        self._telemetry.expect_discovery(self.source.name)
        name = f"discovery {self.source.name}"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        with self._noting:
            self._ended.set()
            self._telemetry.forget_discovery(self.source.name)

    def _run(self) -> None:
        while True:
            before = self.servers, self.complete
            self._look()
            self.tried.set()
            if before != (self.servers, self.complete):
                self._changed()
            if self._ended.wait(self._seconds):
                return

    def _look(self) -> None:
        try:
            finding = self._find()
        except DiscoveryError as error:
            self._note(str(error))
        except Exception as error:  # noqa: BLE001
            # Whatever this is, the next look may be better.
            self._note(repr(error))
        else:
            if finding.servers != self.servers:
                _log.info(
                    "servers found",
                    source=self.source.name,
                    servers=len(finding.servers),
                    before=len(self.servers),
                )
            self.servers = finding.servers
            # A file that is new and bad does not take the others' changes from Prometheus.
            self.complete = self.complete or finding.complete
            self._note(finding.trouble)

    def _note(self, trouble: str) -> None:
        with self._noting:
            if self._ended.is_set():
                return
            self._telemetry.note_discovery(
                self.source.name, servers=len(self.servers), success=not trouble
            )
        if trouble and trouble != self._trouble:
            _log.warning(
                "discovery failed: what was found before stays",
                source=self.source.name,
                servers=len(self.servers),
                error=trouble,
            )
        elif self._trouble and not trouble:
            _log.info("discovery works again", source=self.source.name, servers=len(self.servers))
        self._trouble = trouble
