"""Interrupts of a device: found by its place in /sys, and understood by their names."""

from pathlib import Path

import pytest

from exporter.host.devices import Devices
from exporter.host.vectors import Vector, Vectors, interrupt_numbers, purpose
from tests.host.nic_support import add_device, settings, write

FUNCTION = "pci0000:00/0000:00:1c.0/0000:02:00.0"


def add_interrupt(host: Path, number: int, actions: str) -> None:
    """Make an interrupt below ``sys``, asked for under some names."""
    write(host / f"sys/kernel/irq/{number}/actions", f"{actions}\n")


def add_vectors(host: Path, names: dict[int, str], place: str = FUNCTION) -> None:
    """Give the function on the PCI bus its interrupts."""
    for number, actions in names.items():
        write(host / f"sys/devices/{place}/msi_irqs/{number}", "msix\n")
        add_interrupt(host, number, actions)


def found(host: Path) -> dict[str, tuple[str, str, str]]:
    """Return the labels of the interrupts of the only device, by number."""
    (device,) = Devices(settings(host))()
    return {vector.irq: vector.labels for vector in Vectors(settings(host))(device)}


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        # virtio_net
        ("virtio2-config", ("other", "", "")),
        ("virtio2-input.0", ("rx", "0", "")),
        ("virtio12-output.11", ("tx", "11", "")),
        ("virtio2-control", ("other", "", "")),
        ("virtio2-virtqueues", ("", "", "")),
        # ixgbe, igb, igc, e1000e
        ("eth0-TxRx-5", ("combined", "5", "")),
        ("eth0-rx-3", ("rx", "3", "")),
        ("eth0-tx-3", ("tx", "3", "")),
        # ice, i40e, iavf, idpf
        ("ice-eth0-TxRx-63", ("combined", "63", "")),
        ("ice-0000:3b:00.0:misc", ("other", "", "")),
        ("i40e-eth0-TxRx-7", ("combined", "7", "")),
        ("i40e-0000:3d:00.0:fdir-TxRx-0", ("other", "", "")),
        ("iavf-0000:3b:01.0:mbx", ("other", "", "")),
        ("idpf-Mailbox-0", ("other", "", "")),
        ("irdma-0000:3b:00.0:AEQ", ("other", "", "")),
        # mlx5, mlx4
        ("mlx5_comp3@pci:0000:3b:00.0", ("combined", "3", "")),
        ("mlx5_async0@pci:0000:3b:00.0", ("other", "", "")),
        ("mlx5_pages_eq@pci:0000:3b:00.0", ("other", "", "")),
        ("mlx4-7@0000:3b:00.0", ("combined", "", "7")),
        # ena, gve, mana
        ("eth0-Tx-Rx-2", ("combined", "2", "")),
        ("ena-mgmnt@pci:0000:00:05.0", ("other", "", "")),
        ("gve-ntfy-blk17@pci:0000:00:04.0", ("combined", "", "17")),
        ("gve-mgmnt@pci:0000:00:04.0", ("other", "", "")),
        ("mana_q4@pci:7870:00:00.0", ("combined", "4", "")),
        ("mana_hwc@pci:7870:00:00.0", ("other", "", "")),
        # bnxt, vmxnet3, bnx2x, enic, cxgb4, tg3
        ("eth0-rxtx-1", ("combined", "1", "")),
        ("eth0-event-8", ("other", "", "")),
        ("eth0-fp-6", ("combined", "6", "")),
        ("eth0-notify", ("other", "", "")),
        ("eth0 (queue 9)", ("combined", "", "9")),
        ("eth0-txrx-4", ("combined", "4", "")),
        # The name of a device that was renamed since.
        ("eth7-TxRx-5", ("combined", "5", "")),
    ],
)
def test_names_tell_the_queue(name: str, labels: tuple[str, str, str]) -> None:
    """The names that drivers give to interrupts become direction and queue, or vector."""
    assert purpose("1", name, "eth0").labels == labels


@pytest.mark.parametrize("device", ["tx0", "rx1", "mgmt0", "enp3s0f1np1", "config"])
def test_the_name_of_the_device_does_not_count(device: str) -> None:
    """What the device itself is called says nothing of its interrupts."""
    assert purpose("1", f"{device}-TxRx-5", device).labels == ("combined", "5", "")
    assert purpose("1", f"i40e-{device}-rx-5", device).labels == ("rx", "5", "")


def test_the_function_on_the_bus_has_the_interrupts(tmp_path: Path) -> None:
    """A virtio device has none of its own: those of the function above are it's."""
    add_device(tmp_path, "eth0", "pci0000:00/0000:00:03.0/virtio2")
    names = {37: "virtio2-config", 38: "virtio2-input.0", 39: "virtio2-output.0"}
    add_vectors(tmp_path, names, "pci0000:00/0000:00:03.0")
    # A socket to the hypervisor, which has nothing to do with the network.
    add_vectors(tmp_path, {41: "virtio3-rx", 42: "virtio3-tx"}, "pci0000:00/0000:00:04.0")
    assert found(tmp_path) == {
        "37": ("other", "", ""),
        "38": ("rx", "0", ""),
        "39": ("tx", "0", ""),
    }


