"""Which counters of a driver (``ethtool -S``) belong to a queue, and which are of drops.

Every driver has its own way to write a queue's number into a name, and hundreds of names besides.
What is not in the tables here is not exported. Names look alike that are not: ``rx_64_bytes_phy``
counts packets of 64 bytes, not bytes of queue 64.
"""

import re
from collections.abc import Iterator

import msgspec

_DIRECTIONS = {"rx": "rx", "tx": "tx", "In": "rx", "Out": "tx"}

_USUAL = {"packets": "packets", "bytes": "bytes"}
_DROPS = _USUAL | {"drops": "drops"}
_DROPPED = _USUAL | {"dropped": "drops"}


class Shape(msgspec.Struct, frozen=True):
    """How some drivers name the counters of a queue."""

    drivers: frozenset[str]
    pattern: re.Pattern[str]
    """Matches a whole name, without blanks around it; has groups direction, queue and field."""
    fields: dict[str, str]
    """Which quantity a field adds to: packets, bytes or drops. A field that is not here is none."""


def _shape(drivers: str, pattern: str, fields: dict[str, str]) -> Shape:
    spelt = pattern.format(
        direction=r"(?P<direction>rx|tx)", queue=r"(?P<queue>\d{1,5})", field=r"(?P<field>\w+)"
    )
    return Shape(frozenset(drivers.split()), re.compile(spelt, re.ASCII), fields)


_SHAPES = (
    _shape("virtio_net", r"{direction}_queue_{queue}_{field}", _DROPS),
    # virtio_net since Linux 6.8, which since 6.11 has packets and bytes in netlink only.
    _shape("virtio_net", r"{direction}{queue}_{field}", _DROPS),
    _shape(
        "ixgbe ixgbevf igb igbvf igc ice hv_netvsc ifb",
        r"{direction}_queue_{queue}_{field}",
        _DROPS,
    ),
    # What the receiving side takes from its queues, where not all packets go through.
    _shape(
        "veth",
        r"{direction}_queue_{queue}_{field}",
        {"xdp_packets": "packets", "xdp_bytes": "bytes", "drops": "drops"},
    ),
    # Old releases repeat the direction: rx-0.rx_packets.
    _shape("i40e i40evf iavf sfc", r"{direction}-{queue}\.(?:[rt]x_)?{field}", _USUAL),
    _shape(
        "mlx5_core",
        r"{direction}{queue}_{field}",
        _DROPPED | {"oversize_pkts_sw_drop": "drops"},
    ),
    _shape("mlx4_en mlx4_core", r"{direction}{queue}_{field}", _DROPPED),
    _shape("ena", r"queue_{queue}_{direction}_{field}", {"cnt": "packets", "bytes": "bytes"}),
    _shape(
        "bnxt_en bnx2x",
        r"\[{queue}\]: {direction}_{field}",
        {
            "ucast_packets": "packets",
            "mcast_packets": "packets",
            "bcast_packets": "packets",
            "ucast_bytes": "bytes",
            "mcast_bytes": "bytes",
            "bcast_bytes": "bytes",
            "bytes": "bytes",
            "discards": "drops",
        },
    ),
    # Packets of a queue are in netlink only.
    _shape(
        "gve",
        r"{direction}_{field}\[{queue}\]",
        {"bytes": "bytes", "dropped_pkt": "drops", "queue_drop_cnt": "drops"},
    ),
    _shape(
        "mana ionic",
        r"{direction}_{queue}_{field}",
        _USUAL | {"pkts": "packets", "dropped": "drops"},
    ),
    _shape("idpf", r"{direction}_q-{queue}_{field}", {"pkts": "packets", "bytes": "bytes"}),
    Shape(
        # A queue with PTP in front is not one of the network's.
        drivers=frozenset({"atlantic"}),
        pattern=re.compile(
            r"(?:TC\d+ )?Queue\[(?P<queue>\d+)\] (?P<direction>In|Out)(?P<field>Packets)",
            re.ASCII,
        ),
        fields={"Packets": "packets"},
    ),
)

