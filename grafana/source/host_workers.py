"""Rows of the board of the host: worker threads, control group, context switches."""

from grafana.source.expressions import SERVER_NAME
from grafana.source.shape import NEVER, Panel, Query, Section, above

_WORKER = f"{SERVER_NAME} worker {{{{worker}}}}"
_KINDS = 'kind=~"worker|unknown"'
_CPU = f"""
sum by ($by, kind, worker) (rate(memcached_thread_cpu_seconds_total{{$on, {_KINDS}}}[$span]))
"""


def _switches(kind: str) -> str:
    return f"""
sum by ($by, kind, worker) (
  rate(memcached_thread_context_switches_total{{$on, {_KINDS}, type="{kind}"}}[$span])
)
"""


def _ratio(counter: str, to: str) -> str:
    return f"""
sum by ($by) (rate({counter}{{$on}}[$span])) / (sum by ($by) (rate({to}{{$on}}[$span])) > 0)
"""


def _gauge(name: str, word: str) -> Query:
    return Query(f"max by ($by) ({name}{{$on}})", f"{SERVER_NAME} {word}")


WORKERS = Section(
    "Worker threads",
    (
        Panel(
            title="CPU by worker",
            text="Share of one CPU that each worker thread uses. Near 100 % its clients wait for"
            " each other: more workers (-t) help if there are CPUs for them, and if the load is"
            " not that of a few connections. `unknown` are releases that do not name threads.",
            unit="percentunit",
            queries=(Query(_CPU, _WORKER),),
            steps=above("workers.cpu.warning", "workers.cpu.critical"),
            runbooks=("MemcachedWorkerBusy",),
        ),
        Panel(
            title="Waiting for a CPU by worker",
            text="Share of its time that a worker could run and had to wait for a CPU. It is"
            " latency for clients: fewer workers than CPUs, or other programs elsewhere.",
            unit="percentunit",
            queries=(
                Query(
                    "sum by ($by, kind, worker)"
                    f" (rate(memcached_thread_runqueue_wait_seconds_total{{$on, {_KINDS}}}"
                    "[$span]))",
                    _WORKER,
                ),
            ),
            steps=above("workers.wait.warning", "workers.wait.critical"),
            runbooks=("MemcachedWorkersWaiting",),
        ),
        Panel(
            title="Busiest worker to average",
            text="CPU time of the busiest worker to that of an average one; 1 is even. Connections"
            " stay with the worker they were given to: a few heavy clients make it uneven. It"
            " matters when the busiest one is near a whole CPU.",
            queries=(
                Query(
                    "max by ($by) (sum by ($by, worker) (rate(memcached_thread_cpu_seconds_total"
                    '{$on, kind="worker"}[$span])))'
                    " / "
                    "(avg by ($by) (sum by ($by, worker) (rate(memcached_thread_cpu_seconds_total"
                    '{$on, kind="worker"}[$span]))) > 0)',
                    SERVER_NAME,
                ),
            ),
            steps=above("workers.imbalance"),
            runbooks=("MemcachedWorkersUneven",),
        ),
        Panel(
            title="Workers taken off their CPU",
            text="Times a second that each worker was taken off its CPU before it was done. Many:"
            " others want the same CPUs.",
            unit="ops",
            queries=(Query(_switches("involuntary"), _WORKER),),
            steps=above("context_switches.involuntary"),
            runbooks=("MemcachedWorkersPreempted",),
        ),
        Panel(
            title="Workers that wait for requests",
            text="Times a second that each worker had nothing to do and slept. It grows with"
            " requests, and falls when a worker is so busy that it never sleeps.",
            unit="ops",
            queries=(Query(_switches("voluntary"), _WORKER),),
        ),
        Panel(
            title="Workers and CPU limits",
            text="Worker threads, CPUs on which the process may run, and CPUs that its control"
            " group allows (absent without a limit). More workers than the lowest of the others"
            " only take turns.",
            queries=(
                _gauge("memcached_threads", "workers"),
                _gauge("memcached_process_cpus_allowed", "CPUs allowed"),
                _gauge("memcached_cgroup_cpu_limit_cores", "CPUs of the control group"),
            ),
            runbooks=("MemcachedTooManyWorkers",),
        ),
    ),
)

