"""``make pictures`` for real, for a shorter time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.web.clients import eventually


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Return a directory for what must be gone at the end."""
    made = tmp_path / "temporary"
    made.mkdir()
    return made


def start(tmp_path: Path, temporary: Path) -> subprocess.Popen[bytes]:
    """Start it, with its pictures in a directory of the test's."""
    with (tmp_path / "said").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "demo.pictures", "--minutes=0.1", f"--out={tmp_path}"],
            stdout=said,
            stderr=said,
            env=os.environ | {"TMPDIR": str(temporary)},
        )


def test_all_boards_are_drawn(tmp_path: Path, temporary: Path) -> None:
    """There is a picture of each board, and nothing else is left behind."""
    process = start(tmp_path, temporary)
    try:
        assert process.wait(100) == 0, (tmp_path / "said").read_text()
    finally:
        process.terminate()
        process.wait()
    names = {path.stem for path in tmp_path.glob("*.png")}
    wanted = {f"memcached-{name}" for name in ("fleet", "server", "slabs", "host")}
    assert names == wanted
    for name in names:
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.width == 1600
    assert list(temporary.iterdir()) == []


def test_ctrl_c_draws_nothing(tmp_path: Path, temporary: Path) -> None:
    """Ctrl-C ends all, and says by its status that there are no pictures."""
    process = start(tmp_path, temporary)
    said = tmp_path / "said"
    try:
        assert eventually(lambda: "exporter runs" in said.read_text(), 60)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 1
    finally:
        process.terminate()
        process.wait()
    assert not list(tmp_path.glob("*.png"))
    assert list(temporary.iterdir()) == []