def test_the_bridge_above_is_not_the_device(tmp_path: Path) -> None:
    """A card without message interrupts has its line, not those of the port it is plugged into."""
    add_device(tmp_path, "eth0", FUNCTION)
    add_vectors(tmp_path, {24: "pcieport"}, str(Path(FUNCTION).parent))
    write(tmp_path / f"sys/devices/{FUNCTION}/irq", "17\n")
    add_interrupt(tmp_path, 17, "uhci_hcd:usb1,eth0")
    assert found(tmp_path) == {"17": ("combined", "0", "")}


def test_a_device_without_interrupts(tmp_path: Path) -> None:
    """Devices of a hypervisor, virtual ones and such as are switched off have none."""
    root = str(tmp_path / "sys/devices")
    add_device(tmp_path, "eth0", "LNXSYSTM:00/VMBUS:00/guid")
    assert interrupt_numbers(f"{root}/LNXSYSTM:00/VMBUS:00/guid", root) == []
    assert interrupt_numbers("", root) == []
    write(tmp_path / f"sys/devices/{FUNCTION}/irq", "0\n")
    add_vectors(tmp_path, {24: "pcieport"}, str(Path(FUNCTION).parent))
    assert interrupt_numbers(f"{root}/{FUNCTION}", root) == []


def test_a_card_on_usb_is_not_the_controller(tmp_path: Path) -> None:
    """The interrupts of the controller serve everything that hangs on it."""
    place = f"{FUNCTION}/usb1/1-1/1-1:1.0"
    add_device(tmp_path, "usb0", place)
    add_vectors(tmp_path, {30: "xhci_hcd"})
    bus = tmp_path / "sys/bus/usb"
    bus.mkdir(parents=True)
    (tmp_path / f"sys/devices/{place}/subsystem").symlink_to(bus)
    assert found(tmp_path) == {}


def test_the_nameless_one_is_of_the_link(tmp_path: Path) -> None:
    """Beside interrupts of queues, the one that is called like the device serves the link."""
    add_device(tmp_path, "eth0", FUNCTION)
    add_vectors(tmp_path, {50: "eth0-TxRx-0", 51: "eth0-TxRx-1", 52: "eth0"})
    assert found(tmp_path) == {
        "50": ("combined", "0", ""),
        "51": ("combined", "1", ""),
        "52": ("other", "", ""),
    }


def test_one_interrupt_serves_all(tmp_path: Path) -> None:
    """A card with one interrupt, called like the device, has it for its one queue."""
    add_device(tmp_path, "enp1s0", FUNCTION)
    add_vectors(tmp_path, {50: "enp1s0"})
    assert found(tmp_path) == {"50": ("combined", "0", "")}


def test_an_interrupt_of_two_queues(tmp_path: Path) -> None:
    """Names that share an interrupt are joined by commas (F12)."""
    add_device(tmp_path, "eth0", FUNCTION)
    add_vectors(tmp_path, {24: "eth0-rx-0, eth0-tx-0", 25: "eth0-rx-1", 26: ""})
    assert found(tmp_path) == {"24": ("combined", "0", ""), "25": ("rx", "1", "")}


def test_names_of_old_kernels(tmp_path: Path) -> None:
    """Without /sys/kernel/irq, names are directories in /proc/irq."""
    add_device(tmp_path, "eth0", FUNCTION)
    for number in (60, 61):
        write(tmp_path / f"sys/devices/{FUNCTION}/msi_irqs/{number}", "msix\n")
        (tmp_path / f"proc/irq/{number}/eth0-TxRx-{number - 60}").mkdir(parents=True)
        write(tmp_path / f"proc/irq/{number}/smp_affinity", "3\n")
    assert found(tmp_path) == {"60": ("combined", "0", ""), "61": ("combined", "1", "")}


def test_interrupts_come_and_go(tmp_path: Path) -> None:
    """Interrupts that a driver takes on are found at once, and those that it gives back gone."""
    add_device(tmp_path, "eth0", FUNCTION)
    add_vectors(tmp_path, {50: "eth0-TxRx-0"})
    (device,) = Devices(settings(tmp_path))()
    vectors = Vectors(settings(tmp_path))
    assert vectors(device) == [Vector("50", "combined", "0")]
    add_vectors(tmp_path, {51: "eth0-TxRx-1"})
    assert [vector.irq for vector in vectors(device)] == ["50", "51"]
    (tmp_path / f"sys/devices/{FUNCTION}/msi_irqs/50").unlink()
    assert [vector.irq for vector in vectors(device)] == ["51"]