GROUP = Section(
    "Process and control group",
    (
        Panel(
            title="Periods throttled",
            text="Periods in which the CPU quota of the control group stopped memcached, to all."
            " Each is up to a tenth of a second of latency: raise the quota, or remove it. No data"
            " without a quota.",
            unit="percentunit",
            highest=1,
            queries=(
                Query(
                    _ratio(
                        "memcached_cgroup_throttled_periods_total",
                        "memcached_cgroup_cpu_periods_total",
                    ),
                    SERVER_NAME,
                ),
            ),
            steps=above("throttled"),
            runbooks=("MemcachedCpuThrottled",),
        ),
        Panel(
            title="Memory for items to the control group's",
            text="Memory limit for items (-m) to the memory limit of the control group. The rest"
            " must hold hash table, threads and connections, or the kernel kills memcached. No data"
            " without a limit.",
            unit="percentunit",
            queries=(
                Query(
                    "max by ($by) (memcached_limit_bytes{$on}"
                    " / (memcached_cgroup_memory_limit_bytes{$on} > 0))",
                    SERVER_NAME,
                ),
            ),
            steps=above("memory"),
            runbooks=("MemcachedCgroupMemoryTight", "MemcachedOomKilled"),
        ),
        Panel(
            title="Memory in swap",
            text="Share of memcached's memory that is in swap space. A get that needs it waits for"
            " the disk: turn swap off for it, or lock its memory (-k).",
            unit="percentunit",
            highest=1,
            queries=(
                Query(
                    "max by ($by) (memcached_process_swap_bytes{$on}"
                    " / (memcached_process_swap_bytes{$on}"
                    " + memcached_process_resident_memory_bytes{$on} > 0))",
                    SERVER_NAME,
                ),
            ),
            steps=above("swapped"),
            runbooks=("MemcachedSwapping",),
        ),
        Panel(
            title="CPU of the process",
            text="CPUs that the whole process uses, in user mode and in the kernel. Much in the"
            " kernel is normal: most of a request is network.",
            queries=(
                Query(
                    "sum by ($by) (rate(memcached_process_user_cpu_seconds_total{$on}[$span]))",
                    f"{SERVER_NAME} user",
                ),
                Query(
                    "sum by ($by) (rate(memcached_process_system_cpu_seconds_total{$on}[$span]))",
                    f"{SERVER_NAME} kernel",
                ),
            ),
            runbooks=("MemcachedWorkerBusy",),
        ),
        Panel(
            title="Memory of the control group",
            text="Memory that counts against the control group's limit, and the limit. At the limit"
            " the kernel kills. No data without a limit.",
            unit="bytes",
            queries=(
                _gauge("memcached_cgroup_memory_usage_bytes", "used"),
                _gauge("memcached_cgroup_memory_limit_bytes", "limit"),
            ),
            runbooks=("MemcachedOomKilled",),
        ),
        Panel(
            title="Processes killed for memory",
            text="Processes of the control group that the kernel killed for want of memory, in each"
            " ten minutes. What memcached held is gone.",
            queries=(
                Query(
                    "sum by ($by) (increase(memcached_cgroup_oom_kills_total{$on}[10m]))",
                    SERVER_NAME,
                ),
            ),
            steps=NEVER,
            runbooks=("MemcachedOomKilled",),
        ),
    ),
)

SWITCHES = Section(
    "Context switches",
    (
        Panel(
            title="Context switches per CPU",
            text="Changes a second of what a CPU of the host runs. They grow with requests, and are"
            " a sign only where they grow without: look at waiting for a CPU first.",
            unit="ops",
            queries=(
                Query(
                    "sum by (job, instance) (rate(memcached_host_context_switches_total{$host}"
                    "[$span])) / (sum by (job, instance)"
                    ' (memcached_host_cpus{$host, state="online"}) > 0)',
                    "{{instance}}",
                ),
            ),
            steps=above("context_switches.per_cpu"),
            runbooks=("MemcachedHostContextSwitches",),
        ),
        Panel(
            title="Context switches of memcached",
            text="Times a second that threads of memcached gave up their CPU: to wait (voluntary),"
            " or because others were to run (involuntary).",
            unit="ops",
            queries=(
                Query(
                    "sum by ($by, type)"
                    " (rate(memcached_process_context_switches_total{$on}[$span]))",
                    f"{SERVER_NAME} {{{{type}}}}",
                ),
            ),
            runbooks=("MemcachedWorkersPreempted",),
        ),
        Panel(
            title="Pages swapped by the host",
            text="Pages a second that the host read from swap space and wrote there. Any lasting"
            " traffic: the host has too little memory for all that runs on it.",
            unit="ops",
            queries=(
                Query(
                    "sum by (job, instance, direction)"
                    " (rate(memcached_host_swap_io_pages_total{$host}[$span]))",
                    "{{instance}} {{direction}}",
                ),
            ),
            runbooks=("MemcachedSwapping",),
        ),
    ),
)
