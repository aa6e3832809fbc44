"""The example files are accepted by the programs that they are for."""

import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parent.parent.parent / "config"


@pytest.mark.parametrize(
    ("pattern", "checker"),
    [
        ("prometheus*.yml", ["promtool", "check", "config"]),
        ("exporter*.yml", [sys.executable, "-m", "exporter", "config", "check"]),
    ],
)
def test_the_examples_are_good(pattern: str, checker: list[str]) -> None:
    """Each example passes its program's own check; that there is none is a failure."""
    files = sorted(CONFIG.glob(pattern))
    assert files, f"config/ has no {pattern}"
    for file in files:
        result = subprocess.run(
            [*checker, str(file)], capture_output=True, text=True, check=False, timeout=60
        )
        assert result.returncode == 0, f"{file.name}: {result.stdout}{result.stderr}"
