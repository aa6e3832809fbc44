"""Tests notice a broken rule: a sample of what `make mutate` tries in full."""

import hashlib
from pathlib import Path

from tests.alerts.mutation import Mutant, Trial, mutants
from tests.alerts.rule_graph import Rule

SAMPLE = 12
"""Mutants, always the same ones, in a few seconds."""


def rule(expr: str) -> Rule:
    """Return a rule that records an expression."""
    return Rule("a group", {"record": "server:a:b", "expr": expr})


def changed(expr: str) -> list[str]:
    """Return what is broken in an expression."""
    return [mutant.change for mutant in mutants(rule(expr), {})]


def made(expr: str) -> list[str]:
    """Return what an expression is broken into."""
    return [mutant.expr for mutant in mutants(rule(expr), {})]


def test_operations_and_numbers_are_broken_one_by_one() -> None:
    """Each comparison, number and operation has a turn; nought has no double."""
    assert made("max without (kind) (memcached_up) > 4") == [
        "min without (kind) (memcached_up) > 4",
        "max without (kind) (memcached_up) < 4",
        "max without (kind) (memcached_up) >= 4",
        "max without (kind) (memcached_up) > 8",
        "max without (kind) (memcached_up) > 2",
    ]
    assert made("a / (b > 0)") == ["a * (b > 0)", "a / (b < 0)", "a / (b >= 0)"]
    assert made("a and b") == ["a or b", "a unless b"]
    assert made("a <= 0.5") == ["a > 0.5", "a < 0.5", "a <= 1", "a <= 0.25"]
    assert made("rate(a[5m])") == ["increase(a[5m])"]


def test_labels_and_windows_are_left_alone() -> None:
    """What stands in braces, brackets and texts is no operation."""
    assert made('x{a=~"b|c>1", d!="5"} offset 1w') == []
    assert made('max_over_time(x{y="}/{"}[5m])') == ['min_over_time(x{y="}/{"}[5m])']


def test_what_makes_no_difference_is_left_alone() -> None:
    """No test could see these changes, so that they would be survivors for ever."""
    up, slab = "memcached_up > 0", "memcached_slab_items_evicted_total"
    assert not [c for c in changed(f"{up} and increase({slab}[5m]) > 0") if "increase" in c]
    assert not [c for c in changed(f"{up} unless (sum(increase({slab}[5m])) > 0)") if "sum" in c]
    assert [c for c in changed(f"{up} and increase({slab}[5m]) > 3") if "increase" in c]
    assert [c for c in changed(f"increase({slab}[5m]) > 0") if "increase" in c]
    assert [c for c in changed(f"memcached_up / (sum(rate({slab}[5m])) > 0)") if "sum" in c]
    assert [c for c in changed(f"sum without (slab) (rate({slab}[5m]))") if "sum" in c]
    one = f'sum without (slab) (rate({slab}{{slab="1"}}[5m]))'
    assert changed(one) == ["`rate` no. 1 to `increase`"]
    assert made("0 * memcached_up") == []
    assert made("memcached_up * 10") == [
        "memcached_up / 10",
        "memcached_up * 20",
        "memcached_up * 5",
    ]


def test_an_unchanged_rule_is_not_noticed(tmp_path: Path) -> None:
    """What is noticed is the change, and not a test that fails anyway."""
    trial = Trial(tmp_path)
    by_name = {mutant.rule.name: mutant.rule for mutant in trial.all_mutants()}
    for name in ("MemcachedOomKilled critical", "server:memcached_thread_cpu_seconds:max_rate5m"):
        original = by_name[name]
        assert not trial.is_noticed(Mutant(original, "nothing", original.expr))


def test_a_sample_is_noticed(tmp_path: Path) -> None:
    """Some mutants of all rules, chosen by their names, make a test fail each."""
    trial = Trial(tmp_path)
    chosen = sorted(
        trial.all_mutants(), key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest()
    )[:SAMPLE]
    assert trial.survivors(chosen) == []
