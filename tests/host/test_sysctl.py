"""Settings of the kernel."""

from pathlib import Path

import pytest

from exporter.catalogue.host.sysctl import SETTINGS
from exporter.configuration import HostSettings
from exporter.host.sysctl import sysctl
from tests.resilience.networks import own_network

HERE = HostSettings(Path("/proc"), Path("/sys"))


def read(settings: HostSettings) -> dict[tuple[str, ...], float]:
    """Return the numbers by name, and by name and field."""
    return {labels: value for _, labels, value in sysctl(settings)()}


def setting(root: Path, name: str, content: str) -> None:
    """Give a made-up host a setting."""
    path = root / "sys" / name.replace(".", "/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_one_number_and_several(tmp_path: Path) -> None:
    """Several numbers of one name are told apart by the field; none is rounded."""
    setting(tmp_path, "net.core.somaxconn", "4096\n")
    setting(tmp_path, "net.ipv4.tcp_rmem", "4096\t131072\t33554432\n")
    setting(tmp_path, "net.ipv4.ip_local_port_range", "32768\t60999\n")
    setting(tmp_path, "fs.file-max", "9223372036854775807\n")
    setting(tmp_path, "vm.unheard_of", "1\n")
    assert read(HostSettings(tmp_path, Path("/sys"))) == {
        ("net.core.somaxconn",): 4096,
        ("net.ipv4.tcp_rmem", "min"): 4096,
        ("net.ipv4.tcp_rmem", "default"): 131072,
        ("net.ipv4.tcp_rmem", "max"): 33554432,
        ("net.ipv4.ip_local_port_range", "min"): 32768,
        ("net.ipv4.ip_local_port_range", "max"): 60999,
        ("fs.file-max",): 9223372036854775807,
    }


def test_a_host_without_any(tmp_path: Path) -> None:
    """It does not have the source."""
    with pytest.raises(FileNotFoundError):
        read(HostSettings(tmp_path, Path("/sys")))


def test_a_removed_setting_is_absent_or_shown(tmp_path: Path) -> None:
    """tcp_tw_recycle, gone since 4.12, is of interest where a kernel still has it switched on."""
    setting(tmp_path, "net.ipv4.tcp_tw_recycle", "1\n")
    assert read(HostSettings(tmp_path, Path("/sys"))) == {("net.ipv4.tcp_tw_recycle",): 1}


def test_this_host() -> None:
    """Each number of the running kernel stands where its name says."""
    found = read(HERE)
    for name, fields in SETTINGS.items():
        path = Path("/proc/sys") / name.replace(".", "/")
        if not path.exists():
            assert not [labels for labels in found if labels[0] == name]
            continue
        numbers = [int(number) for number in path.read_text().split()]
        labels = [(name, field) for field in fields] if fields else [(name,)]
        assert [found[label] for label in labels] == numbers
    assert len(found) <= 40


def test_a_network_namespace_has_its_own_settings() -> None:
    """Inside it, its own numbers are read, and what it does not have is absent."""
    host = read(HERE)
    with own_network():
        Path("/proc/sys/net/core/somaxconn").write_text("77")
        found = read(HERE)
    assert found["net.core.somaxconn",] == 77 != host["net.core.somaxconn",]
    assert ("net.core.netdev_max_backlog",) in host
    assert ("net.core.netdev_max_backlog",) not in found
    assert found["vm.swappiness",] == host["vm.swappiness",]


def test_another_networks_settings_are_not_the_hosts(tmp_path: Path) -> None:
    """F13: below a mounted /proc, sys/net is still the reader's own network: it is left out.

    Within the host's network it is the host's.
    """
    root = tmp_path / "proc"
    root.symlink_to("/proc")
    mounted = HostSettings(root, Path("/sys"))
    assert mounted.net == root / "1" / "net"
    assert read(mounted)["net.core.somaxconn",] == read(HERE)["net.core.somaxconn",]
    with own_network():
        found = read(mounted)
    assert not [labels for labels in found if labels[0].startswith("net.")]
    assert ("vm.swappiness",) in found
