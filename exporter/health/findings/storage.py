"""What lies behind a memcached: external storage, and the backends of a proxy."""

from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, count, time

_FAILED_READS = {
    "badcrc": "damaged",
    "gets_oom": "without memory for the item",
    "gets_aborted": "given up",
}


def _errors(view: View) -> Seen | None:
    counts = {
        told: sum(view.increases(f"memcached_extstore_{kind}_total").values())
        for kind, told in _FAILED_READS.items()
    }
    failed = [f"{amount(count)} {told}" for told, count in counts.items() if count]
    if not failed:
        return None
    text = f"Reads from its external storage failed in {time(view.seconds or 0)}:"
    return Seen(Severity.WARNING, f"{text} {', '.join(failed)}.")


def _backlog(view: View) -> Seen | None:
    waiting = view.now.value("memcached_extstore_io_queue_depth")
    if waiting is None or waiting <= view.thresholds.extstore_queue:
        return None
    text = f"{amount(waiting)} reads and writes wait for its external storage."
    return Seen(Severity.WARNING, text)


def _backends(view: View) -> Seen | None:
    bad = view.now.by("backend", "memcached_proxy_backend_bad_connections")
    down = sorted(backend for backend, connections in bad.items() if connections)
    if down:
        return Seen(Severity.WARNING, f"Its proxy does not use {_some(down)}.")
    marked = sum(view.increases("memcached_proxy_backend_marked_bad_total").values())
    if not marked:
        return None
    text = (
        f"Its proxy took backends out of use {count(marked, 'time')} in {time(view.seconds or 0)}"
    )
    return Seen(Severity.WARNING, f"{text}, after repeated failures.")


def _some(names: list[str], most: int = 3) -> str:
    """Return the first of some names, and how many there are beyond."""
    more = f" and {count(len(names) - most, 'more backend')}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


STORAGE = (
    Check(
        name="extstore_errors",
        judge=_errors,
        why="Each is a miss of an item that it has. Damaged reads come from a disk that fails, or"
        " from two servers with one file.",
        remedy="Damaged: `dmesg`, and another disk for -o ext_path. Without memory: more -m, or a"
        " larger -o slab_automove_freeratio. Given up: see whether the disk keeps up.",
        leave="Reads given up while clients were restarted.",
        runbook="MemcachedExtstoreErrors",
    ),
    Check(
        name="extstore_backlog",
        judge=_backlog,
        why="Gets of items on the disk wait in this queue.",
        remedy="Keep others off the disk (`iostat -x 5`); -o ext_threads=4 for a fast one; a larger"
        " -o ext_item_size or more -m keeps more items in memory.",
        leave="For some seconds, at the start of a batch job.",
        runbook="MemcachedExtstoreBacklog",
    ),
    Check(
        name="proxy_backends_failing",
        judge=_backends,
        why="Requests for its keys fail or go elsewhere, as the proxy's routes have it.",
        remedy="See that backend: whether it runs, and has connections left. The proxy tries again"
        " by itself. Take it out for good in the proxy's configuration, and send SIGHUP.",
        leave="While the backend is restarted on purpose.",
        runbook="MemcachedProxyBackendsFailing",
    ),
)
