"""Which network devices are read."""

import os
import shutil
from pathlib import Path

import pytest

from exporter.host.devices import Devices
from tests.host.nic_support import REAL, add_device, settings, write


def names(host: Path, include: str = "", exclude: str = "") -> list[str]:
    """Return the names of the devices of a tree of files."""
    return [device.name for device in Devices(settings(host, include, exclude))()]


def test_physical_devices_are_read(tmp_path: Path) -> None:
    """A device with hardware is read, and loopback, veth and the like are not."""
    add_device(tmp_path, "eth0", "pci/0000:00:03.0/virtio2")
    for name in ("lo", "veth1234", "docker0", "cali0", "dummy0"):
        add_device(tmp_path, name)
    write(tmp_path / "sys/class/net/bonding_masters", "bond0\n")
    assert names(tmp_path) == ["eth0"]


def test_the_configuration_adds_and_takes_away(tmp_path: Path) -> None:
    """Patterns match whole names, and what is excluded stays out."""
    for number in range(3):
        add_device(tmp_path, f"eth{number}", f"pci/0000:00:0{number}.0")
    for name in ("veth1", "veth10", "lo"):
        add_device(tmp_path, name)
    assert names(tmp_path, "veth1|lo", "eth1|lo") == ["eth0", "eth2", "veth1"]


def test_what_an_included_device_stands_on_is_read(tmp_path: Path) -> None:
    """A VLAN on a bond on a team: all of them, though only the VLAN is asked for."""
    for upper, lower in (("vlan7", "bond0"), ("bond0", "team0"), ("team0", "lo")):
        (add_device(tmp_path, upper) / f"lower_{lower}").mkdir()
    add_device(tmp_path, "lo")
    add_device(tmp_path, "other")
    assert names(tmp_path, "vlan7", "lo") == ["bond0", "team0", "vlan7"]


def test_sixteen_devices_are_read_and_ports_first(tmp_path: Path) -> None:
    """Virtual functions yield to ports, and eth2 comes before eth10."""
    for number in range(12):
        add_device(tmp_path, f"eth{number}", f"pci/port{number}")
    for number in range(30):
        add_device(tmp_path, f"a{number}", f"pci/function{number}")
        (tmp_path / f"sys/devices/pci/function{number}/physfn").mkdir()
    devices = Devices(settings(tmp_path))
    expected = [*(f"eth{number}" for number in range(12)), "a0", "a1", "a2", "a3"]
    assert [device.name for device in devices()] == expected
    assert devices.dropped == 26


def test_devices_come_and_go(tmp_path: Path) -> None:
    """A device is there as soon as it comes, and gone as soon as it goes (F17)."""
    devices = Devices(settings(tmp_path))
    add_device(tmp_path, "eth0", "pci/a")
    assert [device.name for device in devices()] == ["eth0"]
    add_device(tmp_path, "eth1", "pci/b")
    assert [device.name for device in devices()] == ["eth0", "eth1"]
    (tmp_path / "sys/class/net/eth0").unlink()
    assert [device.name for device in devices()] == ["eth1"]


def test_another_device_of_the_same_name_is_noticed(tmp_path: Path) -> None:
    """A device that takes a name over is another one (F17)."""
    devices = Devices(settings(tmp_path))
    add_device(tmp_path, "eth0", "pci/a")
    first = devices()
    # The new link exists before the old one goes, so that it cannot get the same number.
    link = tmp_path / "sys/class/net/eth0"
    place = add_device(tmp_path, "eth9", "pci/b")
    write(place / "ifindex", "9\n")
    (tmp_path / "sys/class/net/eth9").replace(link)
    second = devices()
    assert [device.name for device in second] == ["eth0"]
    assert (first[0].index, second[0].index) == (7, 9)


def test_names_of_any_bytes(tmp_path: Path) -> None:
    """A name that is no text becomes one that a page can hold."""
    add_device(tmp_path, os.fsdecode(b"et\xff0"), "pci/a")
    (device,) = Devices(settings(tmp_path))()
    assert (device.name, device.raw) == ("et\ufffd0", b"et\xff0")


def test_no_sysfs_is_an_absent_source(tmp_path: Path) -> None:
    """Without /sys/class/net there are no devices to speak of."""
    with pytest.raises(FileNotFoundError):
        Devices(settings(tmp_path))()


def test_a_namesake_elsewhere_is_not_asked(tmp_path: Path) -> None:
    """A device of another namespace's /sys is not mixed up with one of that name here (F13)."""
    place = add_device(tmp_path, "lo", "pci/a")
    assert [device.reachable for device in Devices(settings(tmp_path))()] == [False]
    shutil.copy("/sys/class/net/lo/ifindex", place / "ifindex")
    assert [device.reachable for device in Devices(settings(tmp_path))()] == [False]
    shutil.copy("/sys/class/net/lo/address", place / "address")
    assert [device.reachable for device in Devices(settings(tmp_path))()] == [True]
    write(place / "ifindex", "7\n")
    assert [device.reachable for device in Devices(settings(tmp_path))()] == [False]


def test_devices_of_this_machine_are_reachable() -> None:
    """What is in /sys here can be asked."""
    found = Devices(REAL)()
    if not found:
        pytest.skip("this machine has no physical network device")
    assert all(device.reachable for device in found)
