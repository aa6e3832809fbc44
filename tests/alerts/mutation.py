"""Breaks each rule in turn, and lists what no test notices.

``python -m tests.alerts.mutation [word ...]`` breaks all rules, or those whose names have a word.
"""

import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import promql_parser as promql

from tests.alerts.equivalence import pointless
from tests.alerts.promtool_entries import Entry, about_alert, about_recording, complaint
from tests.alerts.rule_graph import Rule, names, needed, rules

_TOKEN = re.compile(
    r"""
      (?P<skip> "(?:[^"\\]|\\.)*" | \{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\} | \[[^\]]*\]
          | (?:without|by|on|ignoring|group_left|group_right)\s*\([^)]*\)
          | offset\s+\w+ )
    | (?P<number> \b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b )
    | (?P<word> [a-zA-Z_:][a-zA-Z0-9_:]* )
    | (?P<operator> [<>=!]=|[<>]|[-+*/] )
    """,
    re.VERBOSE,
)
_OTHERS = {
    ">": ("<", ">="),
    ">=": ("<", ">"),
    "<": (">", "<="),
    "<=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "and": ("or", "unless"),
    "or": ("and",),
    "unless": ("and", "or"),
    "sum": ("max",),
    "max": ("min",),
    "min": ("max",),
    "avg": ("max",),
    "count": ("sum",),
    "rate": ("increase",),
    "increase": ("rate",),
    "changes": ("resets",),
    "max_over_time": ("min_over_time",),
    "min_over_time": ("max_over_time",),
    "avg_over_time": ("max_over_time",),
    "last_over_time": ("max_over_time",),
    "ceil": ("floor",),
    "floor": ("ceil",),
    "clamp_min": ("clamp_max",),
}
"""Operations to what could be written in their place by mistake."""

_PAGES = "server:memcached_slab_pages_idle:ratio"
EQUIVALENT = {
    "job:memcached_servers_down:ratio: `max_over_time` no. 2 to `min_over_time`": "it is counted",
    f"{_PAGES}: `sum` no. 2 to `max`": "times nought",
    f"{_PAGES}: `sum` no. 3 to `max`": "times nought",
    f"{_PAGES}: `sum` no. 5 to `max`": "times nought",
    "MemcachedEvictingUsedItems warning: `count` no. 1 to `sum`": "only whether there are any",
    "MemcachedVersionSkew info: `count` no. 2 to `sum`": "it is counted",
    "MemcachedVersionSkew info: `last_over_time` no. 1 to `max_over_time`": "always 1",
    "MemcachedProxyBackendsFailing warning: `increase` no. 1 to `rate`": "no text shows the number",
    "MemcachedHitRateFell warning: `>` no. 1 to `>=`": "what is divided by nought is not smaller",
}
"""Mutants that mean the same as the rule, and why."""


class Mutant(NamedTuple):
    """A rule with one thing changed."""

    rule: Rule
    change: str
    expr: str

    @property
    def name(self) -> str:
        """What was changed where."""
        return f"{self.rule.name}: {self.change}"


def mutants(rule: Rule, recorded: Mapping[str, str]) -> Iterator[Mutant]:
    """Yield a rule with each of its operations, and each of its numbers, changed in turn."""
    text = rule.expr
    same = pointless(text, recorded)
    seen: Counter[str] = Counter()
    for token in _TOKEN.finditer(text):
        old = token[0]
        seen[old] += 1
        if (old, seen[old]) in same or _changes_nothing(text, token):
            continue
        if token.lastgroup == "number":
            others = tuple(f"{float(old) * factor:.15g}" for factor in (2, 0.5)) * (float(old) != 0)
        else:
            others = _OTHERS.get(old, ()) if token.lastgroup != "skip" else ()
        for other in others:
            expr = text[: token.start()] + other + text[token.end() :]
            # What cannot be loaded would count as noticed.
            promql.parse(expr)
            yield Mutant(rule, f"`{old}` no. {seen[old]} to `{other}`", expr)


def _changes_nothing(text: str, token: re.Match[str]) -> bool:
    """Return whether a token multiplies nought, or by one."""
    before, after = text[: token.start()], text[token.end() :]
    return token[0] == "*" and bool(
        re.search(r"\b0\s*\Z", before) or re.match(r"\s*1\b(?!\.)", after)
    )


class Trial:
    """Tests tried on mutants, in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rules = rules()
        self._alerts = sorted({str(r.data["alert"]) for r in self._rules if "alert" in r.data})
        self._scenes = cache(self._scenes_of)

    def all_mutants(self) -> list[Mutant]:
        """Return the mutants of all rules that mean something else than the rule."""
        recorded = {r.data["record"]: r.expr for r in self._rules if "record" in r.data}
        found = [mutant for rule in self._rules for mutant in mutants(rule, recorded)]
        assert EQUIVALENT.keys() <= {mutant.name for mutant in found}, "outdated equivalents"
        return [mutant for mutant in found if mutant.name not in EQUIVALENT]

    def survivors(self, chosen: Sequence[Mutant]) -> list[str]:
        """Return the names of those mutants that no test notices."""
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            noticed = pool.map(self.is_noticed, chosen)
            return [mutant.name for mutant, seen in zip(chosen, noticed, strict=True) if not seen]

    def is_noticed(self, mutant: Mutant) -> bool:
        """Return whether a test fails with this mutant in the rule's place."""
        changed = mutant.rule._replace(data=mutant.rule.data | {"expr": mutant.expr})
        return any(
            complaint(
                [changed if rule == mutant.rule else rule for rule in scene],
                entries,
                self._directory,
            )
            for scene, entries in self._scenes(mutant.rule.name)
        )

    def _scenes_of(self, name: str) -> list[tuple[list[Rule], list[Entry]]]:
        """Return what a rule matters to: the rules of an alert, and what is expected of it."""
        (rule,) = (rule for rule in self._rules if rule.name == name)
        found = []
        if "record" in rule.data:
            record = str(rule.data["record"])
            alerts = [alert for alert in self._alerts if self._needs(alert, record)]
            found.append(([*needed([rule], self._rules), rule], about_recording(record)))
        else:
            alerts = [str(rule.data["alert"])]
        found += [self._scene(alert) for alert in alerts]
        return [scene for scene in found if scene[1]]

    def _scene(self, alert: str) -> tuple[list[Rule], list[Entry]]:
        own = [rule for rule in self._rules if rule.data.get("alert") == alert]
        scene = [*needed(own, self._rules), *own]
        series = set().union(*(names(rule.expr) for rule in scene))
        absence = any("absent" in rule.expr for rule in own)
        entries = about_alert(alert, series, absence=absence)
        found = complaint(scene, entries, self._directory)
        assert not found, f"{alert}: tests fail before anything is broken:\n{found}"
        return scene, entries

    def _needs(self, alert: str, record: str) -> bool:
        own = [rule for rule in self._rules if rule.data.get("alert") == alert]
        return any(rule.data["record"] == record for rule in needed(own, self._rules))


def main(words: Sequence[str]) -> int:
    """Break all rules, or those whose names have a word, and print what survives."""
    with tempfile.TemporaryDirectory() as directory:
        trial = Trial(Path(directory))
        chosen = [
            mutant
            for mutant in trial.all_mutants()
            if not words or any(word in mutant.rule.name for word in words)
        ]
        survivors = trial.survivors(chosen)
    sys.stdout.writelines(f"survived: {name}\n" for name in survivors)
    sys.stdout.write(f"{len(chosen)} mutants, {len(survivors)} survived\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
