"""Counters of arriving packets per CPU, as kernels of all ages write them."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.softnet import softnet

WIDTHS = {
    9: "{processed} {dropped} {squeezed} 00000000 00000000 00000000 00000000 00000000 00000007",
    10: "{9} 00000aaa",
    11: "{10} 00000bbb",
    13: "{11} 00000ccc {cpu}",
    15: "{13} 00000ddd 00000eee",
}
"""By number of columns; what stands in further columns must not be taken for anything else."""


def line(width: int, **columns: int) -> str:
    """Return a row as a kernel with so many columns writes it."""
    shown = {name: f"{number:08x}" for name, number in columns.items()}
    narrower: list[str] = []
    for pattern in WIDTHS.values():
        narrower.append(pattern.format(*_by_width(narrower), **shown))
    return narrower[list(WIDTHS).index(width)]


def _by_width(lines: list[str]) -> list[str]:
    """Return lines so that each stands at the index that is its width."""
    by_width = [""] * (max(WIDTHS) + 1)
    for width, content in zip(WIDTHS, lines, strict=False):
        by_width[width] = content
    return by_width


def values(root: Path, content: str, online: str = "") -> dict[tuple[str, str], float]:
    """Return what is read of a host with these rows and these CPUs online."""
    net = root / "proc" / "1" / "net"
    net.mkdir(parents=True)
    (net / "softnet_stat").write_text(content)
    if online:
        cpu = root / "sys" / "devices" / "system" / "cpu"
        cpu.mkdir(parents=True)
        (cpu / "online").write_text(f"{online}\n")
    read = softnet(HostSettings(root / "proc", root / "sys"))
    return {(key, cpu): value for key, (cpu,), value in read()}


@pytest.mark.parametrize("width", WIDTHS)
def test_all_widths(tmp_path: Path, width: int) -> None:
    """F09: the numbers are hexadecimal and in the first columns, however many follow."""
    row = line(width, processed=0xDEADBEEF, dropped=0x10, squeezed=0x9A, cpu=0)
    assert len(row.split()) == width
    assert values(tmp_path, f"{row}\n") == {
        ("processed", "0"): 3735928559,
        ("dropped", "0"): 16,
        ("squeezed", "0"): 154,
    }


@pytest.mark.parametrize("width", [13, 15])
def test_a_column_says_which_cpu_it_is(tmp_path: Path, width: int) -> None:
    """F09: with CPUs 1 to 15 offline, the second row is that of CPU 16, which is written 10."""
    rows = [line(width, processed=cpu + 5, dropped=0, squeezed=0, cpu=cpu) for cpu in (0, 16)]
    found = values(tmp_path, "\n".join(rows), online="0,16")
    assert (found["processed", "0"], found["processed", "16"]) == (5, 21)
    assert len(found) == 6


@pytest.mark.parametrize("width", [9, 10, 11])
def test_rows_without_a_cpu_are_of_those_online(tmp_path: Path, width: int) -> None:
    """F09: older kernels leave out CPUs that are offline, and do not say which ones are left."""
    rows = [line(width, processed=cpu, dropped=0, squeezed=0, cpu=0) for cpu in (0, 2, 3)]
    found = values(tmp_path, "\n".join(rows), online="0,2-3")
    assert [found["processed", cpu] for cpu in ("0", "2", "3")] == [0, 2, 3]
    assert len(found) == 9


@pytest.mark.parametrize("online", ["", "0-7"])
def test_rows_are_numbered_where_the_cpus_are_not_known(tmp_path: Path, online: str) -> None:
    """A list of CPUs that does not fit the rows (one was just switched) names none of them."""
    rows = [line(11, processed=cpu, dropped=0, squeezed=0, cpu=0) for cpu in range(3)]
    found = values(tmp_path, "\n".join(rows), online=online)
    assert [found["processed", cpu] for cpu in ("0", "1", "2")] == [0, 1, 2]


def test_256_cpus(tmp_path: Path) -> None:
    """Three series for each."""
    rows = [line(15, processed=cpu, dropped=1, squeezed=2, cpu=cpu) for cpu in range(256)]
    found = values(tmp_path, "\n".join(rows))
    assert len(found) == 768
    assert found["processed", "255"] == 255


def test_this_host() -> None:
    """The counters of the running kernel lie between two readings of the file."""
    path = Path("/proc/net/softnet_stat")

    def processed() -> list[int]:
        return [int(row.split()[0], 16) for row in path.read_text().splitlines()]

    before = processed()
    read = softnet(HostSettings(Path("/proc"), Path("/sys")))
    found = [value for key, _, value in read() if key == "processed"]
    assert len(found) == len(before)
    assert all(a <= b <= c for a, b, c in zip(before, found, processed(), strict=True))


def test_the_hosts_own_network_is_read_below_another_root(tmp_path: Path) -> None:
    """F13: ROOT/1/net is the host's; ROOT/net would lead to the reader's own."""
    own = tmp_path / "proc" / "net"
    own.mkdir(parents=True)
    (own / "softnet_stat").write_text(line(15, processed=1, dropped=1, squeezed=1, cpu=0))
    row = line(15, processed=2, dropped=2, squeezed=2, cpu=0)
    assert set(values(tmp_path, row).values()) == {2}