_UNKNOWN_DRIVER = (
    _shape("", r"{direction}_queue_{queue}_{field}", _DROPS),
    _shape("", r"{direction}-{queue}\.(?:[rt]x_)?{field}", _USUAL),
    _shape("", r"{direction}{queue}_{field}", _DROPPED | _DROPS),
    _shape("", r"queue_{queue}_{direction}_{field}", _USUAL | {"cnt": "packets"}),
)
"""Ways that are common and mean nothing else, for drivers without a shape of their own."""

_BLOCK_DRIVER = "vmxnet3"
_BLOCK_HEADS = {"Rx Queue#": "rx", "Tx Queue#": "tx"}
"""The driver vmxnet3 repeats the same names for every queue, below a row of the queue."""
_BLOCK_FIELDS = {
    "rx": {
        "ucast pkts rx": "packets",
        "mcast pkts rx": "packets",
        "bcast pkts rx": "packets",
        "ucast bytes rx": "bytes",
        "mcast bytes rx": "bytes",
        "bcast bytes rx": "bytes",
        "pkts rx OOB": "drops",
        "pkts rx out of buf": "drops",
        "drv dropped rx total": "drops",
    },
    "tx": {
        "ucast pkts tx": "packets",
        "mcast pkts tx": "packets",
        "bcast pkts tx": "packets",
        "ucast bytes tx": "bytes",
        "mcast bytes tx": "bytes",
        "bcast bytes tx": "bytes",
        "pkts tx discard": "drops",
        "drv dropped tx total": "drops",
    },
}

_DROP_REASONS = (
    "rx_missed_errors",
    "rx_missed",
    "rx_no_buffer_count",
    "rx_no_dma_resources",
    "rx_out_of_buffer",
    "rx_discards_phy",
    "tx_discards_phy",
    "rx_discards",
    "rx_total_discard_pkts",
    "tx_total_discard_pkts",
    "rx_total_ring_discards",
    "tx_total_ring_discards",
    "rx_fifo_errors",
    "rx_over_errors",
    "rx_overruns",
    "rx_drops",
    "tx_drops",
    "rx_dropped",
    "tx_dropped",
    "rx_dropped.nic",
    "port.rx_dropped",
    "port.rx_discards",
    "InDroppedDma",
    "tx_timeout",
    "tx_timeouts",
    "tx_timeout_count",
    "tx_tx_timeouts",
    "tx timeout count",
    "bw_in_allowance_exceeded",
    "bw_out_allowance_exceeded",
    "pps_allowance_exceeded",
    "conntrack_allowance_exceeded",
    "linklocal_allowance_exceeded",
)
"""Counters of a whole device, the more telling ones first."""


Chosen = list[tuple[int, tuple[str, ...]]]
"""Positions of counters among all of a device, and what each of them counts."""


def queue_counters(driver: str, names: list[str]) -> Chosen:
    """Return the counters of queues, by quantity, direction and queue.

    What several counters count together is their sum.
    """
    if driver == _BLOCK_DRIVER:
        return list(_block_counters(names))
    shapes = [shape for shape in _SHAPES if driver in shape.drivers] or _UNKNOWN_DRIVER
    chosen: Chosen = []
    for position, name in enumerate(names):
        for shape in shapes:
            match = shape.pattern.fullmatch(name.strip())
            quantity = shape.fields.get(match["field"]) if match else None
            if match and quantity:
                direction = _DIRECTIONS[match["direction"]]
                chosen.append((position, (quantity, direction, str(int(match["queue"])))))
                break
    return chosen


def drop_counters(_: str, names: list[str]) -> Chosen:
    """Return the counters of what a device dropped, by their names."""
    positions = {name.strip(): position for position, name in enumerate(names)}
    return [(positions[reason], (reason,)) for reason in _DROP_REASONS if reason in positions]


def _block_counters(names: list[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the counters of vmxnet3; queues stand in the order of their numbers."""
    seen = {"rx": -1, "tx": -1}
    direction = ""
    for position, name in enumerate(names):
        if not name.startswith(" "):
            direction = _BLOCK_HEADS.get(name.strip(), "")
            if direction:
                seen[direction] += 1
        elif direction:
            quantity = _BLOCK_FIELDS[direction].get(name.strip())
            if quantity:
                yield position, (quantity, direction, str(seen[direction]))
