"""What network cards counted: by queue, and what they dropped."""

from exporter.catalogue.host.dropped import host_series_dropped
from exporter.catalogue.row import Section, counter

_QUEUE = ("device", "direction", "queue")
_SOURCE = (
    "From netlink (qstats-get) where driver and kernel have it, else from the counters of"
    " `ethtool -S` that are known to be a queue's"
)

NIC_QUEUES = Section(
    name="nic_queues",
    command="netlink netdev, ioctl SIOCETHTOOL",
    rows=(
        counter(
            "packets",
            "memcached_nic_queue_packets_total",
            "Packets that went through a queue of a network device.",
            dynamic=_QUEUE,
            note=f"{_SOURCE}. At most 128 queues per device and direction. Of veth, only those that"
            " waited in a queue of the receiving side: with XDP, or with GRO and a sender without"
            " TSO.",
        ),
        counter(
            "bytes",
            "memcached_nic_queue_bytes_total",
            "Bytes that went through a queue of a network device.",
            dynamic=_QUEUE,
            note=f"{_SOURCE}; not every driver counts them.",
        ),
        counter(
            "drops",
            "memcached_nic_queue_drops_total",
            "Packets that a queue of a network device dropped.",
            dynamic=_QUEUE,
            note=f"{_SOURCE}; not every driver counts them.",
        ),
        counter(
            "stops",
            "memcached_nic_queue_stops_total",
            "Times that the kernel had to stop sending because a queue of a network device was"
            " full.",
            dynamic=("device", "queue"),
            note="From netlink (Linux 6.10) only.",
        ),
        host_series_dropped("nic_queues"),
    ),
)

NIC_DROPS = Section(
    name="nic_drops",
    command="ioctl SIOCETHTOOL, /sys/class/net/*/statistics",
    rows=(
        counter(
            "drops",
            "memcached_nic_drops_total",
            "Packets that a network device dropped or that a cloud's limit held up, and times that"
            " sending timed out, by the driver's own name.",
            dynamic=("device", "reason"),
            note="Reasons may overlap, so that their sum means nothing. At most 12 per device, of a"
            " fixed list.",
        ),
    ),
)
