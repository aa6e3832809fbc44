"""Cases for the alerts about control groups and swap space."""

from typing import Any

from tests.alerts.host_support import Series, entries

_THROTTLED = "server:memcached_cgroup_throttled_periods_per_cpu_periods:ratio_rate5m"
_TIGHT = "server:memcached_limit_bytes_per_cgroup_memory_limit_bytes:ratio_last5m"
_SWAPPED = "server:memcached_process_swap_bytes_per_memory_bytes:ratio"
_MIB = 1 << 20


def documents() -> list[dict[str, Any]]:
    """Return entries of promtool's ``tests:``."""
    return [*_throttled(), *_tight(), *_killed(), *_swapping()]


def _periods(who: str, throttled: int, periods: int) -> Series:
    return {
        f"memcached_cgroup_throttled_periods_total@{who}": f"0+{throttled}x40",
        f"memcached_cgroup_cpu_periods_total@{who}": f"0+{periods}x40",
    }


def _throttled() -> list[dict[str, Any]]:
    alert = "MemcachedCpuThrottled"
    fires = {"30m": ("a warning",)}
    return [
        *entries(
            alert,
            "fires",
            _periods("a", 150, 600),
            {"9m": (), **fires},
            {
                "a warning": "memcached on a:11211 was stopped by the CPU quota of its control"
                " group in 25% of the periods, more than 10 %. Each stop is up to a tenth of a"
                " second of latency."
            },
        ),
        *entries(alert, "below", _periods("a", 10, 600), {"30m": ()}),
        *entries(alert, "boundary", {f"{_THROTTLED}@a": "0.1x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_THROTTLED}@a": "0.101x40"}, fires),
        *entries(alert, "idle: no period", _periods("a", 0, 0), {"30m": ()}),
        # Periods that were throttled without a period would be a ratio without end.
        *entries(alert, "idle: guarded", _periods("a", 60, 0), {"30m": ()}),
        *entries(
            alert,
            "restart",
            {
                "memcached_cgroup_throttled_periods_total@a": "90000+0x15 0+0x25",
                "memcached_cgroup_cpu_periods_total@a": "90000+600x15 0+600x25",
            },
            {"17m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing: periods",
            {"memcached_cgroup_throttled_periods_total@a": "0+150x40"},
            {"30m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**_periods("a", 0, 600), **_periods("b", 300, 600), **_periods("c", 0, 0)},
            {"30m": ("b warning",)},
        ),
    ]


def _limits(who: str, items: float, group: float) -> Series:
    return {
        f"memcached_limit_bytes@{who}": f"{items * _MIB:.0f}x40",
        f"memcached_cgroup_memory_limit_bytes@{who}": f"{group * _MIB:.0f}x40",
    }


def _tight() -> list[dict[str, Any]]:
    alert = "MemcachedCgroupMemoryTight"
    fires = {"30m": ("a warning",)}
    return [
        *entries(
            alert,
            "fires",
            _limits("a", 1000, 1000),
            {"9m": (), **fires},
            {
                "a warning": "memcached on a:11211 may use 100% of its control group's memory for"
                " items, more than 85 %. Hash table, threads and connections come on top, and the"
                " kernel kills it at the limit."
            },
        ),
        *entries(alert, "below", _limits("a", 800, 1000), {"30m": ()}),
        *entries(alert, "boundary", {f"{_TIGHT}@a": "0.85x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_TIGHT}@a": "0.851x40"}, fires),
        *entries(alert, "idle: a limit of nought", _limits("a", 64, 0), {"30m": ()}),
        *entries(
            alert,
            "restart with less memory",
            {
                "memcached_limit_bytes@a": f"{1000 * _MIB}x20 {500 * _MIB}x20",
                "memcached_cgroup_memory_limit_bytes@a": f"{1000 * _MIB}x40",
            },
            {"20m": ("a warning",), "22m": (), "30m": ()},
        ),
        *entries(
            alert,
            "restart of the group with less memory",
            {
                "memcached_limit_bytes@a": f"{900 * _MIB}x40",
                "memcached_cgroup_memory_limit_bytes@a": f"{2000 * _MIB}x20 {1000 * _MIB}x20",
            },
            {"20m": (), "33m": ("a warning",)},
        ),
        *entries(
            alert,
            "missing for two scrapes that the server refused",
            {
                "memcached_limit_bytes@a": f"{1000 * _MIB}x15 stale _ {1000 * _MIB}x20",
                "memcached_cgroup_memory_limit_bytes@a": f"{1000 * _MIB}x40",
            },
            {"16m": ("a warning",), "17m": ("a warning",), "20m": ("a warning",)},
        ),
        *entries(
            alert, "missing: no limit", {"memcached_limit_bytes@a": f"{_MIB}x40"}, {"30m": ()}
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**_limits("a", 64, 1000), **_limits("b", 960, 1000), **_limits("c", 64, 0)},
            {"30m": ("b warning",)},
        ),
    ]


def _killed() -> list[dict[str, Any]]:
    alert = "MemcachedOomKilled"
    name = "memcached_cgroup_oom_kills_total"
    return [
        *entries(
            alert,
            "fires",
            {f"{name}@a": "0x10 1x30"},
            {"10m": (), "12m": (), "14m": ("a critical",)},
            {
                "a critical": "The kernel killed processes in the control group of memcached on"
                " a:11211, as the group's memory limit was reached; in the last ten minutes: 1."
            },
        ),
        # E10: what was counted once does not go on firing.
        *entries(
            alert,
            "fires and resolves, E10",
            {f"{name}@a": "0x10 1x30"},
            {"19m": ("a critical",), "23m": ()},
        ),
        *entries(alert, "below: killed long ago", {f"{name}@a": "7x40"}, {"5m": (), "30m": ()}),
        *entries(alert, "boundary: nought", {f"{name}@a": "0x40"}, {"5m": (), "30m": ()}),
        *entries(alert, "idle", {f"{name}@a": "0x40", f"{name}@b": "0x40"}, {"30m": ()}),
        *entries(
            alert, "restart in a new group", {f"{name}@a": "3x15 0x25"}, {"17m": (), "20m": ()}
        ),
        *entries(
            alert,
            "missing for a while",
            {f"{name}@a": "2x10 stale _x5 2x20"},
            {"18m": (), "22m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {f"{name}@a": "1x40", f"{name}@b": "0x20 2x20", f"{name}@c": "0x40"},
            {"25m": ("b critical",)},
        ),
    ]


def _memory(who: str, swapped: float, resident: float) -> Series:
    return {
        f"memcached_process_swap_bytes@{who}": f"{swapped * _MIB:.0f}x40",
        f"memcached_process_resident_memory_bytes@{who}": f"{resident * _MIB:.0f}x40",
    }


def _swapping() -> list[dict[str, Any]]:
    alert = "MemcachedSwapping"
    fires = {"30m": ("a warning",)}
    return [
        *entries(
            alert,
            "fires",
            _memory("a", 250, 750),
            {"9m": (), **fires},
            {
                "a warning": "Of the memory of memcached on a:11211, 25% is in swap space, more"
                " than 1 %: a get that needs it waits for the disk."
            },
        ),
        *entries(alert, "fires: all is swapped out", _memory("a", 100, 0), fires),
        *entries(
            alert, "below: pages that start-up alone needed", _memory("a", 1, 999), {"30m": ()}
        ),
        *entries(alert, "boundary", {f"{_SWAPPED}@a": "0.01x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_SWAPPED}@a": "0.0101x40"}, fires),
        *entries(alert, "idle: no memory at all", _memory("a", 0, 0), {"30m": ()}, absent=_SWAPPED),
        *entries(
            alert,
            "restart",
            {
                "memcached_process_swap_bytes@a": f"{100 * _MIB}x20 0x20",
                "memcached_process_resident_memory_bytes@a": f"{900 * _MIB}x20 {2 * _MIB}x20",
            },
            {"20m": ("a warning",), "21m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing: resident memory",
            {"memcached_process_swap_bytes@a": f"{100 * _MIB}x40"},
            {"30m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**_memory("a", 0, 900), **_memory("b", 90, 900), **_memory("c", 1, 2000)},
            {"30m": ("b warning",)},
        ),
    ]
