"""Queries that may be without data, and ratios that may be above 1, each with the reason."""

OFF = {
    "memcached_proxy_": "Debian's build has no proxy",
    "memcached_ssl_": "the servers are without TLS",
    "memcached_tls_": "the servers are without TLS",
}
"""Beginnings of metrics that are absent for sure."""

MACHINE = {
    "memcached_cgroup_": "control groups limit what the machine's administrator wants limited",
    "memcached_nic_": "a machine may have no network card, or one that tells little of itself",
    "memcached_thread_runqueue_": "kernels may be built without statistics of the scheduler",
    "memcached_host_": "containers may hide parts of /proc",
}
"""Beginnings of metrics that a machine may have or not."""

ABOVE_ONE = {
    "Memory used": "each slab class may take a page beyond the limit (E16)",
    "Evictions per set": "one large item can push out many small ones",
}
"""Beginnings of titles of panels and columns whose ratios have no upper bound."""
