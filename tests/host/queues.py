"""What is read of the accept queues of a process."""

from pathlib import Path

from exporter.configuration import HostSettings
from exporter.host.listen_queue import listen_queue
from exporter.host.process import Process
from tests.processes import Memcached

HERE = HostSettings(Path("/proc"), Path("/sys"))

Samples = dict[tuple[str, tuple[str, ...]], float]
NONE_DROPPED: Samples = {("series_dropped", ()): 0}


def process(server: Memcached) -> Process:
    """Return a server's process."""
    return Process(server.process.pid, 1, Path(f"/proc/{server.process.pid}"))


def read(which: Process) -> Samples:
    """Return what is read of a process's accept queues."""
    return {(key, labels): value for key, labels, value in listen_queue(which, HERE)()}


def queue(address: str, length: int, limit: int | None) -> Samples:
    """Return what one queue's samples are, and that nothing is left out."""
    samples: Samples = {("length", (address,)): length, **NONE_DROPPED}
    return samples if limit is None else samples | {("limit", (address,)): limit}
