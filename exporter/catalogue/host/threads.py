"""The threads of a memcached server: workers one by one, and those that look after its memory."""

from exporter.catalogue.host.dropped import process_series_dropped
from exporter.catalogue.row import Section, counter

_PLACES = (
    "`kind` is the name that memcached gives the thread, without `mc-` (`unknown` in releases that"
    " name none), `worker` counts those of a kind from 0. When a thread ends, its series stay, and"
    " the next thread of its kind counts on there. At most 128 threads have series."
)
_CPU = "CPU time that a thread used, in user mode and in the kernel, in seconds."
_SWITCHES = (
    "Times that a thread gave up its CPU: to wait (voluntary), or because others were to run"
    " (involuntary)."
)

THREADS = Section(
    name="threads",
    command="/proc/PID/task/TID/stat, status, schedstat",
    rows=(
        counter(
            "utime",
            "memcached_thread_cpu_seconds_total",
            _CPU,
            dynamic=("kind", "worker"),
            note=_PLACES,
            mode="user",
        ),
        counter(
            "stime",
            "memcached_thread_cpu_seconds_total",
            _CPU,
            dynamic=("kind", "worker"),
            mode="system",
        ),
        counter(
            "run_delay",
            "memcached_thread_runqueue_wait_seconds_total",
            "Time that a thread could have run and waited for a CPU, in seconds.",
            dynamic=("kind", "worker"),
            note="The direct sign of too few CPUs, and of a cgroup's quota: a rate of 0.1 is a"
            " tenth of the time. Absent where the kernel does not count it.",
        ),
        counter(
            "voluntary_ctxt_switches",
            "memcached_thread_context_switches_total",
            _SWITCHES,
            dynamic=("kind", "worker"),
            note="Voluntary ones are about one per request of a worker that has little to do, and"
            " fewer under load; involuntary ones come of too few CPUs.",
            type="voluntary",
        ),
        counter(
            "nonvoluntary_ctxt_switches",
            "memcached_thread_context_switches_total",
            _SWITCHES,
            dynamic=("kind", "worker"),
            type="involuntary",
        ),
        process_series_dropped("threads"),
    ),
)
