"""Cases for the alerts about network cards."""

from typing import Any

from tests.alerts.host_support import Series, entries

_SHARE_NAME = "device:memcached_nic_cpu_interrupts_max_per_all:ratio_rate5m"
_SHARE = f'{_SHARE_NAME}@exporter{{device="eth0"}}'
_ALL = 'device:memcached_nic_cpu_interrupts:rate5m@exporter{device="eth0"}'


def documents() -> list[dict[str, Any]]:
    """Return entries of promtool's ``tests:``."""
    return [*_drops(), *_queues()]


def _ring(
    entries_now: int, most: int, direction: str = "rx", device: str = "eth0", who: str = "exporter"
) -> Series:
    labels = f'{{device="{device}", direction="{direction}"}}'
    return {
        f"memcached_nic_ring_entries@{who}{labels}": f"{entries_now}x40",
        f"memcached_nic_ring_entries_max@{who}{labels}": f"{most}x40",
    }


def _reason(reason: str, values: str, device: str = "eth0", who: str = "exporter") -> Series:
    labels = f'{{device="{device}", reason="{reason}"}}'
    return {f"memcached_nic_drops_total@{who}{labels}": values}


def _by_queue(queue: int, values: str, direction: str = "rx") -> Series:
    labels = f'{{device="eth0", direction="{direction}", queue="{queue}"}}'
    return {f"memcached_nic_queue_drops_total@exporter{labels}": values}


def _drops() -> list[dict[str, Any]]:
    alert = "MemcachedNicDrops"
    rx = 'exporter warning device="eth0", direction="rx"'
    tx = 'exporter warning device="eth0", direction="tx"'
    short = _ring(256, 4096)
    return [
        *entries(
            alert,
            "fires, with the largest of reasons that overlap",
            {**_reason("rx_missed_errors", "0+60x40"), **_reason("rx_drops", "0+90x40"), **short},
            {"10m": (), "30m": (rx,)},
            {
                rx: "The network card eth0 of exporter:9150 drops 1.5 packets a second (rx), and"
                " its ring is shorter than it could be."
            },
        ),
        *entries(
            alert,
            "fires for names of other drivers",
            {**_reason("port.rx_dropped", "0+60x40"), **short},
            {"30m": (rx,)},
        ),
        *entries(
            alert,
            "fires once where both the card and its queues count",
            {
                **_reason("rx_drops", "0+60x40"),
                **_by_queue(0, "0+90x40"),
                **_by_queue(1, "0+90x40"),
                **short,
            },
            {"30m": (rx,)},
        ),
        *entries(
            alert,
            "fires for what queues alone count",
            {
                **_reason("rx_missed_errors", "0x40"),
                **_by_queue(0, "5+30x40", "tx"),
                **_by_queue(1, "0+60x40", "tx"),
                **short,
                **_ring(256, 512, "tx"),
            },
            {"30m": (tx,)},
            {
                tx: "The network card eth0 of exporter:9150 drops 1.5 packets a second (tx), and"
                " its ring is shorter than it could be."
            },
        ),
        *entries(
            alert,
            "below: a cloud's limit has no ring",
            {**_reason("bw_in_allowance_exceeded", "0+60x40"), **short},
            {"30m": ()},
        ),
        *entries(
            alert,
            "below: what was lost on the way in, while the other ring is short",
            {**_by_queue(0, "0+60x40"), **_ring(256, 512, "tx"), **_ring(512, 512)},
            {"30m": ()},
        ),
        *entries(
            alert,
            "boundary: the ring is as long as it can be",
            {**_reason("rx_drops", "0+60x40"), **_by_queue(0, "0+60x40"), **_ring(4096, 4096)},
            {"30m": ()},
        ),
        *entries(
            alert,
            "boundary: nothing dropped",
            {**_reason("rx_drops", "9x40"), **_by_queue(0, "9x40"), **short},
            {"30m": ()},
        ),
        *entries(alert, "idle", {**_reason("rx_drops", "0x40"), **short}, {"30m": ()}),
        *entries(
            alert,
            "restart of the host",
            {**_reason("rx_drops", "9000x15 0x25"), **short},
            {"17m": (), "30m": ()},
        ),
        *entries(alert, "missing: rings", _reason("rx_drops", "0+60x40"), {"30m": ()}),
        *entries(
            alert,
            "several hosts and cards, one bad",
            {
                **_reason("rx_drops", "0+60x40"),
                **_reason("rx_drops", "5x40", "eth1"),
                **_reason("rx_drops", "0+60x40", "eth1", "other"),
                **_reason("rx_drops", "0+60x40", "eth2", "other"),
                **_ring(4096, 4096),
                **_ring(256, 4096, "rx", "eth1"),
                **_ring(256, 4096, "rx", "eth1", "other"),
            },
            {"30m": ('other warning device="eth1", direction="rx"',)},
        ),
    ]


