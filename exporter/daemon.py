"""The long-running exporter: wires the rooms together, and stops them in order."""

import os
import signal
import sys
import threading
from types import FrameType

import structlog

from exporter import __version__
from exporter.configuration import Configuration
from exporter.memcached.fleet import Fleet
from exporter.memcached.prober import Prober, probers
from exporter.telemetry import Telemetry
from exporter.web.routes import Routes
from exporter.web.server import HttpServer, listen

DRAIN_SECONDS = 3.0
"""Time for requests under way to end after a signal to stop."""

_log = structlog.get_logger()


def serve(configuration: Configuration) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status.

    Raises ExporterError when a listen address cannot be used.
    """
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    telemetry = Telemetry()
    fleet = Fleet(configuration, telemetry.count_error)
    routes = Routes(configuration, fleet, telemetry)
    servers = [HttpServer(listen(address), routes) for address in configuration.web.listen]
    for server in servers:
        threading.Thread(target=server.serve_forever, name="accept", daemon=True).start()
        host, port = server.server_address[:2]
        _log.info("listening", address=_shown(str(host), port), version=__version__)
    running = _start_probers(configuration, telemetry)
    stop.wait()
    _log.info("stopping")
    for prober in running:
        prober.stop()
    return _stop(servers, fleet)


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
    if not all(server.drain(DRAIN_SECONDS / len(servers)) for server in servers):
        # A scrape hangs on its server; its thread cannot be ended from here, the process can.
        _log.warning("stopped with a request under way")
        sys.stderr.flush()
        os._exit(0)
    fleet.close()
    _log.info("stopped")
    return 0


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
