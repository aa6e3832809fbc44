"""Packets between the network card's interrupt and the protocol stack, per CPU."""

from exporter.catalogue.row import Section, counter

SOFTNET = Section(
    name="softnet",
    command="/proc/net/softnet_stat",
    rows=(
        counter(
            "processed",
            "memcached_host_softnet_processed_total",
            "Packets that a CPU took from receive queues.",
            dynamic=("cpu",),
        ),
        counter(
            "dropped",
            "memcached_host_softnet_dropped_total",
            "Packets dropped because the backlog queue of a CPU was full.",
            dynamic=("cpu",),
            note="The backlog (net.core.netdev_max_backlog) serves RPS, loopback, veth and tunnels;"
            " what a network card drops is in `memcached_nic_drops_total`.",
        ),
        counter(
            "squeezed",
            "memcached_host_softnet_squeezed_total",
            "Times that a CPU left packets waiting because its budget of packets or of time was"
            " used up.",
            dynamic=("cpu",),
            note="Bursts are harmless; the budget is net.core.netdev_budget and"
            " net.core.netdev_budget_usecs.",
        ),
    ),
)