def _interrupts(*counts: int, device: str = "eth0", who: str = "exporter") -> Series:
    return {
        f'memcached_nic_cpu_interrupts_total@{who}{{device="{device}", cpu="{cpu}"}}': f"0+{n}x40"
        for cpu, n in enumerate(counts)
    }


def _card(  # noqa: PLR0913
    channels: int,
    most: int,
    cpus: int,
    *,
    kind: str = "combined",
    device: str = "eth0",
    who: str = "exporter",
) -> Series:
    labels = f'{{device="{device}", kind="{kind}"}}'
    return {
        f"memcached_nic_channels@{who}{labels}": f"{channels}x40",
        f"memcached_nic_channels_max@{who}{labels}": f"{most}x40",
        f'memcached_host_cpus@{who}{{state="online"}}': f"{cpus}x40",
        f'memcached_host_cpus@{who}{{state="possible"}}': "1x40",
    }


def _queues() -> list[dict[str, Any]]:
    alert = "MemcachedNicQueuesFew"
    busy = _interrupts(90000, 10000)
    card = _card(1, 4, 8)
    fires = {"30m": ('exporter warning device="eth0"',)}
    return [
        *entries(
            alert,
            "fires",
            {**busy, **card},
            {"14m": (), **fires},
            {
                'exporter warning device="eth0"': "One CPU takes 90% of the interrupts of eth0 of"
                " exporter:9150, more than 80 %, while the card has fewer queues than it could and"
                " than there are CPUs."
            },
        ),
        *entries(
            alert,
            "fires for receive queues of their own",
            {**busy, **_card(1, 4, 8, kind="rx")},
            fires,
        ),
        *entries(alert, "below: spread", {**_interrupts(50000, 50000), **card}, {"30m": ()}),
        *entries(
            alert, "below: other queues", {**busy, **_card(1, 4, 8, kind="other")}, {"30m": ()}
        ),
        *entries(
            alert,
            "below: a kind of queue that is not in use",
            {**busy, **_card(4, 4, 8), **_card(0, 4, 8, kind="rx")},
            {"30m": ()},
        ),
        *entries(alert, "boundary: no more queues", {**busy, **_card(4, 4, 8)}, {"30m": ()}),
        *entries(alert, "boundary: as many as CPUs", {**busy, **_card(2, 4, 2)}, {"30m": ()}),
        *entries(
            alert, "boundary of the share", {_SHARE: "0.8x40", _ALL: "2000x40", **card}, {"30m": ()}
        ),
        *entries(
            alert,
            "boundary of the share, above",
            {_SHARE: "0.81x40", _ALL: "2000x40", **card},
            fires,
        ),
        *entries(
            alert, "boundary of the floor", {_SHARE: "1x40", _ALL: "1000x40", **card}, {"30m": ()}
        ),
        *entries(
            alert, "boundary of the floor, above", {_SHARE: "1x40", _ALL: "1001x40", **card}, fires
        ),
        *entries(alert, "idle", {**_interrupts(60, 0), **card}, {"30m": ()}),
        *entries(
            alert,
            "idle: no interrupt",
            {**_interrupts(0, 0), **card},
            {"30m": ()},
            absent=_SHARE_NAME,
        ),
        *entries(
            alert,
            "restart of the host",
            {
                'memcached_nic_cpu_interrupts_total@exporter{cpu="0", device="eth0"}': "9e9x9 0x30",
                **card,
            },
            {"17m": (), "30m": ()},
        ),
        *entries(alert, "missing: channels", busy, {"30m": ()}),
        *entries(
            alert,
            "several hosts, one bad",
            {
                **busy,
                **_card(8, 8, 8),
                **_interrupts(90000, 0, who="other"),
                **_card(1, 8, 8, who="other"),
            },
            {"30m": ('other warning device="eth0"',)},
        ),
    ]
