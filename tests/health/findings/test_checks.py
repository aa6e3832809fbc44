"""Each check speaks beyond its threshold, is silent on it, and claims nothing that is not known."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, data, floats, sampled_from, sets

from exporter.catalogue.families import FAMILIES, HOST_FAMILIES
from exporter.catalogue.row import Kind
from exporter.health.findings import all_checks
from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import Finding, Severity, findings
from exporter.health.findings.view import INCREASING, INCREASING_ON_HOST, Pings, View
from exporter.health.snapshot import Snapshot
from exporter.health.thresholds import Thresholds
from tests.alerts.rule_graph import rules
from tests.health.findings.cases.all_cases import CASES
from tests.health.findings.cases.shape import Case, Series, view_of
from tests.health.made_up import snapshot

IDS = [f"{case.finding} {case.severity} {number}" for number, case in enumerate(CASES)]
_KINDS = {family.name: family.kind for family in FAMILIES} | {
    name: family.kind for name, family in HOST_FAMILIES.items()
}


def found(view: View) -> dict[str, Finding]:
    """Return the findings by name."""
    return {finding.name: finding for finding in findings(CHECKS, view)}


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_beyond_the_threshold(case: Case) -> None:
    """The finding has its severity, says the numbers, and names the exact remedy."""
    finding = found(view_of(case))[case.finding]
    assert finding.severity is case.severity
    assert finding.seen.startswith(case.seen)
    assert finding.seen.endswith(".")
    assert case.remedy in finding.remedy


@pytest.mark.parametrize("case", [case for case in CASES if case.well], ids=lambda c: c.finding)
def test_on_the_threshold(case: Case) -> None:
    """What is just well is no finding."""
    assert case.finding not in found(view_of(case, case.well))


@pytest.mark.parametrize(
    ("pings", "expected"),
    [
        (Pings(p50=0.0002, p99=0.0050, count=50, failed=0), set()),
        (Pings(p50=0.0002, p99=0.0090, count=19, failed=0), set()),
        (Pings(p50=0.0002, p99=0.0002, count=95, failed=5), set()),
        (Pings(p50=None, p99=None, count=0, failed=3), {"pings_failing"}),
    ],
)
def test_round_trips(pings: Pings, expected: set[str]) -> None:
    """On the thresholds, of too few, and of none there is no word about latency."""
    case = next(case for case in CASES if case.finding == "latency_high")
    assert set(found(msgspec.structs.replace(view_of(case), pings=pings))) == expected


TURNED_AWAY = "The kernel turned away 7 attempts to connect in 60 s."
WITHOUT = {
    ("connections_high", "reserved_fds"): "951 of the 1,024 connections that it can take",
    ("connections_rejected", "max_connections"): "It refused 3 connections in the last 60 s.",
    ("connections_rejected_before", "max_connections"): "It has refused 3 connections since its",
    ("connections_rejected_before", "uptime_seconds"): "It has refused 3 connections since its"
    " start.",
    ("listener_disabled", "accepting_connections"): "It stopped accepting connections 2 times",
    ("out_of_memory", "current_bytes"): "It refused 5 stores",
    ("out_of_memory", "limit_bytes"): "It refused 5 stores",
    ("evictions_many", "limit_bytes"): "It evicts 3 items a second",
    ("evictions_per_set_high", "limit_bytes"): "It evicts",
    ("slabs_calcified", "slab_global_page_pool"): "It evicts from 1 slab classes, while 5 of 99",
    ("slabs_calcified", "settings_slab_automove_mode"): "It evicts from 1 slab classes, while 6 of"
    " 100 memory pages lie idle (6 %).",
    ("hash_expanding", "hash_bytes"): "It is moving its items to a larger hash table.",
    ("hash_expanding", "hash_power_level"): "It is moving its items to a larger hash table (it",
    ("extstore_errors", "extstore_badcrc_total"): "Reads from its external storage failed in 60 s:"
    " 1 without memory for the item.",
    (
        "extstore_errors",
        "extstore_gets_oom_total",
    ): "Reads from its external storage failed in 60 s: 2 damaged.",
    ("time_wait_many", "host_sysctl"): "The kernel had no room for 5 connections in TIME_WAIT in"
    " 60 s.",
    ("allocations_failing", "malloc_fails_total"): "It got no memory for a connection or an answer"
    " 2 times",
    ("allocations_failing", "read_buffer_oom_total"): "It got no memory for a connection or an"
    " answer 1 time",
    ("items_too_large", "settings_item_size_max_bytes"): "It refused 2 items in 60 s as too large.",
    ("slab_waste", "settings_growth_factor"): "21 % of the memory of its items is lost to chunks"
    " larger than they.",
    ("connections_yield", "settings_requests_per_event"): "11 times in 60 s a connection had sent"
    " so much that others got their turn first.",
    ("too_many_workers", "process_cpus_allowed"): "It has 8 worker threads for 4 CPUs.",
    ("too_many_workers", "host_cpus"): "It has ",
    (
        "listen_overflows",
        "listen_queue_length",
    ): TURNED_AWAY,
    (
        "listen_overflows",
        "listen_queue_limit",
    ): TURNED_AWAY,
    ("softnet_drops", "host_sysctl"): "The host dropped 3 packets",
    ("softnet_squeezed", "host_sysctl"): "A CPU left packets waiting 11 times a second.",
    ("nic_one_queue", "nic_channels"): "One CPU takes 90 % of the interrupts of eth0",
}
"""What a finding says without a family that it can do without."""


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_is_not_known_is_no_finding(case: Case) -> None:
    """Without a family that it takes to tell there is no finding, or it says what is known."""
    for name in (*case.now, *case.host):
        less = case._replace(
            now={key: value for key, value in case.now.items() if key != name},
            host={key: value for key, value in case.host.items() if key != name},
        )
        finding = found(view_of(less)).get(case.finding)
        expected = WITHOUT.get((case.finding, name), "")
        assert not finding or (expected and finding.seen.startswith(expected)), (name, finding)
        wrong = r"-[mct] 0\b|LimitNOFILE=0|nan|None"
        assert not finding or not re.search(wrong, finding.remedy), finding.remedy


def test_every_check_has_a_case() -> None:
    """No check is without one that makes it speak, and each case is of a check."""
    assert {case.finding for case in CASES} == {check.name for check in CHECKS}


def test_the_worst_come_first() -> None:
    """Within a severity the order of the tables stays."""
    case = next(case for case in CASES if case.finding == "out_of_memory")
    view = view_of(case, {"connections_rejected_total": 1.0, "settings_detail_enabled": 1.0})
    severities = [finding.severity for finding in findings(CHECKS, view)]
    assert severities == [Severity.CRITICAL, Severity.WARNING, Severity.INFO, Severity.INFO]


def test_an_empty_view_has_no_findings() -> None:
    """A server of which nothing is known is not judged."""
    assert found(View(thresholds=Thresholds(), now=Snapshot({}, 0.0))) == {}


def test_a_restart_says_nothing_about_the_time_before() -> None:
    """Counters that began anew are not compared."""
    case = next(case for case in CASES if case.finding == "connections_rejected")
    view = view_of(case)
    assert view.before
    started = msgspec.structs.replace(
        view.before,
        families={**view.before.families, "memcached_start_time_seconds": {(): -900.0}},
    )
    assert "connections_rejected" not in found(msgspec.structs.replace(view, before=started))


def test_releases_that_miscount_refusals() -> None:
    """1.5.21 and 1.5.22 count nearly each connection: they are believed near the limit only."""
    case = next(case for case in CASES if case.finding == "connections_rejected")
    version: Series = {(("version", "1.5.22"),): 1.0}
    assert found(view_of(case, {"version_info": version})) == {}
    near: dict[str, Series] = {
        "version_info": version,
        "current_connections": 90.0,
        "max_connections": 100.0,
    }
    assert "connections_rejected" in found(view_of(case, near))


def test_the_hit_rate_of_a_first_look_is_that_of_the_lifetime() -> None:
    """It is marked as such; a later look without gets says nothing."""
    case = next(case for case in CASES if case.finding == "hit_rate_low")
    first = case._replace(grown=(), now={**case.now, "uptime_seconds": 7200.0})
    few = case.now["commands_total"]
    assert isinstance(few, Mapping)
    many: Series = {labels: 100 * number for labels, number in few.items()}
    seen = found(view_of(first, {"commands_total": many}))["hit_rate_low"].seen
    assert seen == "79 % of the keys asked for were found since its start, less than 80 %."
    idle = view_of(first, {"commands_total": many})
    later = msgspec.structs.replace(
        idle, before=msgspec.structs.replace(idle.now, taken=idle.now.taken - 60)
    )
    assert "hit_rate_low" not in found(later)


def test_old_releases_name_no_threads() -> None:
    """All their threads are of an unknown kind, and are judged alike."""
    case = next(case for case in CASES if case.finding == "worker_busy")
    used: Series = {(("mode", "user"), ("kind", "unknown"), ("worker", "3")): 54.6}
    assert found(view_of(case, {"thread_cpu_seconds_total": used}))["worker_busy"].seen == (
        "Its busiest worker thread uses 91 % of a CPU."
    )


def test_items_may_be_no_larger_than_memcached_allows() -> None:
    """-I ends at 1 GiB, and takes no fractions of what it is told in."""
    case = next(case for case in CASES if case.finding == "items_too_large")
    for limit, option in ((2**30, "-I 1024m."), (128 * 2**10, "-I 1m."), (4 * 2**20, "-I 8m.")):
        view = view_of(case, {"settings_item_size_max_bytes": float(limit)})
        assert found(view)["items_too_large"].remedy.endswith(option)


def test_threads_of_an_unknown_kind_are_not_compared() -> None:
    """Some of them do other work, so that one would always do more than the others."""
    case = next(case for case in CASES if case.finding == "workers_uneven")
    used: Series = {
        (("mode", "user"), ("kind", "unknown"), ("worker", str(number))): share
        for number, share in enumerate((36.0, 1.0, 1.0))
    }
    assert found(view_of(case, {"thread_cpu_seconds_total": used})) == {}


def test_a_listener_that_is_switched_off_has_no_backlog() -> None:
    """The kernel shows 0 while memcached has as many connections as it may: that is no limit."""
    case = next(case for case in CASES if case.finding == "backlog_cut")
    limits: Series = {(("address", "[::]:11211"),): 0.0}
    assert found(view_of(case, {"listen_queue_limit": limits})) == {}


def test_items_on_external_storage_are_not_spread_thin() -> None:
    """Of what they take in memory nothing exact is known."""
    case = next(case for case in CASES if case.finding == "slabs_spread_thin")
    assert found(view_of(case, {"extstore_bytes_limit": 2.0**30})) == {}


def test_a_moment_is_too_short_for_threads() -> None:
    """In less than a second, a turn on the CPU looks like all of it."""
    view = view_of(next(case for case in CASES if case.finding == "workers_waiting"))
    assert view.before
    short = msgspec.structs.replace(view.before, taken=view.now.taken - 0.9)
    assert found(msgspec.structs.replace(view, before=short)) == {}
    longer = msgspec.structs.replace(view.before, taken=view.now.taken - 1.0)
    assert "workers_waiting" in found(msgspec.structs.replace(view, before=longer))


def test_other_threads_are_no_workers() -> None:
    """The thread that moves items may be as busy as it likes."""
    case = next(case for case in CASES if case.finding == "worker_busy")
    used: Series = {(("mode", "user"), ("kind", "lrumaint"), ("worker", "0")): 60.0}
    assert found(view_of(case, {"thread_cpu_seconds_total": used})) == {}


def test_what_is_kept_of_the_past_are_counters() -> None:
    """Each family that checks ask the growth of is a counter of the catalogue, or the start."""
    kept = {*INCREASING, *INCREASING_ON_HOST} - {"memcached_start_time_seconds"}
    assert {_KINDS[name] for name in kept} == {Kind.COUNTER}
    with pytest.raises(KeyError):
        View(thresholds=Thresholds(), now=snapshot()).increases("memcached_current_items")
    with pytest.raises(KeyError):
        View(thresholds=Thresholds(), now=snapshot()).host_increases("memcached_items_total")


def test_the_cases_are_of_the_catalogue() -> None:
    """No check looks at a metric that does not exist."""
    names = {f"memcached_{name}" for case in CASES for name in (*case.now, *case.host, *case.well)}
    assert names <= _KINDS.keys()


def test_the_checks_are_of_the_catalogue() -> None:
    """Each name of a metric in their source is one."""
    names = {
        node.value
        for file in Path(all_checks.__file__).parent.glob("*.py")
        for parent in ast.walk(ast.parse(file.read_text()))
        if not isinstance(parent, ast.JoinedStr)
        for node in ast.iter_child_nodes(parent)
        if isinstance(node, ast.Constant) and str(node.value).startswith("memcached_")
    }
    assert len(names) > 60
    assert names <= _KINDS.keys()


def test_runbooks_are_alerts() -> None:
    """A finding leads to the runbook of an alert about the same."""
    alerts = {str(rule.data["alert"]) for rule in rules() if "alert" in rule.data}
    named = {check.runbook for check in CHECKS} - {""}
    assert len(named) > 20
    assert named <= alerts


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_texts_are_whole(check: object) -> None:
    """Each says why, what to do, and when to leave it, in sentences."""
    told = msgspec.structs.asdict(check)  # type: ignore[arg-type]
    assert re.fullmatch("[a-z]+(_[a-z]+)+|flushed|swapping", told["name"])
    for text in (told["why"], told["leave"]):
        assert re.search(r"[.]$", text), text
        assert text[0].isupper() or text.startswith("memcached"), text
    assert len(told["remedy"]) > 20


@settings(max_examples=200, deadline=None)
@given(data())
def test_any_numbers(chosen: DataObject) -> None:
    """Whatever a server and a host say, no check fails and each text is whole."""
    case = chosen.draw(sampled_from(CASES))
    # A microsecond is the least that a server or a host tells of.
    numbers = floats(min_value=1e-6, max_value=1e18) | sampled_from([0.0, 1.0])

    def other(series: Series) -> Series:
        if isinstance(series, Mapping):
            return {labels: chosen.draw(numbers) for labels in series}
        return chosen.draw(numbers)

    changed = case._replace(
        now={name: other(series) for name, series in case.now.items()},
        host={name: other(series) for name, series in case.host.items()},
    )
    for finding in found(view_of(changed)).values():
        told = (finding.seen, finding.remedy)
        assert not any(re.search(r"nan|inf\b|None", text) for text in told), told


_OF_SERVERS = {name: series for case in CASES for name, series in case.now.items()}
_OF_HOSTS = {name: series for case in CASES for name, series in case.host.items()}
_GROWN = tuple({name for case in CASES for name in case.grown})


@settings(max_examples=200, deadline=None)
@given(sets(sampled_from(sorted(_OF_SERVERS))), sets(sampled_from(sorted(_OF_HOSTS))))
def test_any_families(of_server: set[str], of_host: set[str]) -> None:
    """Whatever is missing of all that checks look at, none fails and no placeholder is left."""
    view = view_of(
        Case(
            "",
            Severity.INFO,
            "",
            now={name: _OF_SERVERS[name] for name in of_server},
            well={},
            grown=_GROWN,
            host={name: _OF_HOSTS[name] for name in of_host},
        )
    )
    for finding in found(view).values():
        assert "None" not in finding.seen + finding.remedy
        assert not re.search(r"\{(?!print \$1\})", finding.remedy), finding.remedy
