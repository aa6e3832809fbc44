"""The command `rules`: thresholds, selectors and formats reach the rules that it prints."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.cli import main
from exporter.health.rules.all_rules import FILES


def rules(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return what the command prints, parsed."""
    assert main(["rules", *arguments]) == 0
    return yaml.safe_load(capsys.readouterr().out)


def alert(document: Any, name: str, severity: str) -> Any:
    """Return one alert of a rule file."""
    (found,) = (
        rule
        for group in document["groups"]
        for rule in group["rules"]
        if rule.get("alert") == name and rule["labels"]["severity"] == severity
    )
    return found


def test_all_files_are_one_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --file the groups of all files come in their order."""
    names = [group["name"] for group in rules(capsys)["groups"]]
    apart = [group["name"] for file in FILES for group in rules(capsys, "--file", file)["groups"]]
    assert names == apart
    assert len(set(names)) == len(names)


def test_a_threshold_of_the_configuration(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It stands in the expression of the warning and, as the bound, of what is worse."""
    config = tmp_path / "exporter.yml"
    config.write_text(
        "thresholds: {connections: {warning: 0.5, critical: 0.75}, hit_rate: {warning: 0.6}}\n"
        "rules: {runbooks: 'https://wiki.example/memcached', dashboards: 'https://g.example/d'}\n"
    )
    document = rules(capsys, "--config.file", str(config))
    used = "server:memcached_connections_used:ratio"
    warning = alert(document, "MemcachedConnectionsHigh", "warning")
    assert warning["expr"] == f"{used} > 0.5 <= 0.75"
    critical = alert(document, "MemcachedConnectionsHigh", "critical")
    assert critical["expr"] == f"{used} > 0.75"
    low = alert(document, "MemcachedHitRateLow", "warning")
    assert "< 0.6\n" in low["expr"]
    assert "less than 60 %" in low["annotations"]["description"]
    links = low["annotations"]
    assert links["runbook_url"] == "https://wiki.example/memcached/MemcachedHitRateLow.md"
    assert links["dashboard_url"] == "https://g.example/d/memcached-server"


@pytest.mark.parametrize("selector", ['job="x"', 'job=~"a|b", cluster!="c"'])
def test_a_selector_is_in_each_expression(
    capsys: pytest.CaptureFixture[str], selector: str, tmp_path: Path
) -> None:
    """By flag or by file, and each metric of each rule has it."""
    config = tmp_path / "exporter.yml"
    config.write_text(yaml.safe_dump({"rules": {"selector": selector}}))
    document = rules(capsys, "--selector", selector)
    assert document == rules(capsys, "--config.file", str(config))
    plain = rules(capsys)
    for group, bare in zip(document["groups"], plain["groups"], strict=True):
        for rule, without in zip(group["rules"], bare["rules"], strict=True):
            count = rule["expr"].count(selector)
            assert count >= 1
            assert (
                rule["expr"].replace(f"{{{selector}}}", "").replace(f"{selector}, ", "")
                == (without["expr"])
            )


def test_the_operators_format(capsys: pytest.CaptureFixture[str]) -> None:
    """The same groups are the spec of a PrometheusRule."""
    resource = rules(capsys, "--format", "operator", "--file", "memcached-alerts")
    assert (resource["apiVersion"], resource["kind"]) == (
        "monitoring.coreos.com/v1",
        "PrometheusRule",
    )
    assert resource["metadata"]["name"] == "memcached-alerts"
    assert resource["spec"] == rules(capsys, "--file", "memcached-alerts")


@pytest.mark.parametrize("selector", ["job", "job=x", 'job="x"}', 'job="x",', "{}", 'a="b" or 1'])
def test_no_selector_is_one_line(capsys: pytest.CaptureFixture[str], selector: str) -> None:
    """What would break each rule is refused with what to write."""
    assert main(["rules", "--selector", selector]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert 'write matchers such as job="memcached"' in error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("thresholds: {connections: {warning: 0.9, critical: 0.8}}", "below critical"),
        ("thresholds: {connections: {warning: 0.9, critical: 0.9}}", "below critical"),
        ("thresholds: {connections: {warning: 80, critical: 95}}", "write a ratio"),
        ("thresholds: {connections: {warn: 0.9}}", 'did you mean "warning"?'),
        ("thresholds: {memory: 85}", "write a ratio above 0 and at most 1"),
        ("thresholds: {memory: '0.8'}", "write a ratio"),
        ("thresholds: {hit_rate: {warning: 0.99}}", "warning must be below target"),
        ("thresholds: {hash_expansion: 30 minutes}", "write a duration of Prometheus"),
        ("thresholds: {workers: {cpu: {warning: 0.95, critical: 0.9}}}", "below critical"),
        ("rules: {selector: 'job=x'}", "write matchers such as"),
    ],
)
def test_a_bad_threshold_is_one_line_with_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, error: str
) -> None:
    """The file, the line and the remedy; nothing is printed."""
    config = tmp_path / "exporter.yml"
    config.write_text(f"# thresholds\n{text}\n")
    assert main(["rules", "--config.file", str(config)]) == 2
    out, line = capsys.readouterr()
    assert out == ""
    assert line.count("\n") == 1
    assert error in line
    assert f"{config}:2" in line


def test_levels_keep_their_other_default(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One level can be set alone."""
    config = tmp_path / "exporter.yml"
    config.write_text("thresholds: {connections: {warning: 0.7}}\n")
    document = rules(capsys, "--config.file", str(config))
    warning = alert(document, "MemcachedConnectionsHigh", "warning")
    assert warning["expr"].endswith("> 0.7 <= 0.95")
