"""The rule files in the repository are what the command prints at the defaults."""

import subprocess
from pathlib import Path

import pytest

from exporter.cli import main
from exporter.health.rules.all_rules import FILES

ALERTS = Path(__file__).parent.parent.parent / "alerts"


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_made_by_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise: ``python -m exporter rules --file NAME > alerts/NAME.yml``."""
    assert main(["rules", "--file", name]) == 0
    assert (ALERTS / f"{name}.yml").read_text() == capsys.readouterr().out


def test_there_are_no_other_files() -> None:
    """A renamed file does not leave its old one behind."""
    assert {path.stem for path in ALERTS.glob("*.yml")} == set(FILES)


def test_prometheus_takes_them() -> None:
    """Nothing is wrong with them for promtool, and no rule is there twice."""
    run = subprocess.run(
        ["promtool", "check", "rules", "--lint-fatal", *sorted(ALERTS.glob("*.yml"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
