"""Network cards: what they are, and how many queues and how much room they have."""

from exporter.catalogue.host.dropped import host_series_dropped
from exporter.catalogue.row import Kind, Row, Section, gauge

_NOT_SUPPORTED = "Absent for what the device does not have."

NIC = Section(
    name="nic",
    command="ioctl SIOCETHTOOL",
    rows=(
        Row(
            key="info",
            name="memcached_nic_info",
            kind=Kind.INFO,
            help="Driver of a network device, its version, the firmware, the address on the bus and"
            " the memory node that is nearest.",
            dynamic=("device", "driver", "version", "firmware", "bus", "numa_node"),
            note="As `ethtool -i` shows it. Devices are the physical ones (in a virtual machine,"
            " those that it has), those that the configuration includes, and what these stand on;"
            " at most 16.",
        ),
        gauge(
            "channels",
            "memcached_nic_channels",
            "Queues of a network device that are in use, by kind.",
            dynamic=("device", "kind"),
            note=f"As `ethtool -l` shows it; `ethtool -L` changes it. {_NOT_SUPPORTED}",
        ),
        gauge(
            "channels_max",
            "memcached_nic_channels_max",
            "Queues that a network device could use, by kind.",
            dynamic=("device", "kind"),
            note=_NOT_SUPPORTED,
        ),
        gauge(
            "ring_entries",
            "memcached_nic_ring_entries",
            "Packets that wait in a queue of a network device at most, by direction.",
            dynamic=("device", "direction"),
            note="As `ethtool -g` shows it; `ethtool -G` changes it. A larger ring costs cache and"
            f" delay: it is worth it where packets are dropped. {_NOT_SUPPORTED}",
        ),
        gauge(
            "ring_entries_max",
            "memcached_nic_ring_entries_max",
            "Packets that a queue of a network device could be set to hold, by direction.",
            dynamic=("device", "direction"),
            note=_NOT_SUPPORTED,
        ),
        gauge(
            "coalesce_seconds",
            "memcached_nic_coalesce_seconds",
            "How long a network device waits for further packets before it interrupts, in seconds.",
            dynamic=("device", "direction"),
            note="As `ethtool -c` shows it; 0 also where a driver does not know the setting.",
        ),
        gauge(
            "coalesce_frames",
            "memcached_nic_coalesce_frames",
            "How many packets a network device waits for before it interrupts.",
            dynamic=("device", "direction"),
            note="0 also where a driver does not know the setting.",
        ),
        gauge(
            "coalesce_adaptive",
            "memcached_nic_coalesce_adaptive",
            "Whether the driver changes the two limits by itself (1) or not (0).",
            dynamic=("device", "direction"),
        ),
        host_series_dropped("nic"),
    ),
)
