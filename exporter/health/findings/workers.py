"""Worker threads that have too much to do, do not share it, or are kept from it."""

import math

from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import amount, share, time

_THREADS = ("worker", "unknown")
"""Kinds of threads that serve clients; old releases name no thread, and all are unknown."""
_LEAST_SECONDS = 1.0
"""In less time, who was last on the CPU decides."""


def _of_workers(
    view: View, name: str, kinds: tuple[str, ...] = _THREADS, **labels: str
) -> list[float]:
    """Return the increase a second of a counter, for each worker."""
    sums: dict[str, float] = {}
    for own, grown in view.increases(f"memcached_thread_{name}").items():
        told = dict(own)
        if told["kind"] in kinds and labels.items() <= told.items():
            key = told["kind"] + told["worker"]
            sums[key] = sums.get(key, 0.0) + grown
    seconds = view.seconds or 0.0
    return [grown / seconds for grown in sums.values()] if seconds >= _LEAST_SECONDS else []


def _busy(view: View) -> Seen | None:
    used = max(_of_workers(view, "cpu_seconds_total"), default=0.0)
    limits = view.thresholds.workers.cpu
    if used <= limits.warning:
        return None
    severity = Severity.CRITICAL if used > limits.critical else Severity.WARNING
    return Seen(severity, f"Its busiest worker thread uses {share(used)} of a CPU.")


def _uneven(view: View) -> Seen | None:
    # Among threads of an unknown kind are some that do other work: each server would look uneven.
    used = _of_workers(view, "cpu_seconds_total", ("worker",))
    limits = view.thresholds.workers
    average = sum(used) / len(used) if used else 0.0
    if not average or max(used) <= limits.imbalance_floor:
        return None
    if max(used) / average <= limits.imbalance:
        return None
    times = f"{max(used) / average:.1f}"
    text = f"Its busiest worker thread does {times} times the work of an average one"
    return Seen(Severity.WARNING, f"{text} ({share(max(used))} of a CPU).")


def _waiting(view: View) -> Seen | None:
    waits = max(_of_workers(view, "runqueue_wait_seconds_total"), default=0.0)
    limits = view.thresholds.workers.wait
    if waits <= limits.warning:
        return None
    severity = Severity.CRITICAL if waits > limits.critical else Severity.WARNING
    text = f"A worker thread that could run waits for a CPU for {share(waits)} of its time."
    return Seen(severity, text)


def _preempted(view: View) -> Seen | None:
    name, most = "context_switches_total", view.thresholds.context_switches.involuntary
    switches = max(_of_workers(view, name, type="involuntary"), default=0.0)
    if switches <= most:
        return None
    text = f"A worker thread is taken off its CPU {amount(switches)} times a second."
    return Seen(Severity.WARNING, text)


def cpus(view: View) -> float | None:
    """Return how many CPUs the server may use, None when that is not known."""
    online = view.host.value("memcached_host_cpus", state="online") if view.host else None
    allowed = view.now.value("memcached_process_cpus_allowed")
    quota = view.now.value("memcached_cgroup_cpu_limit_cores")
    known = (online, allowed, math.ceil(quota) if quota else None)
    return min((number for number in known if number), default=None)


def _too_many(view: View) -> Seen | None:
    threads, available = view.now.value("memcached_threads"), cpus(view)
    if threads is None or available is None or threads <= available:
        return None
    text = f"It has {amount(threads)} worker threads for {amount(available)} CPUs."
    return Seen(Severity.INFO, text, {"cpus": f"{available:.0f}"})


def _throttled(view: View) -> Seen | None:
    periods = sum(view.increases("memcached_cgroup_cpu_periods_total").values())
    stopped = sum(view.increases("memcached_cgroup_throttled_periods_total").values())
    if not periods or stopped / periods <= view.thresholds.throttled:
        return None
    text = (
        f"The CPU quota of its control group stopped it in {share(stopped / periods)} of the"
        f" periods of the last {time(view.seconds or 0)}."
    )
    return Seen(Severity.WARNING, text)


WORKERS = (
    Check(
        name="worker_busy",
        judge=_busy,
        why="A worker is one thread and cannot use more than one CPU: its clients wait for one"
        " another.",
        remedy="Spread connections (more of them, from more clients), more worker threads (-t) if"
        " there are CPUs to spare, or more servers. See for commands on very many keys.",
        leave="While a bulk job runs whose clients can wait.",
        runbook="MemcachedWorkerBusy",
    ),
    Check(
        name="workers_uneven",
        judge=_uneven,
        why="A connection stays with the worker that got it: few heavy connections make one worker"
        " busy and leave the others idle. More threads do not help.",
        remedy="Let heavy clients use several connections; restart them, so that connections are"
        " dealt anew.",
        leave="When latency is well.",
        runbook="MemcachedWorkersUneven",
    ),
    Check(
        name="workers_waiting",
        judge=_waiting,
        why="There is work and a thread for it, and no CPU: each wait is latency.",
        remedy="Give memcached CPUs of its own (taskset, cpuset), a larger CPU quota, or move what"
        " else runs here.",
        leave="During short jobs, such as a backup, if clients do not mind.",
        runbook="MemcachedWorkersWaiting",
    ),
    Check(
        name="workers_preempted",
        judge=_preempted,
        why="Others want the same CPU. A thread with a CPU of its own is hardly ever interrupted.",
        remedy="Fewer worker threads than CPUs (-t), CPUs of its own (taskset, cpuset), or fewer"
        " neighbours.",
        leave="When latency is well.",
        runbook="MemcachedWorkersPreempted",
    ),
    Check(
        name="cpu_throttled",
        judge=_throttled,
        why="Each stop is up to a tenth of a second in which nobody is answered, however idle the"
        " host.",
        remedy="Raise or remove the CPU limit (Kubernetes: resources.limits.cpu; systemd:"
        " CPUQuota=). A request without a limit keeps the share and does not stop it.",
        leave="When such latency is acceptable.",
        runbook="MemcachedCpuThrottled",
    ),
    Check(
        name="too_many_workers",
        judge=_too_many,
        why="More threads than CPUs make no more throughput, and more changes between them.",
        remedy="Start memcached with -t {cpus}.",
        leave="As long as it has little to do: idle threads cost next to nothing.",
        runbook="MemcachedTooManyWorkers",
    ),
)
