"""Cases of the network."""

from tests.health.findings.cases.shape import (
    CPUS,
    CRITICAL,
    INFO,
    WARNING,
    Case,
    Series,
    labelled,
    sysctl,
)

ETH0 = labelled(device="eth0")
INTERRUPTS: dict[str, Series] = {
    "nic_cpu_interrupts_total": {
        labelled(device="eth0", cpu="0"): 90_000.0,
        labelled(device="eth0", cpu="1"): 10_000.0,
    }
}
FEW_INTERRUPTS: dict[str, Series] = {
    "nic_cpu_interrupts_total": {
        labelled(device="eth0", cpu="0"): 80_000.0,
        labelled(device="eth0", cpu="1"): 20_000.0,
    }
}


def _channels(now: float, most: float) -> dict[str, Series]:
    kind = labelled(device="eth0", kind="combined")
    return {"nic_channels": {kind: now}, "nic_channels_max": {kind: most}}


CASES = (
    Case(
        "listen_overflows",
        CRITICAL,
        "The kernel turned away 7 attempts to connect in 60 s.",
        {"host_tcp_listen_overflows_total": 7.0},
        {"host_tcp_listen_overflows_total": 0.0},
        grown=("host_tcp_listen_overflows_total",),
    ),
    Case(
        "listen_overflows",
        WARNING,
        "The kernel turned away 7 attempts to connect in 60 s; its own queue has room now.",
        {
            "host_tcp_listen_overflows_total": 7.0,
            "listen_queue_length": {labelled(address="a"): 1.0},
            "listen_queue_limit": {labelled(address="a"): 10.0},
        },
        {"host_tcp_listen_overflows_total": 0.0},
        grown=("host_tcp_listen_overflows_total",),
    ),
    Case(
        "accept_queue_long",
        WARNING,
        "6 connections wait to be accepted, of at most 10.",
        {
            "listen_queue_length": {labelled(address="a"): 6.0, labelled(address="b"): 6.0},
            "listen_queue_limit": {labelled(address="a"): 10.0, labelled(address="b"): 100.0},
        },
        {"listen_queue_length": {labelled(address="a"): 5.0}},
    ),
    Case(
        "softnet_drops",
        WARNING,
        "The host dropped 3 packets that waited for a CPU in 60 s.",
        {},
        {"host_softnet_dropped_total": {labelled(cpu="0"): 0.0}},
        grown=("host_softnet_dropped_total",),
        host={
            "host_softnet_dropped_total": {labelled(cpu="0"): 1.0, labelled(cpu="1"): 2.0},
            **sysctl("net.core.netdev_max_backlog", 1000.0),
        },
        remedy="sysctl -w net.core.netdev_max_backlog=2000",
    ),
    Case(
        "nic_drops",
        WARNING,
        "eth0 lost 9 packets in 60 s, with 256 of 1,024 ring entries (rx).",
        {},
        {"nic_ring_entries": {labelled(device="eth0", direction="rx"): 1024.0}},
        grown=("nic_drops_total",),
        host={
            "nic_drops_total": {
                labelled(device="eth0", reason="rx_missed_errors"): 9.0,
                labelled(device="eth0", reason="rx_no_buffer_count"): 8.0,
                labelled(device="eth0", reason="tx_timeout_count"): 50.0,
            },
            "nic_ring_entries": {labelled(device="eth0", direction="rx"): 256.0},
            "nic_ring_entries_max": {labelled(device="eth0", direction="rx"): 1024.0},
        },
        remedy="ethtool -G eth0 rx 1024.",
    ),
    Case(
        "nic_drops",
        WARNING,
        "eth0 lost 7 packets in 60 s, with 256 of 1,024 ring entries (tx).",
        {},
        {"nic_ring_entries": {labelled(device="eth0", direction="tx"): 1024.0}},
        grown=("nic_queue_drops_total",),
        host={
            "nic_queue_drops_total": {
                labelled(device="eth0", direction="tx", queue="0"): 3.0,
                labelled(device="eth0", direction="tx", queue="1"): 4.0,
                labelled(device="eth0", direction="rx", queue="1"): 9.0,
                labelled(device="eth1", direction="tx", queue="1"): 9.0,
            },
            "nic_ring_entries": {
                labelled(device="eth0", direction="rx"): 1024.0,
                labelled(device="eth0", direction="tx"): 256.0,
            },
            "nic_ring_entries_max": {
                labelled(device="eth0", direction="rx"): 1024.0,
                labelled(device="eth0", direction="tx"): 1024.0,
            },
        },
        remedy="ethtool -G eth0 tx 1024.",
    ),
    Case(
        "nic_queues_few",
        WARNING,
        "One CPU takes 90 % of the interrupts of eth0, which has 1 of 8 queues.",
        {},
        FEW_INTERRUPTS,
        grown=("nic_cpu_interrupts_total",),
        host={**INTERRUPTS, **_channels(1, 8), **CPUS},
        remedy="ethtool -L eth0 combined 4,",
    ),
    Case(
        "nic_one_queue",
        INFO,
        "One CPU takes 90 % of the interrupts of eth0, which has but one queue.",
        {},
        {"nic_rps_queues": {ETH0: 1.0}},
        grown=("nic_cpu_interrupts_total",),
        host={**INTERRUPTS, **_channels(1, 1), "nic_rps_queues": {ETH0: 0.0}, **CPUS},
        remedy="echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus",
    ),
    Case(
        "softnet_squeezed",
        INFO,
        "A CPU left packets waiting 11 times a second.",
        {},
        {"host_softnet_squeezed_total": {labelled(cpu="0"): 600.0, labelled(cpu="1"): 600.0}},
        grown=("host_softnet_squeezed_total",),
        host={
            "host_softnet_squeezed_total": {labelled(cpu="0"): 660.0, labelled(cpu="1"): 9.0},
            **sysctl("net.core.netdev_budget", 300.0),
        },
        remedy="netdev_budget=600 net.core.netdev_budget_usecs=N",
    ),
)
