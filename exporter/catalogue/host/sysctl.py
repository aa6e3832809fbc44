"""Settings of the kernel that matter to memcached."""

from exporter.catalogue.row import Section, gauge

_BUFFER = ("min", "default", "max")
_PRESSURE = ("low", "pressure", "high")

SETTINGS: dict[str, tuple[str, ...]] = {
    "fs.file-max": (),
    "fs.nr_open": (),
    "kernel.numa_balancing": (),
    "net.core.busy_poll": (),
    "net.core.busy_read": (),
    "net.core.dev_weight": (),
    "net.core.netdev_budget": (),
    "net.core.netdev_budget_usecs": (),
    "net.core.netdev_max_backlog": (),
    "net.core.rmem_max": (),
    "net.core.rps_sock_flow_entries": (),
    "net.core.somaxconn": (),
    "net.core.wmem_max": (),
    "net.ipv4.ip_local_port_range": ("min", "max"),
    "net.ipv4.tcp_abort_on_overflow": (),
    "net.ipv4.tcp_fin_timeout": (),
    "net.ipv4.tcp_max_syn_backlog": (),
    "net.ipv4.tcp_max_tw_buckets": (),
    "net.ipv4.tcp_mem": _PRESSURE,
    "net.ipv4.tcp_rmem": _BUFFER,
    "net.ipv4.tcp_slow_start_after_idle": (),
    "net.ipv4.tcp_syncookies": (),
    "net.ipv4.tcp_tw_recycle": (),
    "net.ipv4.tcp_tw_reuse": (),
    "net.ipv4.tcp_wmem": _BUFFER,
    "vm.overcommit_memory": (),
    "vm.swappiness": (),
    "vm.zone_reclaim_mode": (),
}
"""Names, and what the numbers are called where there are several."""

_HELP = "A setting of the kernel as it is now, in the kernel's own unit."

SYSCTL = Section(
    name="sysctl",
    command="/proc/sys",
    rows=(
        gauge(
            "value",
            "memcached_host_sysctl",
            _HELP,
            dynamic=("name",),
            note="Exported are " + ", ".join(f"`{name}`" for name in SETTINGS) + ". Those that the"
            " kernel, or the exporter's network namespace, does not have are absent. `net.*` are"
            " those of the exporter's own network namespace; they are absent when"
            " `--path.procfs` shows that the host has another one.",
        ),
        gauge(
            "values",
            "memcached_host_sysctl",
            _HELP,
            dynamic=("name", "field"),
            note="`field` is `min`, `default`, `max` of `net.ipv4.tcp_rmem` and `tcp_wmem`, `low`,"
            " `pressure`, `high` of `tcp_mem`, `min`, `max` of `ip_local_port_range`.",
        ),
    ),
)
