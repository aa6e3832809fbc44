"""The process of a memcached server, as the kernel sees it."""

from exporter.catalogue.row import Section, counter, gauge

PROCESS = Section(
    name="process",
    command="/proc/PID/stat, status, limits, fd, task",
    rows=(
        counter(
            "utime",
            "memcached_process_cpu_seconds_total",
            "CPU time that the process used in user mode and in the kernel, in seconds.",
            note="stime is in it.",
        ),
        gauge(
            "starttime",
            "memcached_process_start_time_seconds",
            "When the process started, in seconds since 1970.",
        ),
        gauge(
            "vsize",
            "memcached_process_virtual_memory_bytes",
            "Addresses that the process has mapped, in bytes.",
        ),
        gauge(
            "rss",
            "memcached_process_resident_memory_bytes",
            "Memory of the process that is in RAM, in bytes.",
        ),
        gauge(
            "VmSwap",
            "memcached_process_swap_bytes",
            "Memory of the process that is swapped out, in bytes.",
            note="A cache that swaps is slower than none; `-k` with enough LimitMEMLOCK keeps its"
            " memory in RAM.",
        ),
        gauge(
            "VmLck",
            "memcached_process_locked_memory_bytes",
            "Memory of the process that is locked in RAM, in bytes.",
            note="0 for a server with `-k` means that locking failed, and memcached ran on.",
        ),
        gauge(
            "Cpus_allowed",
            "memcached_process_cpus_allowed",
            "CPUs on which the process may run.",
            note="Of the main thread. CPUs that are offline may be among them, and a cgroup's"
            " quota is not in it.",
        ),
        gauge(
            "fd",
            "memcached_process_open_fds",
            "Files and sockets that the process has open.",
            note="Kernels before 6.2 show it to privileged readers only: absent for others.",
        ),
        gauge(
            "Max open files",
            "memcached_process_max_fds",
            "Files and sockets that the process may have open.",
            note="memcached sets it to its connection limit (`-c`), and needs some for itself: 9,"
            " and 4 for each worker thread. So it is full before `curr_connections` is at"
            " `max_connections`.",
        ),
        counter(
            "voluntary_ctxt_switches",
            "memcached_process_context_switches_total",
            "Times that threads of the process gave up their CPU: to wait (voluntary), or because"
            " others were to run (involuntary).",
            note="What threads counted that have ended is in it, as far as the exporter saw it:"
            " while it runs, the sum falls only when the process starts anew.",
            type="voluntary",
        ),
        counter(
            "nonvoluntary_ctxt_switches",
            "memcached_process_context_switches_total",
            "Times that threads of the process gave up their CPU: to wait (voluntary), or because"
            " others were to run (involuntary).",
            type="involuntary",
        ),
        gauge(
            "Name",
            "memcached_process_threads",
            "Threads of the process, by what they do.",
            dynamic=("kind",),
            note="`kind` is the name that memcached gives the thread, without `mc-`; `unknown` in"
            " releases that name none.",
        ),
    ),
)
