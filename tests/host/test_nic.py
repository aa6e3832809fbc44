"""Network devices as their drivers tell: real ones, in namespaces of their own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.host.devices import Devices
from exporter.host.nic import nic
from exporter.host.nic_drops import nic_drops
from exporter.host.nic_queues import nic_queues
from tests.host.nic_support import (
    REAL,
    ROOT,
    Namespace,
    Values,
    add_device,
    namespace,
    of,
    run,
    settings,
    values,
    write,
)

COLLECTORS = ("nic", "nic_queues", "nic_drops", "interrupts", "interrupt_matrix", "steering")
SEND = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    for number in range(60):
        sender.sendto(bytes(500), ("10.77.0.1", 9000 + number))
"""


@pytest.fixture
def near(tmp_path: Path) -> Iterator[Namespace]:
    """A namespace in which devices are made."""
    with namespace(tmp_path) as made:
        yield made


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Namespace]:
    """The namespace at the other end."""
    with namespace(tmp_path) as made:
        yield made


def add_pair(near: Namespace, name: str = "va", queues: int = 4) -> None:
    """Make a veth pair, both ends in one namespace and with some queues."""
    count = ("numrxqueues", str(queues), "numtxqueues", str(queues))
    near.ip("link", "add", name, *count, "type", "veth", "peer", "name", f"{name}p", *count)


def need_ethtool() -> None:
    """Skip the test where the program that tells the right values is missing."""
    if not shutil.which("ethtool"):
        pytest.skip("ethtool is not installed")


def physical() -> str:
    """Return the name of a physical device of this machine."""
    found = Devices(REAL)()
    if not found:
        pytest.skip("this machine has no physical network device")
    return found[0].name


def shown(text: str) -> list[tuple[str, str]]:
    """Return what ethtool prints, name by name; names repeat in sections."""
    pairs = [line.rpartition(":") for line in text.splitlines()]
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def test_channels_of_veth(near: Namespace) -> None:
    """Queues in use and possible ones are told by kind, and kinds that it lacks are not."""
    need_ethtool()
    add_pair(near)
    near.run("ethtool", "-L", "va", "rx", "3", "tx", "2")
    answer = near.reader("va").read("nic")
    assert answer.success is True
    assert of(answer.values, "channels") == {("va", "rx"): 3, ("va", "tx"): 2}
    assert of(answer.values, "channels_max") == {("va", "rx"): 4, ("va", "tx"): 4}
    assert of(answer.values, "ring_entries") == {}
    assert of(answer.values, "info") == {("va", "veth", "1.0", "", "", ""): 1}
    assert of(answer.values, "series_dropped") == {(): 0}


def test_queues_of_veth(near: Namespace, far: Namespace) -> None:
    """Packets that arrive are counted at the queues that took them, as ethtool tells (F06)."""
    need_ethtool()
    add_pair(near)
    near.ip("link", "set", "vap", "netns", far.name)
    near.run("ethtool", "-L", "va", "rx", "4", "tx", "4")
    # Packets wait in a queue of veth only where they may be joined on arrival.
    near.run("ethtool", "-K", "va", "gro", "on")
    far.run("ethtool", "-K", "vap", "tso", "off")
    for end, name, address in ((near, "va", "10.77.0.1/24"), (far, "vap", "10.77.0.2/24")):
        end.ip("link", "set", name, "addrgenmode", "none")
        end.ip("address", "add", address, "dev", name)
        end.ip("link", "set", name, "up")
    reader = near.reader("va")
    assert set(of(reader.read("nic_queues").values, "packets").values()) == {0}
    far.run(sys.executable, "-c", SEND)
    before = dict(shown(near.run("ethtool", "-S", "va")))
    answer = reader.read("nic_queues")
    after = dict(shown(near.run("ethtool", "-S", "va")))
    assert answer.success is True
    names = {"packets": "xdp_packets", "bytes": "xdp_bytes", "drops": "drops"}
    for key, name in names.items():
        found = of(answer.values, key)
        assert set(found) == {("va", "rx", str(queue)) for queue in range(4)}
        for (_, _, queue), number in found.items():
            counter = f"rx_queue_{queue}_{name}"
            assert int(before[counter]) <= number <= int(after[counter])
    assert sum(of(answer.values, "packets").values()) >= 60
    assert sum(of(answer.values, "bytes").values()) >= 60 * 500
    assert len([number for number in of(answer.values, "packets").values() if number]) > 1


