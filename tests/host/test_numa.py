"""Memory nodes of the host."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.numa import numa


def host(root: Path, online: str, misses: dict[int, int]) -> HostSettings:
    """Make a host with these nodes online, and so many misses on each."""
    directory = root / "devices/system/node"
    directory.mkdir(parents=True)
    (directory / "online").write_text(f"{online}\n")
    for node, pages in misses.items():
        (directory / f"node{node}").mkdir()
        (directory / f"node{node}" / "numastat").write_text(
            f"numa_hit 9\nnuma_miss {pages}\nnuma_foreign 8\ninterleave_hit 7\n"
            "local_node 6\nother_node 5\n"
        )
    return HostSettings(Path("/proc"), root)


def test_nodes_and_misses(tmp_path: Path) -> None:
    """Nodes need not be numbered without gaps."""
    settings = host(tmp_path, "0,8", {0: 12, 8: 18446744073709551615})
    assert list(numa(settings)()) == [
        ("online", (), 2),
        ("numa_miss", ("0",), 12),
        ("numa_miss", ("8",), 18446744073709551615),
    ]


def test_a_node_that_is_gone_does_not_stop_the_others(tmp_path: Path) -> None:
    """Memory can be taken off while the nodes are read."""
    settings = host(tmp_path, "0-2", {0: 1, 2: 3})
    assert list(numa(settings)())[1:] == [("numa_miss", ("0",), 1), ("numa_miss", ("2",), 3)]


def test_a_kernel_without_nodes(tmp_path: Path) -> None:
    """It does not have the source."""
    with pytest.raises(FileNotFoundError):
        list(numa(HostSettings(Path("/proc"), tmp_path))())


def test_this_host() -> None:
    """The running kernel's nodes are counted."""
    nodes = list(Path("/sys/devices/system/node").glob("node[0-9]*"))
    if not nodes:
        pytest.skip("this kernel is without memory nodes")
    found = list(numa(HostSettings(Path("/proc"), Path("/sys")))())
    assert found[0] == ("online", (), len(nodes))
    assert len(found) == 1 + len(nodes)
