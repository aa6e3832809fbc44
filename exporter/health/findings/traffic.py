"""Traffic: how many keys are found, and how long an answer takes."""

from exporter.health.figures import lifetime
from exporter.health.findings.shape import Check, Seen, Severity
from exporter.health.findings.view import View
from exporter.health.words import count, share, time

_FEWEST_PINGS = 20
"""Below, the 99th percentile is but the worst one."""


def _hit_ratio(view: View) -> tuple[float, str] | None:
    """Return the hit rate and over which time, if it says something."""
    rates, told = view.rates, f"in the last {time(view.seconds or 0)}"
    if view.before is None:
        rates, told = lifetime(view.now), "since its start"
    limits, uptime = view.thresholds.hit_rate, view.levels.uptime
    if rates is None or rates.hit_ratio is None or uptime is None or uptime <= limits.warm_up:
        return None
    return (rates.hit_ratio, told) if rates.commands["get"] > limits.floor else None


def _hit_rate_low(view: View) -> Seen | None:
    found, limits = _hit_ratio(view), view.thresholds.hit_rate
    if found is None or found[0] >= limits.warning:
        return None
    text = f"{share(found[0])} of the keys asked for were found {found[1]}, less than"
    return Seen(Severity.WARNING, f"{text} {share(limits.warning)}.")


def _hit_rate_below_target(view: View) -> Seen | None:
    found, limits = _hit_ratio(view), view.thresholds.hit_rate
    if found is None or not limits.warning <= found[0] < limits.target:
        return None
    text = f"{share(found[0])} of the keys asked for were found {found[1]}; the target is"
    return Seen(Severity.INFO, f"{text} {share(limits.target)}.")


def _latency(view: View) -> Seen | None:
    pings, limits = view.pings, view.thresholds.latency
    if pings is None or pings.p50 is None or pings.p99 is None:
        return None
    told = f"A command that needs no work took {time(pings.p50)} in the middle and"
    text = f"{told} {time(pings.p99)} in the slowest of a hundred ({pings.count} measured)."
    if pings.p50 > limits.mean:
        return Seen(Severity.CRITICAL, text)
    few = pings.count < _FEWEST_PINGS
    return None if few or pings.p99 <= limits.p99 else Seen(Severity.WARNING, text)


def _one_ping(view: View) -> Seen | None:
    ping, limits = view.levels.ping_seconds, view.thresholds.latency
    if view.pings is not None or ping is None or ping <= limits.mean:
        return None
    text = f"At the last scrape, a command that needs no work took {time(ping)}."
    return Seen(Severity.INFO, text)


def _pings_failing(view: View) -> Seen | None:
    pings = view.pings
    if pings is None or not pings.failed:
        return None
    asked = pings.count + pings.failed
    if pings.failed / asked <= view.thresholds.latency.probe_failures:
        return None
    text = f"{pings.failed} of {asked} small commands were not answered in time."
    return Seen(Severity.WARNING, text)


def _yields(view: View) -> Seen | None:
    yields = sum(view.increases("memcached_connections_yielded_total").values())
    commands = view.rates.total * view.rates.seconds if view.rates else 0.0
    if not commands or yields / commands <= view.thresholds.yields:
        return None
    told = view.now.value("memcached_settings_requests_per_event")
    limit = "" if told is None else f" (-R {told:.0f})"
    text = (
        f"{count(yields, 'time')} in {time(view.seconds or 0)} a connection had sent so much that"
    )
    return Seen(Severity.INFO, f"{text} others got their turn first{limit}.")


def _auth_errors(view: View) -> Seen | None:
    failed = sum(view.increases("memcached_auth_errors_total").values())
    if not failed:
        return None
    text = f"{count(failed, 'login')} failed in the last {time(view.seconds or 0)}."
    return Seen(Severity.WARNING, text)


def _flushed(view: View) -> Seen | None:
    flushes = view.rates.commands.get("flush", 0.0) * view.rates.seconds if view.rates else 0.0
    if not flushes:
        return None
    text = f"It was told to forget all items (`flush_all`) {count(round(flushes), 'time')}"
    return Seen(Severity.INFO, f"{text} in {time(view.seconds or 0)}.")


TRAFFIC = (
    Check(
        name="hit_rate_low",
        judge=_hit_rate_low,
        why="Each miss is work for the database behind, and time for the user.",
        remedy="See which keys miss (`watch fetchers`, or prefixes by `stats detail on` for a"
        " while). More memory (-m) helps if items are evicted, longer times to live if they"
        " expire.",
        leave="Caches of negative answers, or of things asked for once, are right at less: set"
        " `hit_rate.warning` for them.",
        runbook="MemcachedHitRateLow",
    ),
    Check(
        name="hit_rate_below_target",
        judge=_hit_rate_below_target,
        why="It works, and could save more work behind it.",
        remedy="See evictions and times to live; more memory (-m) helps if items are evicted.",
        leave="When what misses is cheap to make.",
        runbook="MemcachedHitRateBelowTarget",
    ),
    Check(
        name="latency_high",
        judge=_latency,
        why="Every client waits that long, on top of the work of its own command: a worker, a CPU"
        " or the network is overloaded.",
        remedy="Compare with `ping`; see the worker threads (top -H -p PID), the host's findings"
        " and commands for many keys at once.",
        leave="Across a long line, whose round trip is in it: set `latency.p99` for it.",
        runbook="MemcachedLatencyP99High",
    ),
    Check(
        name="latency_high_once",
        judge=_one_ping,
        why="One slow answer is chance; many are an overloaded worker, CPU or network.",
        remedy="Measure it: a `probe` in the configuration, or `memcached-exporter check`.",
        leave="When it does not come again.",
        runbook="MemcachedLatencyP99High",
    ),
    Check(
        name="pings_failing",
        judge=_pings_failing,
        why="It hangs at times, or packets are lost: clients see timeouts.",
        remedy="See `dmesg`, the network between, and whether the host swaps or is throttled.",
        leave="Never.",
        runbook="MemcachedProbesFailing",
    ),
    Check(
        name="auth_errors",
        judge=_auth_errors,
        why="A client has a wrong password, or somebody guesses.",
        remedy="See who (`watch connevents`), and give clients the password of the file of -Y.",
        leave="While passwords are changed.",
    ),
    Check(
        name="connections_yield",
        judge=_yields,
        why="Clients send many commands at once. Letting others in between is fair, and costs"
        " throughput of who sends much.",
        remedy="Nothing, in general. For more throughput of bulk clients start memcached with a"
        " larger -R, for steadier latency of the others with a smaller one.",
        leave="When the latency of all is well.",
    ),
    Check(
        name="flushed",
        judge=_flushed,
        why="All items are gone at once, and the database gets all requests.",
        remedy="Find who did it. Start memcached with -F to forbid it.",
        leave="After a deployment that wants it.",
    ),
)
