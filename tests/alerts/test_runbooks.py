"""Each alert has a runbook, and what the runbooks and the documents say is so."""

import contextlib
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.configuration import build, load
from exporter.documentation import metrics_as_data
from exporter.health.rules.all_rules import FILES
from exporter.health.rules.render import rule_file
from exporter.health.thresholds import Thresholds
from tests.processes import Memcached

ROOT = Path(__file__).parents[2]
RUNBOOKS = sorted((ROOT / "alerts" / "runbooks").glob("*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("alerts/**/*.md"), *ROOT.glob("docs/**/*.md")])
INDEX = (ROOT / "alerts" / "README.md").read_text(encoding="utf-8")
HEADINGS = [
    "What it means",
    "How to confirm",
    "Likely causes",
    "Remedy",
    "When to ignore",
]
MOST_LINES = 70
ELSEWHERE = {
    "config get cluster": "ElastiCache's",
    "refresh_certs": "of a server with TLS",
    "stats proxybe": "of a proxy",
}
"""Commands in runbooks that a plain memcached does not know."""
WRONG = {
    "breaks clients behind NAT; gone since Linux 4.12": r"tcp_tw_recycle",
    "for outgoing connections only": r"tcp_tw_reuse",
    "is not about TIME_WAIT": r"tcp_fin_timeout",
    "for programs that fork": r"overcommit_memory ?= ?1",
    "kills rather than swaps": r"swappiness ?= ?0",
    "never what binds memcached": r"fs\.file-max",
    "TCP sizes its buffers by tcp_rmem and tcp_wmem": r"[rw]mem_max",
    "is what it is anyway": r"-R 20",
    "breaks cas": r"`-C`",
    "defeats -L": r"transparent_hugepage\S* ?.*never",
    "lifetime counters hide today": r"get_hits ?/ ?cmd_get",
}
"""Advice that is often given and never right, by the reason (E01 among them)."""

ids = pytest.mark.parametrize("path", RUNBOOKS, ids=lambda path: path.stem)


@cache
def alerts() -> dict[str, list[dict[str, Any]]]:
    """Return the rules of each alert by its name, as they are printed at the defaults."""
    found: dict[str, list[dict[str, Any]]] = {}
    for groups in FILES.values():
        for group in rule_file(groups, Thresholds())["groups"]:
            for rule in group["rules"]:
                if "alert" in rule:
                    found.setdefault(rule["alert"], []).append(rule)
    return found


def severities(name: str) -> str:
    """Return how urgent an alert can be, the least first."""
    known = {rule["labels"]["severity"] for rule in alerts()[name]}
    return ", ".join(word for word in ("info", "warning", "critical") if word in known)


def links(text: str) -> Iterator[str]:
    """Yield what a document links to, but for code."""
    prose = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose))


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def memcached_commands() -> Iterator[str]:
    """Yield each command that runbooks send to memcached in clear."""
    for path in RUNBOOKS:
        yield from re.findall(r"printf '(.*?)\\r\\n(?:quit\\r\\n)?' \| nc ", path.read_text())


def test_every_alert_has_its_runbook() -> None:
    """There is one runbook per alert, and none for an alert that does not exist."""
    assert {path.stem for path in RUNBOOKS} == set(alerts())


def test_runbook_urls_resolve() -> None:
    """The link of each alert, as shipped, is a file of the repository."""
    for name, rules in alerts().items():
        for rule in rules:
            path = ROOT / rule["annotations"]["runbook_url"]
            assert path.is_file(), f"{name}: {path}"
            assert path.stem == name


