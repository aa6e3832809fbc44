"""Context switches of the host, and its CPUs."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.cpu import cpu


def host(root: Path, stat: str = "", **lists: str) -> HostSettings:
    """Make a host with this /proc/stat and these lists of CPUs."""
    (root / "sys/devices/system/cpu").mkdir(parents=True)
    (root / "proc").mkdir()
    if stat:
        (root / "proc/stat").write_text(stat)
    for state, members in lists.items():
        (root / "sys/devices/system/cpu" / state).write_text(f"{members}\n")
    return HostSettings(root / "proc", root / "sys")


STAT = "cpu  1 2 3\ncpu0 1 2 3\nintr 99 0 1 ctxt 5\nctxt 17446744073709551615\nbtime 3\n"


def test_switches_and_cpus(tmp_path: Path) -> None:
    """The number is not rounded, and CPUs that are offline count as possible only."""
    settings = host(tmp_path, STAT, online="0,2-63", possible="0-255")
    assert list(cpu(settings)()) == [
        ("ctxt", (), 17446744073709551615),
        ("online", (), 63),
        ("possible", (), 256),
    ]


def test_one_source_without_the_other(tmp_path: Path) -> None:
    """Where /sys is not mounted, the switches are still read, and the other way round."""
    assert list(cpu(host(tmp_path / "a", STAT))()) == [("ctxt", (), 17446744073709551615)]
    assert list(cpu(host(tmp_path / "b", online="0-1"))()) == [("online", (), 2)]


def test_neither_source(tmp_path: Path) -> None:
    """The host does not have it."""
    with pytest.raises(FileNotFoundError):
        list(cpu(host(tmp_path))())


def test_this_host() -> None:
    """The running kernel's number lies between two readings; the CPUs are those of Python."""

    def switches() -> int:
        return int(Path("/proc/stat").read_text().split("\nctxt ")[1].split()[0])

    before = switches()
    found = {key: value for key, _, value in cpu(HostSettings(Path("/proc"), Path("/sys")))()}
    assert before <= found["ctxt"] <= switches()
    online = Path("/sys/devices/system/cpu").glob("cpu[0-9]*")
    assert 1 <= found["online"] <= found["possible"]
    assert found["online"] <= len(list(online))
