"""The long-running exporter: wires the rooms together, and stops them in order."""

import contextlib
import os
import resource
import signal
import sys
import threading

import structlog

from exporter import __version__
from exporter.allocator import keep_freed_memory
from exporter.configuration import Configuration
from exporter.memcached.fleet import Fleet
from exporter.memcached.prober import Prober, probers
from exporter.telemetry import Telemetry
from exporter.web.routes import Routes
from exporter.web.server import HttpServer, listen

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
DRAIN_SECONDS = 3.0
"""Time for requests under way to end after a signal to stop."""

_log = structlog.get_logger()


def serve(configuration: Configuration) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status.

    Raises ExporterError when a listen address cannot be used.
    """
    # Blocked in all threads, the signals wait for the main thread to fetch them: a handler could
    # interrupt it anywhere, also where it holds a lock that the handler needs.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    keep_freed_memory()
    _raise_descriptor_limit()
    telemetry = Telemetry()
    fleet = Fleet(configuration, telemetry.count_error)
    routes = Routes(configuration, fleet, telemetry)
    servers = [HttpServer(listen(address), routes) for address in configuration.web.listen]
    for server in servers:
        threading.Thread(target=server.serve_forever, name="accept", daemon=True).start()
        host, port = server.server_address[:2]
        _log.info("listening", address=_shown(str(host), port), version=__version__)
    running = _start_probers(configuration, telemetry)
    number = signal.sigwait(STOP_SIGNALS)
    _log.info("stopping", signal=signal.Signals(number).name)
    for prober in running:
        prober.stop()
    return _stop(servers, fleet)


def _raise_descriptor_limit() -> None:
    """Allow as many descriptors as the system lets: held connections and clients need them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _start_probers(configuration: Configuration, telemetry: Telemetry) -> list[Prober]:
    running = list(
        probers(configuration.servers, telemetry.observe_probe, telemetry.count_probe_failure)
    )
    for prober in running:
        telemetry.expect_probes(prober.operations, prober.server.address.text)
        prober.start()
    return running


def _stop(servers: list[HttpServer], fleet: Fleet) -> int:
    for server in servers:
        server.shutdown()
        server.server_close()
    drained = [server.drain(DRAIN_SECONDS / len(servers)) for server in servers]
    if not (fleet.close() and all(drained)):
        # A scrape hangs on its server; its thread cannot be ended from here, the process can.
        _log.warning("stopped with a scrape under way")
        sys.stderr.flush()
        os._exit(0)
    _log.info("stopped")
    return 0


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
