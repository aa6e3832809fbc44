"""Cases for the alerts about CPUs that threads do not get."""

from typing import Any

from tests.alerts.host_support import Series, entries

_WAIT = "server:memcached_thread_runqueue_wait_seconds:max_rate5m"
_PREEMPTED = "server:memcached_thread_involuntary_context_switches:max_rate5m"
_PER_CPU = "instance:memcached_host_context_switches_per_cpu:ratio_rate5m"


def documents() -> list[dict[str, Any]]:
    """Return entries of promtool's ``tests:``."""
    return [*_too_many(), *_preempted(), *_waiting(), *_host_switches()]


def _too_many() -> list[dict[str, Any]]:
    alert = "MemcachedTooManyWorkers"
    fires = {"30m": ("a info",)}
    online = 'memcached_host_cpus@exporter{state="online"}'
    quota = "memcached_cgroup_cpu_limit_cores"
    return [
        *entries(
            alert,
            "fires: affinity",
            {"memcached_threads@a": "5x40", "memcached_process_cpus_allowed@a": "4x40"},
            {"14m": (), **fires},
            {
                "a info": "memcached on a:11211 has 5 worker threads, more than the CPUs that"
                " it may use."
            },
        ),
        *entries(
            alert,
            "fires: quota",
            {
                "memcached_threads@a": "3x40",
                "memcached_process_cpus_allowed@a": "8x40",
                f"{quota}@a": "1.2x40",
            },
            fires,
        ),
        # By /scrape, the exporter's host has another instance and is no bound.
        entries(
            alert,
            "fires: fewer CPUs online than allowed",
            {
                "memcached_threads@a": "5x40",
                "memcached_process_cpus_allowed@a": "128x40",
                online: "4x40",
                'memcached_host_cpus@exporter{state="possible"}': "2x40",
                f"{quota}@a": "64x40",
            },
            fires,
        )[0],
        *entries(
            alert,
            "below",
            {
                "memcached_threads@a": "4x40",
                "memcached_process_cpus_allowed@a": "8x40",
                f"{quota}@a": "6x40",
                online: "16x40",
            },
            {"30m": ()},
        ),
        *entries(
            alert,
            "boundary: as many as CPUs",
            {
                "memcached_threads@a": "4x40",
                "memcached_process_cpus_allowed@a": "4x40",
                f"{quota}@a": "3.1x40",
                online: "4x40",
            },
            {"30m": ()},
        ),
        *entries(
            alert,
            "idle: a server elsewhere is not held against this host",
            {"memcached_threads@a": "16x40", online: "2x40"},
            {"30m": ()},
        ),
        *entries(
            alert,
            "restart with fewer workers",
            {
                "memcached_threads@a": "8x20 4x20",
                "memcached_process_cpus_allowed@a": "4x40",
            },
            {"20m": ("a info",), "30m": ()},
        ),
        *entries(
            alert, "missing: threads", {"memcached_process_cpus_allowed@a": "4x40"}, {"30m": ()}
        ),
        *entries(
            alert,
            "several servers, one bad",
            {
                "memcached_threads@a": "4x40",
                "memcached_threads@b": "8x40",
                "memcached_threads@c": "64x40",
                "memcached_process_cpus_allowed@a": "4x40",
                "memcached_process_cpus_allowed@b": "4x40",
                online: "4x40",
            },
            {"30m": ("b info",)},
        ),
    ]


def switches(who: str, involuntary: int, voluntary: int = 0, kind: str = "worker") -> Series:
    """Return context switches a minute of two threads, of which the second has a tenth."""
    name = f"memcached_thread_context_switches_total@{who}"
    return {
        f'{name}{{kind="{kind}", worker="{worker}", type="{type_}"}}': f"0+{count // share}x40"
        for worker, share in (("0", 1), ("1", 10))
        for type_, count in (("involuntary", involuntary), ("voluntary", voluntary))
    }


