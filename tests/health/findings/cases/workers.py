"""Cases of worker threads."""

from exporter.health.snapshot import Labels
from tests.health.findings.cases.shape import CPUS, CRITICAL, INFO, SECONDS, WARNING, Case, labelled


def _workers(*numbers: float, **labels: str) -> dict[Labels, float]:
    return {
        labelled(kind="worker", worker=str(worker), **labels): number
        for worker, number in enumerate(numbers)
    }


def _cpu(*shares: float) -> dict[Labels, float]:
    return _workers(*(share * SECONDS for share in shares), mode="user")


CASES = (
    Case(
        "worker_busy",
        WARNING,
        "Its busiest worker thread uses 81 % of a CPU.",
        {"thread_cpu_seconds_total": _cpu(0.81, 0.7)},
        {"thread_cpu_seconds_total": _cpu(0.8, 0.7)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "worker_busy",
        CRITICAL,
        "Its busiest worker thread uses 91 % of a CPU.",
        {"thread_cpu_seconds_total": _cpu(0.91, 0.7)},
        {"thread_cpu_seconds_total": _cpu(0.8, 0.7)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "workers_uneven",
        WARNING,
        "Its busiest worker thread does 2.4 times the work of an average one (60 % of a CPU).",
        {"thread_cpu_seconds_total": _cpu(0.6, 0.1, 0.05)},
        {"thread_cpu_seconds_total": _cpu(0.5, 0.1, 0.05)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "workers_uneven",
        WARNING,
        "Its busiest worker thread does 2.4 times the work of an average one (60 % of a CPU).",
        {"thread_cpu_seconds_total": _cpu(0.6, 0.1, 0.05)},
        {"thread_cpu_seconds_total": _cpu(0.6, 0.2, 0.1)},
        grown=("thread_cpu_seconds_total",),
    ),
    Case(
        "workers_waiting",
        WARNING,
        "A worker thread that could run waits for a CPU for 12 % of its time.",
        {"thread_runqueue_wait_seconds_total": _workers(7.2, 1.0)},
        {"thread_runqueue_wait_seconds_total": _workers(6.0, 1.0)},
        grown=("thread_runqueue_wait_seconds_total",),
    ),
    Case(
        "workers_waiting",
        CRITICAL,
        "A worker thread that could run waits for a CPU for 31 % of its time.",
        {"thread_runqueue_wait_seconds_total": _workers(18.6, 1.0)},
        {"thread_runqueue_wait_seconds_total": _workers(6.0, 1.0)},
        grown=("thread_runqueue_wait_seconds_total",),
    ),
    Case(
        "workers_preempted",
        WARNING,
        "A worker thread is taken off its CPU 501 times a second.",
        {"thread_context_switches_total": _workers(501 * SECONDS, 1, type="involuntary")},
        {"thread_context_switches_total": _workers(500 * SECONDS, 1, type="involuntary")},
        grown=("thread_context_switches_total",),
    ),
    Case(
        "cpu_throttled",
        WARNING,
        "The CPU quota of its control group stopped it in 11 % of the periods of the last 60 s.",
        {"cgroup_cpu_periods_total": 100.0, "cgroup_throttled_periods_total": 11.0},
        {"cgroup_throttled_periods_total": 10.0},
        grown=("cgroup_cpu_periods_total", "cgroup_throttled_periods_total"),
    ),
    Case(
        "too_many_workers",
        INFO,
        "It has 8 worker threads for 4 CPUs.",
        {"threads": 8.0, "process_cpus_allowed": 6.0},
        {"threads": 4.0},
        host=CPUS,
        remedy="-t 4",
    ),
    Case(
        "too_many_workers",
        INFO,
        "It has 4 worker threads for 2 CPUs.",
        {"threads": 4.0, "cgroup_cpu_limit_cores": 1.5},
        {"cgroup_cpu_limit_cores": 3.5},
        host=CPUS,
        remedy="-t 2",
    ),
)
