"""Swap space and the traffic to it."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.swap import swap

MEMINFO = """MemTotal:       24567816 kB
SwapCached:         4312 kB
SwapTotal:       8388604 kB
SwapFree:             12 kB
HugePages_Total:       0
"""
VMSTAT = "pgpgin 5\npswpin 18446744073709551615\npswpout 7\nnr_swapcached 3\n"


def read(root: Path, **files: str) -> dict[str, float]:
    """Return what is read of a host with these files."""
    for name, content in files.items():
        (root / name).write_text(content)
    return {key: value for key, _, value in swap(HostSettings(root, Path("/sys")))()}


def test_space_and_traffic(tmp_path: Path) -> None:
    """Space is in bytes, traffic in pages; neither is rounded."""
    assert read(tmp_path, meminfo=MEMINFO, vmstat=VMSTAT) == {
        "SwapTotal": 8388604 * 1024,
        "SwapFree": 12288,
        "pswpin": 18446744073709551615,
        "pswpout": 7,
    }


def test_a_kernel_that_cannot_swap(tmp_path: Path) -> None:
    """It says so with zeros, and counts no traffic."""
    meminfo = "SwapTotal:             0 kB\nSwapFree:              0 kB\n"
    found = read(tmp_path, meminfo=meminfo, vmstat="pgpgin 5\n")
    assert found == {"SwapTotal": 0, "SwapFree": 0}


def test_one_file_only(tmp_path: Path) -> None:
    """Traffic is told without /proc/meminfo; without both files the host does not have it."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path)
    assert read(tmp_path, vmstat=VMSTAT).keys() == {"pswpin", "pswpout"}


def test_this_host() -> None:
    """The sum of /proc/swaps is the swap space of the running kernel."""
    rows = Path("/proc/swaps").read_text().splitlines()[1:]
    found = {key: value for key, _, value in swap(HostSettings(Path("/proc"), Path("/sys")))()}
    assert found["SwapTotal"] == sum(int(row.split()[-3]) for row in rows) * 1024
    assert 0 <= found["SwapFree"] <= found["SwapTotal"]