def _preempted() -> list[dict[str, Any]]:
    alert = "MemcachedWorkersPreempted"
    fires = {"30m": ("a warning",)}
    return [
        *entries(
            alert,
            "fires",
            switches("a", 36000),
            {"9m": (), **fires},
            {
                "a warning": "A worker of memcached on a:11211 was taken off its CPU 600 times a"
                " second before it was done, more than 500: others want the same CPU."
            },
        ),
        *entries(
            alert, "fires for threads without names", switches("a", 36000, 0, "unknown"), fires
        ),
        *entries(alert, "below: they give up their CPU", switches("a", 600, 900000), {"30m": ()}),
        *entries(alert, "below: no workers", switches("a", 60000, 0, "main"), {"30m": ()}),
        *entries(alert, "boundary", {f"{_PREEMPTED}@a": "500x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_PREEMPTED}@a": "501x40"}, fires),
        *entries(alert, "idle", switches("a", 0), {"30m": ()}),
        *entries(
            alert,
            "restart",
            {
                "memcached_thread_context_switches_total@a"
                '{kind="worker", worker="0", type="involuntary"}': "9e9+60x15 0+60x25"
            },
            {"17m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing after a while resolves",
            {f"{_PREEMPTED}@a": "900x15 stale _x20"},
            {"12m": ("a warning",), "30m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**switches("a", 600), **switches("b", 60000), **switches("c", 0)},
            {"30m": ("b warning",)},
        ),
    ]


def waits(who: str, *seconds: float, kind: str = "worker") -> Series:
    """Return how long threads waited for a CPU, in seconds a minute."""
    return {
        f"memcached_thread_runqueue_wait_seconds_total@{who}"
        f'{{kind="{kind}", worker="{worker}"}}': f"0+{waited}x40"
        for worker, waited in enumerate(seconds)
    }


def _waiting() -> list[dict[str, Any]]:
    alert = "MemcachedWorkersWaiting"
    warning = {"30m": ("a warning",)}
    critical = {"30m": ("a critical",)}
    return [
        *entries(
            alert,
            "fires warning",
            waits("a", 1, 12, 1),
            {"9m": (), **warning},
            {
                "a warning": "A worker of memcached on a:11211 spends 20% of its time waiting for"
                " a CPU, more than 10 %."
            },
        ),
        *entries(
            alert,
            "fires critical, and then no warning",
            waits("a", 1, 24, 1),
            {"4m": (), **critical},
            {
                "a critical": "A worker of memcached on a:11211 spends 40% of its time waiting for"
                " a CPU, more than 30 %."
            },
        ),
        *entries(
            alert, "fires for threads without names", waits("a", 24, kind="unknown"), critical
        ),
        *entries(alert, "below", waits("a", 3, 4, 3), {"30m": ()}),
        *entries(alert, "below: no workers", waits("a", 30, kind="lrumaint"), {"30m": ()}),
        *entries(alert, "boundary of the warning", {f"{_WAIT}@a": "0.1x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_WAIT}@a": "0.101x40"}, warning),
        *entries(alert, "boundary of critical", {f"{_WAIT}@a": "0.3x40"}, warning),
        *entries(alert, "boundary of critical, above", {f"{_WAIT}@a": "0.301x40"}, critical),
        *entries(alert, "idle", waits("a", 0, 0), {"30m": ()}),
        *entries(
            alert,
            "restart",
            {
                "memcached_thread_runqueue_wait_seconds_total@a"
                '{kind="worker", worker="0"}': "5000+1x15 0+1x25"
            },
            {"17m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing after a while resolves",
            {f"{_WAIT}@a": "0.5x10 stale _x20"},
            {"9m": ("a critical",), "30m": ()},
        ),
        *entries(
            alert,
            "several servers, one bad",
            {**waits("a", 1, 1), **waits("b", 1, 30), **waits("c", 0)},
            {"30m": ("b critical",)},
        ),
    ]


def _host_switches() -> list[dict[str, Any]]:
    alert = "MemcachedHostContextSwitches"
    fires = {"30m": ("exporter info",)}
    name = "memcached_host_context_switches_total"
    online = 'memcached_host_cpus@exporter{state="online"}'
    possible = 'memcached_host_cpus@exporter{state="possible"}'
    return [
        *entries(
            alert,
            "fires",
            # 80,000 a second on four CPUs.
            {f"{name}@exporter": "0+4800000x40", online: "4x40", possible: "128x40"},
            {"14m": (), **fires},
            {
                "exporter info": "The host of exporter:9150 makes 20000 context switches a second"
                " and CPU, more than 10 000."
            },
        ),
        *entries(
            alert,
            "below",
            {f"{name}@exporter": "0+2000000x40", online: "4x40", possible: "1x40"},
            {"30m": ()},
        ),
        *entries(alert, "boundary", {f"{_PER_CPU}@exporter": "10000x40"}, {"30m": ()}),
        *entries(alert, "boundary, above", {f"{_PER_CPU}@exporter": "10001x40"}, fires),
        *entries(alert, "idle", {f"{name}@exporter": "0+60x40", online: "0x40"}, {"30m": ()}),
        *entries(
            alert,
            "restart of the host",
            {f"{name}@exporter": "9e12+60x15 0+60x25", online: "1x40"},
            {"17m": (), "30m": ()},
        ),
        *entries(
            alert,
            "missing: CPUs",
            {
                f"{name}@exporter": "0+4800000x40",
                'memcached_host_cpus@other{state="online"}': "1x40",
            },
            {"30m": ()},
        ),
        *entries(
            alert,
            "several hosts, one bad",
            {
                f"{name}@exporter": "0+480000x40",
                online: "4x40",
                f"{name}@other": "0+4800000x40",
                'memcached_host_cpus@other{state="online"}': "4x40",
            },
            {"30m": ("other info",)},
        ),
    ]
