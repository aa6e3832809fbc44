"""What mixtool and pint check without a server, and the rules of this house, on all rules."""

import re
from collections import Counter

import promql_parser as promql
import pytest

from exporter.health.rules.all_rules import FILES
from tests.alerts.known_series import SERVER
from tests.alerts.label_flow import LabelFlow
from tests.alerts.lint import compares, divides, misused, unguarded
from tests.alerts.rule_graph import Rule, groups, rules, selectors, walk

RULES = rules()
GROUPS = groups()
ALERTS = [rule for rule in RULES if "alert" in rule.data]
RECORDINGS = [rule for rule in RULES if "record" in rule.data]
RECORDED = {str(rule.data["record"]): rule.expr for rule in RECORDINGS}

LEVELS = {
    "device": {"device", "direction"},
    "instance": set(),
    "job": set(),
    "listener": {"address"},
    "server": set(),
    "worker": {"kind", "worker"},
}
"""What a recorded series may be about, and the labels that it has beside those of its target."""

_DURATION = re.compile(r"(\d+)([smhdw])\Z")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
every_alert = pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule.name)
every_recording = pytest.mark.parametrize("rule", RECORDINGS, ids=lambda rule: rule.name)
every_group = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)


def seconds(text: str) -> int:
    """Return how long a duration is."""
    found = _DURATION.match(text)
    assert found, text
    return int(found[1]) * _UNITS[found[2]]


def flows(rule: Rule) -> list[LabelFlow]:
    """Return the labels of a rule's result, on /metrics and by /scrape."""
    return [LabelFlow(rule.expr, RECORDED, on_metrics=way) for way in (True, False)]


@every_group
def test_groups_are_small(group: object) -> None:
    """mixtool: a group has at most 20 rules and a name of at most 40 characters."""
    name = group.name  # type: ignore[attr-defined]
    assert len(name) <= 40
    assert sum(rule.group == name for rule in RULES) <= 20


def test_every_group_is_in_one_file() -> None:
    """A table of rules that no file has would never be printed."""
    assert Counter(group.name for file in FILES.values() for group in file) == Counter(
        group.name for group in GROUPS
    )


def test_no_rule_comes_twice() -> None:
    """Each series is recorded once, and each alert has a severity once."""
    assert [name for name, count in Counter(rule.name for rule in RULES).items() if count > 1] == []


@every_alert
def test_names_of_alerts(rule: Rule) -> None:
    """mixtool: CamelCase from Memcached, at most 40 characters, one of three severities."""
    assert re.fullmatch(r"Memcached([A-Z][a-z0-9]+)+", rule.data["alert"])
    assert len(rule.data["alert"]) <= 40
    assert rule.data["labels"].keys() == {"severity"}
    assert rule.data["labels"]["severity"] in {"critical", "warning", "info"}


@every_alert
def test_texts_of_alerts(rule: Rule) -> None:
    """mixtool: one plain sentence as the summary, and a templated description."""
    texts = rule.data["annotations"]
    assert texts.keys() == {"summary", "description", "runbook_url", "dashboard_url"}
    assert re.fullmatch(r"[A-Z][^.{}]*\.", texts["summary"])
    assert "{{" in texts["description"]
    assert texts["description"].endswith((".", "}}"))


@every_alert
def test_templates_name_labels_that_are_there(rule: Rule) -> None:
    """As pint's alerts/template: labels in a description survive the expression.

    A label after ``with`` need not be in all that the alert is about.
    """
    text = rule.data["annotations"]["description"]
    asked = set(re.findall(r"with \$labels\.(\w+)", text))
    used = set(re.findall(r"\$labels\.(\w+)", text)) - asked
    on_metrics, by_scrape = flows(rule)
    for flow in (on_metrics, by_scrape):
        for series in flow.series:
            assert used <= series.labels
    assert asked <= set().union(*(series.labels for series in on_metrics.series)) | {"job"}
    about_servers = "server" in text
    if about_servers and "$labels.server" not in text:
        assert not any("server" in series.labels for series in on_metrics.series)


@every_alert
def test_values_are_written_for_people(rule: Rule) -> None:
    """As pint's alerts/template: what was computed is rounded, or given its unit."""
    text = rule.data["annotations"]["description"]
    computed = re.search(r"\b(rate|increase)\(|:[a-z_0-9]*(rate|ratio|avg|mean)", rule.expr)
    assert not computed or not re.search(r"\$value *\}", text)