@ids
def test_the_shape_of_a_runbook(path: Path) -> None:
    """A runbook has its five parts in order, none empty, and begins to confirm with a command."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {path.stem}\n\nSeverity: {severities(path.stem)}.\n\n## ")
    assert text.count("\n") <= MOST_LINES
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    assert parts[::2] == HEADINGS
    assert all(len(part.strip()) > len("Never.") - 1 for part in parts[1::2])
    assert "```sh\n" in parts[3]


@ids
def test_what_a_runbook_names_exists(path: Path) -> None:
    """Metrics are in the catalogue or recorded by the rules, and thresholds can be set."""
    text = path.read_text(encoding="utf-8")
    known = {entry["name"] for entry in metrics_as_data()}
    rules = [rule for groups in FILES.values() for group in groups for rule in group.rules]
    recorded = {rule.record for rule in rules if hasattr(rule, "record")}
    assert set(re.findall(r"\bmemcached_[a-z0-9_]+\b(?!:)", text)) <= known
    assert set(re.findall(r"\b[a-z]+:memcached_[a-z0-9_]+:\w+", text)) <= recorded
    for phrase in re.findall(r"\bthresholds? ((?:`[\w.]+`(?:,\s|\sand\s)?)+)", text):
        for place in re.findall(r"`([\w.]+)`", phrase):
            found: Any = Thresholds()
            for name in place.split("."):
                found = getattr(found, name)


@pytest.mark.parametrize("pattern", WRONG.values(), ids=WRONG)
def test_wrong_advice_is_not_given(pattern: str) -> None:
    """What the field recommends wrongly stands in no runbook."""
    for path in RUNBOOKS:
        assert not re.search(pattern, path.read_text(encoding="utf-8")), path.name


def test_promql_of_runbooks(tmp_path: Path) -> None:
    """Each query that a runbook gives is taken by Prometheus."""
    queries = [
        query
        for path in RUNBOOKS
        for query in re.findall(r"promtool query instant \S+ '([^']+)'", path.read_text())
    ]
    assert len(queries) > 10
    rules = [{"record": f"query:{i}", "expr": query} for i, query in enumerate(queries)]
    file = tmp_path / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_commands_of_runbooks(memcached: Callable[..., Memcached]) -> None:
    """Each command that a runbook sends to memcached is one that it knows."""
    given = set(memcached_commands())
    assert ELSEWHERE.keys() - {"refresh_certs"} <= given
    server = memcached("-I", "2m")
    with contextlib.closing(server.client()) as client:
        for i in range(100):
            client.set(f"key-{i}", b"x" * 10 * i)
    for command in sorted(given - ELSEWHERE.keys()):
        assert not re.search("^(ERROR|CLIENT_ERROR)", answer(server, command), re.MULTILINE), (
            command
        )


def answer(server: Memcached, command: str) -> str:
    """Send a command as nc does, and return all that comes back."""
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(command.encode() + b"\r\n")
        connection.shutdown(socket.SHUT_WR)
        data = b""
        while received := connection.recv(65536):
            data += received
    return data.decode()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve(path: Path) -> None:
    """Each relative link of a document leads to a file of the repository, and to its heading."""
    text = path.read_text(encoding="utf-8")
    for link in links(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), f"{path.name}: {link}"
        assert target.resolve().is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{path.name}: {link}"


def test_the_index_is_whole() -> None:
    """alerts/README.md lists each alert once, with its severity and its summary."""
    row = r"^\| \[(\w+)\]\(runbooks/(\w+)\.md\) \| (.+?) \| (.+?) \|$"
    rows = re.findall(row, INDEX, re.MULTILINE)
    assert sorted(rows) == sorted(
        (name, name, severities(name), rules[0]["annotations"]["summary"])
        for name, rules in alerts().items()
    )


def test_the_index_shows_a_good_configuration(tmp_path: Path) -> None:
    """What alerts/README.md shows for a configuration file is taken, and changes the rules."""
    (text,) = re.findall(
        r"^```yaml\n(# config/exporter\.yml\n.*?)^```", INDEX, re.MULTILINE | re.DOTALL
    )
    file = tmp_path / "exporter.yml"
    file.write_text(text)
    configuration = build(*load(file))
    assert configuration.thresholds.connections.warning == 0.7
    assert configuration.rules.selector == 'job="memcached"'
