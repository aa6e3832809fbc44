"""Cases for the alerts about packets and connections that wait."""

from typing import Any

from tests.alerts.host_support import Checks, Series, entries

_DROPPED = "memcached_host_softnet_dropped_total"
_SQUEEZED = "instance:memcached_host_softnet_squeezed:max_rate5m"
_OVERFLOWS = "memcached_host_tcp_listen_overflows_total"
_FULL = "server:memcached_listen_queue_length_per_limit:max_ratio_max5m"
_LONG = "listener:memcached_listen_queue_length_per_limit:ratio_avg5m"


def documents() -> list[dict[str, Any]]:
    """Return entries of promtool's ``tests:``."""
    return [*_drops(), *_squeezes(), *_overflows(), *_queues()]


def _drops() -> list[dict[str, Any]]:
    alert = "MemcachedSoftnetDrops"
    silent: Checks = {"12m": (), "20m": (), "30m": (), "40m": ()}

    def dropped(who: str, *values: str) -> Series:
        return {f'{_DROPPED}@{who}{{cpu="{cpu}"}}': text for cpu, text in enumerate(values)}

    return [
        *entries(
            alert,
            "fires, and resolves when it is over",
            dropped("exporter", "0+60x20 1200x20", "0+30x20 600x20"),
            {"10m": (), "28m": (), "20m": ("exporter warning",)},
            {
                "exporter warning": "The host of exporter:9150 drops 1.5 packets a second that"
                " wait for a CPU (net.core.netdev_max_backlog)."
            },
        ),
        *entries(alert, "below: a single burst", dropped("exporter", "0x10 90000x30"), silent),
        *entries(alert, "boundary: nought", dropped("exporter", "7x40", "0x40"), silent),
        *entries(
            alert,
            "boundary, above: now and then",
            dropped("exporter", "0x3 1x3 2x3 3x3 4x3 5x3 6x3 7x3 8x3 9x3"),
            {"30m": ("exporter warning",)},
        ),
        *entries(alert, "idle", dropped("exporter", "0x40"), silent),
        *entries(alert, "restart of the host", dropped("exporter", "9000x15 0x25"), silent),
        *entries(alert, "missing for a while", dropped("exporter", "9x10 stale _x5 9x25"), silent),
        *entries(
            alert,
            "several hosts, one bad",
            {**dropped("exporter", "5x40", "0x40"), **dropped("other", "0x40", "0+1x40")},
            {"30m": ("other warning",)},
        ),
    ]


