"""CPUs of the host, and how often they turn to another task."""

from exporter.catalogue.row import Section, counter, gauge

_CPUS = "CPUs of the host: those that are online, and those that there can ever be."

CPU = Section(
    name="cpu",
    command="/proc/stat and /sys/devices/system/cpu",
    rows=(
        counter(
            "ctxt",
            "memcached_host_context_switches_total",
            "Context switches of all CPUs of the host.",
            note="Rises with requests and CPUs; what one memcached contributes is in"
            " `memcached_process_context_switches_total`.",
        ),
        gauge("online", "memcached_host_cpus", _CPUS, state="online"),
        gauge("possible", "memcached_host_cpus", _CPUS, state="possible"),
    ),
)