def test_devices_without_support_do_not_stop_others(near: Namespace) -> None:
    """Of lo, a tap and a veth each brings what it has, and nothing is logged (F18)."""
    add_pair(near, "vz")
    near.ip("tuntap", "add", "tap0", "mode", "tap")
    reader = near.reader("lo|tap0|vz")
    for _ in range(3):
        answer = reader.read("nic")
        assert answer.success is True
        assert {labels[0] for labels in of(answer.values, "info")} == {"tap0", "vz"}
        assert {labels[0] for labels in of(answer.values, "channels")} == {"tap0", "vz"}
        answer = reader.read("nic_queues")
        assert answer.success is True
        assert {labels[0] for labels in of(answer.values, "packets")} == {"vz"}
        answer = reader.read("nic_drops")
        assert answer.success is True
        assert {labels[0] for labels in of(answer.values, "drops")} == {"lo", "tap0", "vz"}
    assert reader.logged == []


def test_interfaces_come_and_go(near: Namespace, far: Namespace) -> None:
    """A device that moves away takes its series along, and one that comes is there (F17)."""
    add_pair(near, "va")
    reader = near.reader(r"v.|w\d")
    for collector in ("nic", "nic_queues", "nic_drops", "steering"):
        devices = {labels[0] for _, labels in reader.read(collector).values if labels}
        assert devices == {"va"}
    near.ip("link", "set", "va", "netns", far.name)
    add_pair(near, "vb")
    for collector in ("nic", "nic_queues", "nic_drops", "steering"):
        answer = reader.read(collector)
        assert answer.success is True
        assert {labels[0] for _, labels in answer.values if labels} == {"vb"}
    near.ip("link", "set", "vb", "name", "w2")
    for collector in ("nic", "nic_queues", "nic_drops", "steering"):
        answer = reader.read(collector)
        assert {labels[0] for _, labels in answer.values if labels} == {"w2"}
    near.ip("link", "del", "w2")
    for collector in ("nic", "nic_queues", "nic_drops", "steering"):
        answer = reader.read(collector)
        assert (answer.success, answer.values) == (None, {})
    assert all("does not have the source" in line for line in reader.logged)
    assert len(reader.logged) == 4


def test_queues_follow_a_change_of_their_number(near: Namespace) -> None:
    """More or fewer queues are seen at once, and counters keep to their queues."""
    need_ethtool()
    add_pair(near)
    reader = near.reader("va")
    for count in (1, 4, 2, 3):
        near.run("ethtool", "-L", "va", "rx", str(count), "tx", str(count))
        packets = of(reader.read("nic_queues").values, "packets")
        assert {labels[2] for labels in packets} == {str(queue) for queue in range(count)}


def test_queues_are_limited(near: Namespace) -> None:
    """The 128 lowest queues are told, and how many series were left out (F07)."""
    need_ethtool()
    add_pair(near, queues=200)
    near.run("ethtool", "-L", "va", "rx", "200", "tx", "200")
    found = near.reader("va").read("nic_queues").values
    queues = {int(labels[2]) for labels in of(found, "packets")}
    assert queues == set(range(128))
    assert found["series_dropped", ()] == 3 * (200 - 128)


def test_nothing_stays_open(near: Namespace) -> None:
    """A reading closes what it opened, also when there is nothing to read."""
    add_pair(near)
    for include in ("va|lo", ""):
        reader = near.reader(include)
        for collector in COLLECTORS:
            before = reader.read(collector).descriptors
            assert reader.read(collector).descriptors == before


def test_another_namespace_is_not_mixed_in(near: Namespace, tmp_path: Path) -> None:
    """Devices of a foreign /sys are not asked for by their names here (F13)."""
    add_device(tmp_path, "va", "pci/a")
    write(tmp_path / "sys/class/net/va/statistics/rx_missed_errors", "3\n")
    add_pair(near)
    reader = near.reader(sysfs=str(tmp_path / "sys"))
    for collector in ("nic", "nic_queues"):
        answer = reader.read(collector)
        assert (answer.success, answer.values) == (None, {})
    # Files are those of the device meant, whoever reads them.
    drops = reader.read("nic_drops").values
    assert drops == {("drops", ("va", "rx_missed_errors")): 3}