def _squeezes() -> list[dict[str, Any]]:
    alert = "MemcachedSoftnetSqueezed"
    fires = {"30m": ("exporter info",)}

    def squeezed(who: str, *counts: int) -> Series:
        name = f"memcached_host_softnet_squeezed_total@{who}"
        return {f'{name}{{cpu="{cpu}"}}': f"0+{n}x40" for cpu, n in enumerate(counts)}

    return [
        *entries(
            alert,
            "fires",
            squeezed("exporter", 0, 1200, 6),
            {"14m": (), **fires},
            {
                "exporter info": "A CPU of the host of exporter:9150 used up its budget for"
                " packets 20 times a second, more than 10."
            },
        ),
        *entries(
            alert, "below: spread over CPUs", squeezed("exporter", 400, 400, 400), {"30m": ()}
        ),
        *entries(alert, "boundary", {f"{_SQUEEZED}@exporter": "10x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_SQUEEZED}@exporter": "10.1x40"}, fires),
        *entries(alert, "idle", squeezed("exporter", 0), {"30m": ()}),
        *entries(
            alert,
            "restart of the host",
            {'memcached_host_softnet_squeezed_total@exporter{cpu="0"}': "9e9x15 0x25"},
            {"17m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing after a while resolves",
            {f"{_SQUEEZED}@exporter": "90x20 stale _x20"},
            {"19m": ("exporter info",), "30m": ()},
        ),
        *entries(
            alert,
            "several hosts, one bad",
            {**squeezed("exporter", 3, 3), **squeezed("other", 3, 3000)},
            {"30m": ("other info",)},
        ),
    ]


def _queue(who: str, length: str, limit: str = "1024x40") -> Series:
    labels = '{address="127.0.0.1:11211"}'
    return {
        f"memcached_listen_queue_length@{who}{labels}": length,
        f"memcached_listen_queue_limit@{who}{labels}": limit,
    }


def _overflows() -> list[dict[str, Any]]:
    alert = "MemcachedListenOverflows"
    silent: Checks = {"4m": (), "16m": (), "30m": ()}
    critical, warning = {"30m": ("a critical",)}, {"30m": ("a warning",)}
    overflows = {f"{_OVERFLOWS}@a": "0x10 0+60x30"}
    return [
        *entries(
            alert,
            "fires critical within minutes, and then no warning",
            {**overflows, **_queue("a", "0x10 1025x30")},
            {"11m": (), "15m": ("a critical",), "18m": ("a critical",)},
            {
                "a critical": "The kernel turned away 300 attempts to connect in five minutes"
                " where memcached on a:11211 listens, because an accept queue was full."
            },
        ),
        *entries(
            alert,
            "fires warning where it is another program's queue",
            {**overflows, **_queue("a", "3x40")},
            {"14m": (), **warning},
            {
                "a warning": "The kernel turned away 600 attempts to connect in ten minutes in"
                " the network namespace of memcached on a:11211. Its own accept queue was not"
                " seen above 50 %: it was a short burst, or another program's queue."
            },
        ),
        *entries(
            alert,
            "fires critical when one of two queues is long",
            {
                **overflows,
                **_queue("a", "1025x40"),
                'memcached_listen_queue_length@a{address="[::1]:11211"}': "0x40",
                'memcached_listen_queue_limit@a{address="[::1]:11211"}': "1024x40",
            },
            critical,
        ),
        *entries(
            alert,
            "fires critical when the queue was seen long some minutes ago",
            {**overflows, **_queue("a", "0x26 1025 0x20")},
            {"26m": ("a warning",), "30m": ("a critical",)},
        ),
        *entries(
            alert,
            "fires critical at the connection limit, when the queue has no length",
            {**overflows, **_queue("a", "1x40", "0x40")},
            critical,
            absent=_FULL,
        ),
        *entries(
            alert,
            "fires warning though the queue had no length for a minute",
            {**overflows, **_queue("a", "1x40", "1024x27 0x1 1024x20")},
            warning,
        ),
        *entries(alert, "below: none", {f"{_OVERFLOWS}@a": "9x40", **_queue("a", "9x40")}, silent),
        *entries(
            alert,
            "boundary of the queue",
            {**overflows, f"{_FULL}@a": "0.5x40"},
            warning,
        ),
        *entries(
            alert,
            "boundary of the queue, above",
            {**overflows, f"{_FULL}@a": "0.51x40"},
            critical,
        ),
        *entries(alert, "boundary: nought", {f"{_OVERFLOWS}@a": "0x40"}, silent),
        *entries(
            alert,
            "boundary: nought, long queue",
            {f"{_OVERFLOWS}@a": "0x40", f"{_FULL}@a": "1x40"},
            silent,
        ),
        *entries(alert, "idle", {f"{_OVERFLOWS}@a": "0x40", **_queue("a", "0x40")}, silent),
        *entries(alert, "restart of the host", {f"{_OVERFLOWS}@a": "90x15 0x25"}, silent),
        *entries(alert, "missing: queue", overflows, critical),
        *entries(
            alert,
            "several servers, one bad",
            {
                f"{_OVERFLOWS}@a": "5x40",
                f"{_OVERFLOWS}@b": "0+9x40",
                **_queue("a", "0x40"),
                **_queue("b", "1025x40"),
            },
            {"30m": ("b critical",)},
        ),
    ]


def _queues() -> list[dict[str, Any]]:
    alert = "MemcachedAcceptQueueLong"
    address = 'address="127.0.0.1:11211"'
    fires = {"30m": (f"a warning {address}",)}
    return [
        *entries(
            alert,
            "fires",
            _queue("a", "768x40"),
            {"2m": (), **fires},
            {
                f"a warning {address}": "The accept queue of memcached on a:11211 at"
                " 127.0.0.1:11211 is 75% full, more than 50 %."
            },
        ),
        *entries(
            alert,
            "fires while the limit is nought for a minute",
            _queue("a", "768x40", "1024x27 0x1 1024x20"),
            {"28m": (f"a warning {address}",), **fires},
        ),
        *entries(alert, "below", _queue("a", "256x40"), {"30m": ()}),
        *entries(alert, "below: a burst", _queue("a", "0x20 1025 0x20"), {"20m": (), "24m": ()}),
        *entries(alert, "boundary", {f"{_LONG}@a{{{address}}}": "0.5x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_LONG}@a{{{address}}}": "0.501x40"}, fires),
        *entries(alert, "idle: no limit yet", _queue("a", "0x40", "0x40"), {"30m": ()}),
        *entries(alert, "idle: guarded", _queue("a", "1x40", "0x40"), {"30m": ()}),
        *entries(
            alert,
            "restart",
            _queue("a", "1025x15 stale 0x24"),
            {"15m": (f"a warning {address}",), "25m": ()},
        ),
        *entries(
            alert,
            "missing: limit",
            {f"memcached_listen_queue_length@a{{{address}}}": "9x40"},
            {"30m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**_queue("a", "0x40"), **_queue("b", "1025x40"), **_queue("c", "3x40")},
            {"30m": (f"b warning {address}",)},
        ),
    ]
