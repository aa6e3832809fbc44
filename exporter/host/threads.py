"""What each thread of memcached does: CPU time, waiting for a CPU, and context switches."""

from collections.abc import Iterable

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample
from exporter.host.process import Process
from exporter.host.process_files import TICKS
from exporter.host.process_tasks import UNKNOWN, WORKER, Holding, tasks_of

_MOST_THREADS = 128
_NANOSECONDS = 1_000_000_000


def threads(process: Process, _settings: HostSettings) -> Read:
    """Return what reads the threads of a process (seconds, and numbers)."""
    tasks = tasks_of(process, detailed=True)
    reader = object()

    def read() -> Iterable[Sample]:
        holdings = sorted(tasks.read(reader), key=_turn)
        waits = tasks.counts_waits
        for place in holdings[:_MOST_THREADS]:
            labels = (place.kind, str(place.number))
            user, system, wait, voluntary, involuntary = place.counts
            yield "utime", labels, user / TICKS
            yield "stime", labels, system / TICKS
            yield "voluntary_ctxt_switches", labels, voluntary
            yield "nonvoluntary_ctxt_switches", labels, involuntary
            if waits:
                yield "run_delay", labels, wait / _NANOSECONDS
        yield "series_dropped", (), len(holdings[_MOST_THREADS:]) * (5 if waits else 4)

    return read


def _turn(place: Holding) -> tuple[bool, str, int]:
    """Return the rank of a place; the few threads that are no workers come first."""
    return place.kind in {WORKER, UNKNOWN}, place.kind, place.number
