"""The long-running exporter: listens, waits for signals, and stops in order."""

import contextlib
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import structlog

from exporter import __version__
from exporter.allocator import keep_freed_memory
from exporter.configuration import Configuration
from exporter.logs import configure
from exporter.service import Service
from exporter.web.access import Access
from exporter.web.inherited import inherited
from exporter.web.server import HttpServer, listen

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
DRAIN_SECONDS = 3.0
"""Time for requests under way to end after a signal to stop."""

_log = structlog.get_logger()


def serve(load: Callable[[], Configuration]) -> int:
    """Serve until SIGTERM or SIGINT, and load again upon SIGHUP; return the exit status.

    Raises ConfigurationError, and ExporterError when a listen address cannot be used.
    """
    # Blocked in all threads, the signals wait for the main thread to fetch them: a handler could
    # interrupt it anywhere, also where it holds a lock that the handler needs.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    keep_freed_memory()
    _raise_descriptor_limit()
    service = Service(load)
    configure(service.configuration.log)
    web = service.configuration.web
    access_file = Path(web.config_file) if web.config_file else None
    access = Access(access_file, service.telemetry.note_web_reload)
    sockets = inherited() if web.systemd_socket else [listen(address) for address in web.listen]
    servers = [HttpServer(one, service, access) for one in sockets]
    service.start()
    for server in servers:
        threading.Thread(target=server.serve_forever, name="accept", daemon=True).start()
        host, port = server.server_address[:2]
        _log.info("listening", address=_shown(str(host), port), version=__version__)
    while (number := signal.sigwait(SIGNALS)) == signal.SIGHUP:
        service.reload()
    _log.info("stopping", signal=signal.Signals(number).name)
    return _stop(servers, service)


def _raise_descriptor_limit() -> None:
    """Allow as many descriptors as the system lets: held connections and clients need them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _stop(servers: list[HttpServer], service: Service) -> int:
    for server in servers:
        server.shutdown()
        server.server_close()
    drained = [server.drain(DRAIN_SECONDS / len(servers)) for server in servers]
    if not (service.close() and all(drained)):
        # A scrape hangs on its server; its thread cannot be ended from here, the process can.
        _log.warning("stopped with a scrape under way")
        sys.stderr.flush()
        os._exit(0)
    _log.info("stopped")
    return 0


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