@every_alert
def test_alerts_wait(rule: Rule) -> None:
    """As pint's alerts/for and alerts/absent: no alert comes of a single scrape."""
    assert seconds(rule.data["for"]) >= 60
    if "absent" in rule.expr:
        assert seconds(rule.data["for"]) >= 300


@every_alert
def test_what_was_counted_can_fire(rule: Rule) -> None:
    """An alert on any increase within a window waits for less than the window."""
    for part in walk(promql.parse(rule.expr)):
        if isinstance(part, promql.BinaryExpr) and str(part.op) == ">" and str(part.rhs) == "0":
            calls = [p for p in walk(part.lhs) if isinstance(p, promql.Call)]
            for call in calls:
                if call.func.name in {"increase", "changes"}:
                    assert seconds(rule.data["for"]) < call.args[0].range.total_seconds()


@every_alert
def test_alerts_compare(rule: Rule) -> None:
    """As pint's alerts/comparison: an alert fires for some values and not for others."""
    assert compares(promql.parse(rule.expr))


@every_rule
def test_sides_can_match(rule: Rule) -> None:
    """As pint's promql/vector_matching and promql/impossible; each series and label is known."""
    for flow in flows(rule):
        assert flow.series
        assert flow.problems == []


@every_rule
def test_counters_are_counted(rule: Rule) -> None:
    """As pint's promql/counter, promql/rate; E10: no bare counter, and no rate of a gauge."""
    assert misused(promql.parse(rule.expr)) == []


@every_rule
def test_denominators_are_guarded(rule: Rule) -> None:
    """Nothing is divided by nought: E03, no NaN, and no infinity that exceeds all thresholds."""
    assert unguarded(promql.parse(rule.expr)) == []


@every_rule
def test_matchers(rule: Rule) -> None:
    """As pint's promql/regexp, and the selector of the operator stands in each selector."""
    for selector in selectors(promql.parse(rule.expr)):
        for matcher in selector.matchers.matchers:
            if str(matcher.op) in {"MatchOp.Re", "MatchOp.NotRe"}:
                assert re.search(r"[|.*+?\[(\\]", matcher.value), "a regular expression of none"
                assert not re.search(r"^\^|\$$", matcher.value), "anchored already"


def test_selector_is_everywhere() -> None:
    """The selector that an operator gives is in each selector of each rule, recorded series too."""
    for rule in rules('job="one"'):
        for selector in selectors(promql.parse(rule.expr)):
            assert 'job="one"' in str(selector), rule.name


@every_rule
def test_aggregations_keep_what_they_can(rule: Rule) -> None:
    """Labels are summed away by name: `by` would lose `server` or a label of the configuration.

    Whole fleets are the exception. pint promql/fragile: `topk` in an alert resolves and fires anew.
    """
    for part in walk(promql.parse(rule.expr)):
        if isinstance(part, promql.AggregateExpr):
            assert str(part.op) not in {"topk", "bottomk"}
            assert part.modifier
            if part.modifier.type == promql.AggModifierType.By:
                assert "job" in part.modifier.labels
                assert not {"server", "instance"} & set(part.modifier.labels)


@every_recording
def test_names_of_recorded_series(rule: Rule) -> None:
    """level:metric:operations, as Prometheus' practice has it, and the level is what it says."""
    name = str(rule.data["record"])
    assert re.fullmatch(r"[a-z]+:memcached_[a-z0-9_]+:[a-z0-9_]+", name)
    level, metric, operations = name.split(":")
    assert "_total" not in metric
    assert "sum" not in operations.split("_")
    windows = re.findall(r"\[(\w+)\]|:[a-z_]*rate(\d+[smhd])", rule.expr)
    named = re.search(r"(?:rate|max|avg|mean|last|p99_)(\d+[smhd])\Z", operations)
    assert not named or any(named[1] in pair for pair in windows)
    if any(f"{name}(" in rule.expr for name in ("rate", "increase")) and "rate" in operations:
        assert named
    assert ("ratio" in operations) == (divides(promql.parse(rule.expr))) or "seconds" in metric
    for series in flows(rule)[0].series:
        extra = series.labels - SERVER
        assert extra <= LEVELS[level]
        assert ("server" in series.labels) == (level in {"listener", "server", "worker"})
        assert level != "job" or series.labels == {"job"}
