"""What the checks of rules find: faults seen in rules in the wild, and their remedies."""

import promql_parser as promql
import pytest

from tests.alerts.known_series import SERVER, TARGET
from tests.alerts.label_flow import LabelFlow
from tests.alerts.lint import compares, misused, unguarded

_HITS = 'rate(memcached_commands_total{command="get",status="hit"}[5m])'
_MISSES = 'rate(memcached_commands_total{command="get",status="miss"}[5m])'
_GETS = 'rate(memcached_commands_total{command="get"}[5m])'
_PAGES = "memcached_slab_current_pages"
_EXPIRED = "memcached_get_expired_total"
_CPUS = 'memcached_host_cpus{state="online"}'


def flow(text: str, *, on_metrics: bool = True) -> LabelFlow:
    """Return the labels of an expression, with one recorded series known."""
    recorded = {"server:memcached_gets:rate5m": f"sum without (command, status) ({_GETS})"}
    found = LabelFlow(text, recorded, on_metrics=on_metrics)
    assert found.series is not None
    return found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"{_HITS} / ({_HITS} + {_MISSES})", "can never match"),
        (f"{_HITS} unless {_MISSES}", "can never match"),
        (f"memcached_threads > {_CPUS}", "can never match"),
        (f"memcached_threads > on (job, instance) {_CPUS}", "several samples may match"),
        (f"{_HITS} / ignoring (status) {_GETS}", "several samples may match"),
        ("memcached_current_connections / on (job) memcached_max_connections", "several samples"),
        ("memcached_slab_lru_misses_total", "no such series"),
        ('memcached_threads{kind="x"}', "no label kind"),
        ('memcached_commands_total{status="hits"}', "nothing is like that"),
        ('memcached_commands_total{command="flush", status="hit"}', "nothing is like that"),
        ('memcached_commands_total{command=~"gets|sets"}', "nothing is like that"),
        ("sum without (cpu) (memcached_threads)", "labels that are nowhere"),
        ("memcached_threads and ignoring (cpu) memcached_up", "labels that are nowhere"),
        ("sum without (server, command) (server:memcached_gets:rate5m)", "nowhere"),
        (
            "histogram_quantile(0.9, rate(memcached_probe_duration_seconds_count[5m]))",
            "`le` is gone",
        ),
    ],
)
def test_what_cannot_be_is_found(text: str, complaint: str) -> None:
    """Sides that never match, ambiguous ones, and names that do not exist."""
    assert [problem for problem in flow(text).problems if complaint in problem]


@pytest.mark.parametrize(
    "text",
    [
        f"sum without (status) ({_HITS}) / (sum without (status) ({_GETS}) > 0)",
        f"{_HITS} + ignoring (status) {_MISSES}",
        f"memcached_threads > on (job, instance) group_left () {_CPUS}",
        "memcached_current_connections / memcached_max_connections",
        "server:memcached_gets:rate5m > 1 and memcached_uptime_seconds > 1800",
        "memcached_slab_current_pages > 3 and on (job, instance, server) memcached_up",
    ],
)
def test_what_is_right_passes(text: str) -> None:
    """The remedies for those faults."""
    assert flow(text).problems == []
    assert flow(text, on_metrics=False).problems == []


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("memcached_threads", SERVER),
        (f"sum without (status) ({_GETS})", SERVER | {"command"}),
        ("sum by (job) (memcached_threads)", {"job"}),
        ("sum(memcached_threads)", set()),
        (
            f"{_PAGES} > on (job, instance, server, slab) memcached_slab_chunks_per_page",
            TARGET | {"server", "slab"},
        ),
        ("memcached_slab_current_pages and ignoring (slab) memcached_up", SERVER | {"slab"}),
        ('label_replace(memcached_up, "a", "b", "", "")', SERVER | {"a"}),
        ("server:memcached_gets:rate5m * 2", SERVER),
        ("absent(memcached_up)", set()),
        ("time() - memcached_start_time_seconds", SERVER),
    ],
)
def test_labels_of_results(text: str, labels: set[str]) -> None:
    """Labels are those that Prometheus would leave."""
    assert [set(series.labels) for series in flow(text).series] == [set(labels)]


def test_both_sides_of_or_are_results() -> None:
    """What is said of all that an alert is about is asked of both sides."""
    series = flow(f"memcached_threads > 5 or {_CPUS} > 5").series
    assert [set(one.labels) for one in series] == [set(SERVER), {*TARGET, "state"}]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("memcached_items_evicted_total > 0", 1),
        ("max_over_time(memcached_items_evicted_total[5m]) > 0", 1),
        ("rate(memcached_threads[5m])", 1),
        ("rate(memcached_items_evicted_total[1m])", 1),
        ("rate(sum(memcached_items_evicted_total)[5m:1m])", 1),
        ("rate(memcached_items_evicted_total[5m]) > memcached_items_evicted_total", 1),
        ("rate(memcached_items_evicted_total[5m])", 0),
        ("sum without (slab) (increase(memcached_slab_items_evicted_total[15m])) > 0", 0),
        (
            f"last_over_time({_EXPIRED}[5m]) - min_over_time({_EXPIRED}[5m])",
            0,
        ),
        ("absent(memcached_items_evicted_total)", 0),
        ("rate(memcached_probe_duration_seconds_bucket[5m])", 0),
        ("changes(memcached_start_time_seconds[30m]) > 0", 0),
    ],
)
def test_counters(text: str, count: int) -> None:
    """E10: a counter is nothing by itself, and a gauge has no rate."""
    assert len(misused(promql.parse(text))) == count


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("memcached_current_connections / memcached_max_connections > 0.8", False),
        ("avg(memcached_current_bytes / memcached_limit_bytes)", False),
        ("memcached_current_connections / (memcached_max_connections > -1)", False),
        ("memcached_current_connections / (memcached_max_connections > bool 0)", False),
        ("memcached_current_connections / (memcached_max_connections > 0)", True),
        ("memcached_current_connections / 60", True),
    ],
)
def test_denominators(text: str, right: bool) -> None:
    """A limit of nought fires nothing."""
    assert (unguarded(promql.parse(text)) == []) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("memcached_up", False),
        ("memcached_up == bool 0", False),
        ("rate(memcached_items_evicted_total[5m])", False),
        ("memcached_threads and memcached_up", False),
        ("memcached_threads unless memcached_up == 0", False),
        ("memcached_threads > 5 or memcached_up", False),
        ("(memcached_up == 0)", True),
        ("memcached_threads and memcached_up == 0", True),
        ("absent(memcached_up)", True),
        ("memcached_threads > 5 <= 7", True),
    ],
)
def test_comparisons(text: str, right: bool) -> None:
    """An alert without a comparison always fires."""
    assert compares(promql.parse(text)) == right
