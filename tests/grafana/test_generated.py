"""The dashboards in the repository are what their source makes of the default thresholds."""

import json
from pathlib import Path
from typing import Any

import pytest

from grafana.source.__main__ import DASHBOARDS, main
from grafana.source.boards import BOARDS
from grafana.source.variables import SHORT_FORMS

OWN = """
thresholds: {connections: {warning: 0.7, critical: 0.9}, evictions: {per_hour: 7200}}
rules: {runbooks: "https://runbooks.example/memcached"}
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Write all boards anew."""
    assert main(["--output", str(tmp_path)]) == 0
    return tmp_path


@pytest.mark.parametrize("uid", [board.uid for board in BOARDS])
def test_the_file_is_what_the_source_makes(written: Path, uid: str) -> None:
    """Otherwise: ``python -m grafana.source``."""
    assert (DASHBOARDS / f"{uid}.json").read_text() == (written / f"{uid}.json").read_text()


def test_there_are_no_other_files(written: Path) -> None:
    """A renamed board does not leave its old file behind."""
    made = {path.name for path in written.iterdir()}
    assert {path.name for path in DASHBOARDS.iterdir()} == made


def test_no_short_form_is_left(written: Path) -> None:
    """Every query is written out: nothing remains that only the source understands."""
    for path in written.iterdir():
        text = path.read_text()
        assert not [short for short in SHORT_FORMS if f"{short}}}" in text or f"{short}," in text]
        assert "$span" not in text


def test_thresholds_and_runbooks_can_be_set(tmp_path: Path) -> None:
    """They come from the configuration that the rules are made from as well."""
    config = tmp_path / "exporter.yml"
    config.write_text(OWN)
    boards = tmp_path / "boards"
    assert main(["--config.file", str(config), "--output", str(boards)]) == 0
    server = json.loads((boards / "memcached-server.json").read_text())
    assert steps(server, "Connections used by server") == [None, 0.7, 0.9]
    assert steps(server, "Evictions") == [None, 2.0]
    constants = {one["name"]: one["query"] for one in server["templating"]["list"]}
    assert constants["runbooks"] == "https://runbooks.example/memcached"


def steps(board: dict[str, Any], title: str) -> list[float | None]:
    """Return where the colours of a panel change."""
    panel = next(
        panel
        for panel in board["panels"]
        if panel["title"] == title and panel["type"] == "timeseries"
    )
    return [step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]


def test_a_bad_configuration_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the trouble in one line, and writes nothing."""
    config = tmp_path / "exporter.yml"
    config.write_text("thresholds: {memory: 85}\n")
    boards = tmp_path / "boards"
    assert main(["--config.file", str(config), "--output", str(boards)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "thresholds.memory" in error
    assert error.count("\n") == 1
    assert not boards.exists()