def test_a_real_card_as_ethtool_tells() -> None:
    """Driver, rings and coalescing of this machine's card are what ethtool prints."""
    need_ethtool()
    name = physical()
    found = values(nic(REAL))
    assert name in {labels[0] for labels in of(found, "info")}
    (info,) = (labels for labels in of(found, "info") if labels[0] == name)
    lines = run("ethtool", "-i", name).splitlines()
    driver = dict(line.split(": ", 1) for line in lines if ": " in line)
    assert info[1:5] == tuple(
        driver[key].strip() for key in ("driver", "version", "firmware-version", "bus-info")
    )
    check_amounts(found, name, "-l", "channels", ("rx", "tx", "other", "combined"))
    check_amounts(found, name, "-g", "ring_entries", ("rx", "tx"))
    check_coalescing(found, name)


def check_amounts(found: Values, name: str, flag: str, key: str, kinds: tuple[str, ...]) -> None:
    """Check current and maximal numbers against what ethtool prints."""
    try:
        text = run("ethtool", flag, name)
    except subprocess.CalledProcessError:
        text = ""
    most, _, current = text.partition("Current hardware settings")
    for suffix, part in (("_max", most), ("", current)):
        printed = {
            (name, match[1].lower()): int(match[2])
            for match in re.finditer(r"^(\w+):\s+(\d+)$", part, re.MULTILINE)
            if match[1].lower() in kinds
        }
        told = {labels: number for labels, number in of(found, key + suffix).items() if number}
        expected = {labels: number for labels, number in printed.items() if number}
        assert {labels: n for labels, n in told.items() if labels[0] == name} == expected


def check_coalescing(found: Values, name: str) -> None:
    """Check how interrupts are put off against what ethtool prints."""
    printed = dict(shown(run("ethtool", "-c", name)))
    for direction in ("rx", "tx"):
        for key, line, scale in (
            ("coalesce_seconds", f"{direction}-usecs", 1e6),
            ("coalesce_frames", f"{direction}-frames", 1),
        ):
            if printed[line].isdecimal():
                assert found[key, (name, direction)] == int(printed[line]) / scale


def test_packets_of_a_real_card() -> None:
    """Queues of this machine's card count together what the device counts."""
    name = physical()
    statistics = Path(f"/sys/class/net/{name}/statistics")
    for direction in ("rx", "tx"):
        before = int((statistics / f"{direction}_packets").read_text())
        found = of(values(nic_queues(REAL)), "packets")
        after = int((statistics / f"{direction}_packets").read_text())
        queues = [n for labels, n in found.items() if labels[:2] == (name, direction)]
        if not queues:
            pytest.skip(f"{name} does not count packets of its queues")
        assert before <= sum(queues) <= after


def test_drops_of_a_real_card() -> None:
    """The counter that every device has is there under its name."""
    name = physical()
    found = of(values(nic_drops(REAL)), "drops")
    assert (name, "rx_missed_errors") in found
    assert len({labels for labels in found if labels[0] == name}) <= 12


AS_NOBODY = """
import os
from tests.host.nic_support import REAL
from exporter.catalogue.host.collectors import HOST_SECTIONS
from exporter.host.collector import Collector
from exporter.host.sources import HOST_SOURCES

if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for section in HOST_SECTIONS:
    gathered = Collector(section, HOST_SOURCES[section.name](REAL)).gather()
    print(section.name, gathered.success, len({key for key, *_ in gathered.samples}))
"""


def test_no_privilege_is_needed() -> None:
    """Everything of this machine's card is read by a user without any capability."""
    physical()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", AS_NOBODY]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    told = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    for name, source in (("nic", nic), ("nic_queues", nic_queues), ("nic_drops", nic_drops)):
        rows = len({key for key, _ in values(source(REAL))})
        assert told[name] == ["True", str(rows)]


def test_a_host_without_devices(tmp_path: Path) -> None:
    """Where there is no device, or no /sys, the source is absent."""
    for make in (nic, nic_queues, nic_drops):
        with pytest.raises(FileNotFoundError):
            list(make(settings(tmp_path))())
    (tmp_path / "sys/class/net").mkdir(parents=True)
    for make in (nic, nic_queues, nic_drops):
        with pytest.raises(OSError, match="Nothing"):
            list(make(settings(tmp_path))())
