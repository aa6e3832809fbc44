"""Worker threads that have too much to do, do not share it, or are kept from it."""

from exporter.health.rules.shape import Alert, Group, Severity

_HOST_BOARD = "memcached-host"
_CPU = "server:memcached_thread_cpu_seconds:max_rate5m{$selector}"
_WAIT = "server:memcached_thread_runqueue_wait_seconds:max_rate5m{$selector}"

WORKERS = Group(
    "memcached-workers",
    (
        Alert(
            name="MemcachedWorkerBusy",
            severity=Severity.WARNING,
            expr=f"{_CPU} > ${{workers.cpu.warning}} <= ${{workers.cpu.critical}}",
            wait="10m",
            summary="A worker thread of memcached is near to what one CPU can do.",
            description="The busiest worker of memcached on ${who} uses {{ $value |"
            " humanizePercentage }} of a CPU; above ${workers.cpu.critical|percent} its clients"
            " wait for each other.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedWorkerBusy",
            severity=Severity.CRITICAL,
            expr=f"{_CPU} > ${{workers.cpu.critical}}",
            wait="5m",
            summary="A worker thread of memcached has more to do than one CPU can.",
            description="The busiest worker of memcached on ${who} uses {{ $value |"
            " humanizePercentage }} of a CPU, more than ${workers.cpu.critical|percent}: clients"
            " of this worker wait for each other.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedWorkersUneven",
            severity=Severity.WARNING,
            expr="server:memcached_thread_cpu_seconds_max_per_avg:ratio_rate5m{$selector}"
            f" > ${{workers.imbalance}} and {_CPU} > ${{workers.imbalance_floor}}",
            wait="15m",
            summary="One worker thread of memcached does much more than the others.",
            description="The busiest worker of memcached on ${who} uses"
            ' {{ $value | printf "%.1f" }} times the CPU time of an average one, and more than'
            " ${workers.imbalance_floor|percent} of a CPU.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedTooManyWorkers",
            severity=Severity.INFO,
            expr="memcached_threads{$selector}"
            " > server:memcached_process_cpus_available:min{$selector}",
            wait="15m",
            summary="There are more worker threads of memcached than CPUs to run them.",
            description='memcached on ${who} has {{ $value | printf "%.0f" }} worker threads, more'
            " than the CPUs that it may use.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedWorkersPreempted",
            severity=Severity.WARNING,
            expr="server:memcached_thread_involuntary_context_switches:max_rate5m{$selector}"
            " > ${context_switches.involuntary}",
            wait="10m",
            summary="Worker threads of memcached are often taken off their CPU.",
            description="A worker of memcached on ${who} was taken off its CPU"
            ' {{ $value | printf "%.0f" }} times a second before it was done, more than'
            " ${context_switches.involuntary|plain}: others want the same CPU.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedWorkersWaiting",
            severity=Severity.WARNING,
            expr=f"{_WAIT} > ${{workers.wait.warning}} <= ${{workers.wait.critical}}",
            wait="10m",
            summary="Worker threads of memcached wait for a CPU.",
            description="A worker of memcached on ${who} spends {{ $value | humanizePercentage }}"
            " of its time waiting for a CPU, more than ${workers.wait.warning|percent}.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedWorkersWaiting",
            severity=Severity.CRITICAL,
            expr=f"{_WAIT} > ${{workers.wait.critical}}",
            wait="5m",
            summary="Worker threads of memcached wait for a CPU much of their time.",
            description="A worker of memcached on ${who} spends {{ $value | humanizePercentage }}"
            " of its time waiting for a CPU, more than ${workers.wait.critical|percent}.",
            board=_HOST_BOARD,
        ),
        Alert(
            name="MemcachedHostContextSwitches",
            severity=Severity.INFO,
            expr="instance:memcached_host_context_switches_per_cpu:ratio_rate5m{$selector}"
            " > ${context_switches.per_cpu}",
            wait="15m",
            summary="The CPUs of a memcached host change often between tasks.",
            description="The host of {{ $labels.instance }} makes"
            ' {{ $value | printf "%.0f" }} context switches a second and CPU, more than'
            " ${context_switches.per_cpu|plain}.",
            board=_HOST_BOARD,
        ),
    ),
)
