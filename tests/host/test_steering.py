"""RPS and XPS: queues whose packets software spreads over CPUs."""

from pathlib import Path

import pytest

from exporter.host.steering import steering
from tests.host.nic_support import add_device, namespace, settings, values, write


def test_masks_are_counted(tmp_path: Path) -> None:
    """A queue counts when any CPU is set, in whichever word of the mask."""
    place = add_device(tmp_path, "eth0", "pci/a") / "queues"
    masks = ["00000000,00000000", "00000001,00000000", "00000000,0000000f", "0"]
    for number, mask in enumerate(masks):
        write(place / f"rx-{number}/rps_cpus", f"{mask}\n")
        write(place / f"tx-{number}/xps_cpus", "0\n")
    write(place / "rx-0/xps_cpus", "f\n")
    found = values(steering(settings(tmp_path)))
    assert found == {("rps_queues", ("eth0",)): 2, ("xps_queues", ("eth0",)): 0}


def test_other_devices_are_read_when_one_fails(tmp_path: Path) -> None:
    """A device without queues, and one without XPS, do not stop the next (F18)."""
    add_device(tmp_path, "eth0", "pci/a")
    write(add_device(tmp_path, "eth1", "pci/b") / "queues/rx-0/rps_cpus", "3\n")
    assert values(steering(settings(tmp_path))) == {("rps_queues", ("eth1",)): 1}


def test_no_device_at_all(tmp_path: Path) -> None:
    """A host without a network device does not have the source."""
    (tmp_path / "sys/class/net").mkdir(parents=True)
    with pytest.raises(OSError, match="Nothing"):
        list(steering(settings(tmp_path))())


def test_a_real_device(tmp_path: Path) -> None:
    """What is written to the kernel's files is what is read; one queue has no XPS."""
    with namespace(tmp_path) as made:
        for name, queues in (("va", "4"), ("vb", "1")):
            made.ip(
                *("link", "add", name, "numrxqueues", queues, "numtxqueues", queues),
                *("type", "veth", "peer", "name", f"{name}p"),
            )
        for file in ("rx-1/rps_cpus", "rx-3/rps_cpus", "tx-2/xps_cpus"):
            made.run("sh", "-c", f"echo 1 > /sys/class/net/va/queues/{file}")
        answer = made.reader("va|vb").read("steering")
        assert answer.success is True
        assert answer.values == {
            ("rps_queues", ("va",)): 2,
            ("xps_queues", ("va",)): 1,
            ("rps_queues", ("vb",)): 0,
        }
