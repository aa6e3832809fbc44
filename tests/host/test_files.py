"""Open files of the host."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.files import files


@pytest.mark.parametrize(
    ("content", "opened", "most"),
    [
        ("719\t0\t2466170\n", 719, 2466170),
        ("5000\t200\t9223372036854775807\n", 4800, 9223372036854775807),
    ],
    ids=["today", "linux-2.4"],
)
def test_open_files(tmp_path: Path, content: str, opened: int, most: int) -> None:
    """Handles that are free are not open; a limit of 2^63 - 1 is not rounded."""
    (tmp_path / "sys/fs").mkdir(parents=True)
    (tmp_path / "sys/fs/file-nr").write_text(content)
    read = files(HostSettings(tmp_path, Path("/sys")))
    assert list(read()) == [("allocated", (), opened), ("max", (), most)]


def test_this_host() -> None:
    """The running kernel has files open, and its limit is that of fs.file-max."""
    found = {key: value for key, _, value in files(HostSettings(Path("/proc"), Path("/sys")))()}
    assert found["max"] == int(Path("/proc/sys/fs/file-max").read_text())
    assert 0 < found["allocated"] < found["max"]
