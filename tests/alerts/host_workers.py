"""Cases for the alerts about what worker threads do."""

from typing import Any

from tests.alerts.host_support import Series, entries

_MAX = "server:memcached_thread_cpu_seconds:max_rate5m"
_RATIO = "server:memcached_thread_cpu_seconds_max_per_avg:ratio_rate5m"


def documents() -> list[dict[str, Any]]:
    """Return entries of promtool's ``tests:``."""
    return [*_busy(), *_uneven()]


def cpu(who: str, *seconds: float, kind: str = "worker", system: float = 0) -> Series:
    """Return the CPU time of threads that use so many seconds a minute, for forty minutes.

    ``system`` of them, if there are so many, are spent in the kernel.
    """
    made = {}
    for worker, used in enumerate(seconds):
        labels = f'kind="{kind}", worker="{worker}"'
        name = f"memcached_thread_cpu_seconds_total@{who}"
        kernel = min(used, system)
        made[f'{name}{{{labels}, mode="user"}}'] = f"0+{used - kernel}x40"
        made[f'{name}{{{labels}, mode="system"}}'] = f"0+{kernel}x40"
    return made


def _busy() -> list[dict[str, Any]]:
    alert = "MemcachedWorkerBusy"
    warning = {"30m": ("a warning",)}
    critical = {"30m": ("a critical",)}
    return [
        *entries(
            alert,
            "fires warning",
            cpu("a", 12, 51, 12, 12, system=8),
            {"9m": (), **warning},
            {
                "a warning": "The busiest worker of memcached on a:11211 uses 85% of a CPU; above"
                " 90 % its clients wait for each other."
            },
        ),
        *entries(
            alert,
            "fires critical, and then no warning",
            cpu("a", 12, 57, 12, 12, system=8),
            {"4m": (), **critical},
            {
                "a critical": "The busiest worker of memcached on a:11211 uses 95% of a CPU, more"
                " than 90 %: clients of this worker wait for each other."
            },
        ),
        *entries(
            alert,
            "fires for threads without names",
            cpu("a", 1, 57, kind="unknown", system=8),
            critical,
        ),
        *entries(alert, "below both", cpu("a", 45, 45, system=20), {"30m": ()}),
        *entries(alert, "below for what are no workers", cpu("a", 57, kind="log"), {"30m": ()}),
        *entries(alert, "boundary of the warning", {f"{_MAX}@a": "0.8x30"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_MAX}@a": "0.801x30"}, warning),
        *entries(alert, "boundary of critical", {f"{_MAX}@a": "0.9x30"}, warning),
        *entries(alert, "boundary of critical, above", {f"{_MAX}@a": "0.901x30"}, critical),
        *entries(alert, "idle", cpu("a", 0, 0), {"30m": ()}),
        *entries(
            alert,
            "restart",
            {
                'memcached_thread_cpu_seconds_total@a{kind="worker", worker="0", mode="user"}':
                # Much was counted before, and the new process counts from nought.
                "900000+6x15 0+6x20"
            },
            {"20m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing after a while resolves",
            {f"{_MAX}@a": "0.95x10 stale _x20"},
            {"9m": ("a critical",), "30m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**cpu("a", 30, 30), **cpu("b", 57, 2), **cpu("c", 3)},
            {"30m": ("b critical",)},
        ),
    ]


def _uneven() -> list[dict[str, Any]]:
    alert = "MemcachedWorkersUneven"
    fires = {"30m": ("a warning",)}
    above_floor = {f"{_MAX}@a": "0.6x40"}
    return [
        *entries(
            alert,
            "fires",
            # 48 to an average of 16; thread 0 of kind log is not counted.
            {**cpu("a", 48, 4, 4, 8, system=1), **cpu("a", 0, kind="log")},
            {"14m": (), **fires},
            {
                "a warning": "The busiest worker of memcached on a:11211 uses 3.0 times the CPU"
                " time of an average one, and more than 50 % of a CPU."
            },
        ),
        *entries(alert, "below: all are as busy", cpu("a", 48, 46, 44, 48), {"30m": ()}),
        *entries(alert, "below the floor", cpu("a", 24, 2, 2, 4), {"30m": ()}),
        *entries(
            alert,
            "below: threads without names",
            cpu("a", 48, 0, 0, 0, kind="unknown"),
            {"30m": ()},
        ),
        *entries(alert, "boundary", {f"{_RATIO}@a": "2x40", **above_floor}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_RATIO}@a": "2.01x40", **above_floor}, fires),
        *entries(
            alert,
            "boundary of the floor",
            {f"{_RATIO}@a": "3x40", f"{_MAX}@a": "0.5x40"},
            {"30m": ()},
        ),
        *entries(
            alert,
            "boundary of the floor, above",
            {f"{_RATIO}@a": "3x40", f"{_MAX}@a": "0.51x40"},
            fires,
        ),
        *entries(alert, "idle", cpu("a", 0, 0, 0, 0), {"30m": ()}, absent=_RATIO),
        *entries(
            alert,
            "restart",
            {
                f"memcached_thread_cpu_seconds_total@a{{{labels}}}": values
                for labels, values in {
                    'kind="worker", worker="0", mode="user"': "90000+40x15 0+40x25",
                    'kind="worker", worker="1", mode="user"': "90+40x15 0+40x25",
                }.items()
            },
            {"20m": (), "40m": ()},
        ),
        *entries(alert, "missing: one worker's series only", cpu("a", 54), {"30m": ()}),
        *entries(
            alert,
            "several servers, one bad",
            {**cpu("a", 50, 50, 50), **cpu("b", 54, 2, 3), **cpu("c", 3, 0, 0)},
            {"30m": ("b warning",)},
        ),
    ]
