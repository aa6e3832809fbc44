"""Answers of drivers that this machine does not have: written by a made-up kernel."""

import collections
import ctypes
import errno
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.host.devices import Devices
from exporter.host.ethtool import Ethtool, statistic_names
from exporter.host.named_counters import NamedCounters
from exporter.host.netlink_queues import QueueCount, QueueStatistics
from exporter.host.nic import nic
from exporter.host.nic_drops import nic_drops
from exporter.host.nic_queues import nic_queues
from exporter.host.queue_names import _DROP_REASONS, queue_counters
from tests.host.nic_support import Values, add_device, of, settings, values, write

GET_ADDRESS = 0x8927
DRIVER, COALESCE, RINGS, STRINGS, STATISTICS, SET_SIZE, CHANNELS = 3, 14, 16, 27, 29, 55, 60

Kernel = Callable[[dict[int, bytes]], None]


def words(*numbers: int) -> bytes:
    """Return 32-bit numbers as the kernel writes them."""
    return struct.pack(f"={len(numbers)}I", *numbers)


def driver(name: str) -> bytes:
    """Return the answer of a driver of that name."""
    texts = [name, "5.15", "22.31 (MT\n1)", "0000:3b:00.0"]
    return words(DRIVER) + b"".join(text.encode().ljust(32, b"\0") for text in texts)


def statistics(table: dict[str, int]) -> dict[int, bytes]:
    """Return the answers about counters."""
    texts = b"".join(name.encode().ljust(32, b"\0") for name in table)
    count = len(table)
    return {
        SET_SIZE: struct.pack("=IIQI", SET_SIZE, 0, 2, count),
        STRINGS: words(STRINGS, 1, count) + texts,
        STATISTICS: words(STATISTICS, count) + struct.pack(f"={count}Q", *table.values()),
    }


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    """Let every device give these answers by question; the only device is ``lo``, as a card."""
    place = add_device(tmp_path, "lo", "pci/a")
    for name in ("ifindex", "address"):
        shutil.copy(f"/sys/class/net/lo/{name}", place / name)

    def give(answers: dict[int, bytes]) -> None:
        def ioctl(_: object, request: int, argument: bytes) -> bytes:
            if request == GET_ADDRESS:
                return bytes(40)
            memory = struct.unpack("16sP16x", argument)[1]
            (question,) = struct.unpack("=I", ctypes.string_at(memory, 4))
            if question not in answers:
                raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
            ctypes.memmove(memory, answers[question], len(answers[question]))
            return argument

        monkeypatch.setattr("fcntl.ioctl", ioctl)

    return give


def test_all_that_a_driver_tells(kernel: Kernel, tmp_path: Path) -> None:
    """Each number of an answer gets to its own series, times in seconds."""
    coalescing = [COALESCE, *range(1, 23)]
    coalescing[1], coalescing[2], coalescing[5], coalescing[6] = 50, 64, 100, 32
    coalescing[10], coalescing[11] = 1, 0
    kernel(
        {
            DRIVER: driver("mlx5_core"),
            CHANNELS: words(CHANNELS, 3, 5, 2, 63, 1, 4, 2, 16),
            RINGS: words(RINGS, 8192, 901, 902, 4096, 1024, 903, 904, 512),
            COALESCE: words(*coalescing),
        }
    )
    write(tmp_path / "sys/devices/pci/numa_node", "1\n")
    assert values(nic(settings(tmp_path))) == {
        ("info", ("lo", "mlx5_core", "5.15", "22.31 (MT\n1)", "0000:3b:00.0", "1")): 1,
        ("channels", ("lo", "rx")): 1,
        ("channels", ("lo", "tx")): 4,
        ("channels", ("lo", "other")): 2,
        ("channels", ("lo", "combined")): 16,
        ("channels_max", ("lo", "rx")): 3,
        ("channels_max", ("lo", "tx")): 5,
        ("channels_max", ("lo", "other")): 2,
        ("channels_max", ("lo", "combined")): 63,
        ("ring_entries", ("lo", "rx")): 1024,
        ("ring_entries", ("lo", "tx")): 512,
        ("ring_entries_max", ("lo", "rx")): 8192,
        ("ring_entries_max", ("lo", "tx")): 4096,
        ("coalesce_seconds", ("lo", "rx")): 0.00005,
        ("coalesce_seconds", ("lo", "tx")): 0.0001,
        ("coalesce_frames", ("lo", "rx")): 64,
        ("coalesce_frames", ("lo", "tx")): 32,
        ("coalesce_adaptive", ("lo", "rx")): 1,
        ("coalesce_adaptive", ("lo", "tx")): 0,
        ("series_dropped", ()): 0,
    }


def test_what_a_device_does_not_have(kernel: Kernel, tmp_path: Path) -> None:
    """Kinds of queues and rings whose most is zero are left out."""
    kernel({CHANNELS: words(CHANNELS, *[0] * 8), RINGS: words(RINGS, *[0] * 8)})
    with pytest.raises(OSError, match="not supported"):
        list(nic(settings(tmp_path))())
    kernel({CHANNELS: words(CHANNELS, 0, 0, 0, 8, 0, 0, 0, 4), RINGS: words(RINGS, *[0] * 8)})
    assert values(nic(settings(tmp_path))) == {
        ("channels", ("lo", "combined")): 4,
        ("channels_max", ("lo", "combined")): 8,
        ("series_dropped", ()): 0,
    }


@pytest.mark.parametrize(("named", "counted"), [(3, 3), (2, 3), (3, 2), (4, 4), (3, 0)])
def test_counters_that_change_their_number(kernel: Kernel, named: int, counted: int) -> None:
    """Counters are taken only when names and values are as many as there were to begin with."""
    kernel(
        {
            SET_SIZE: statistics({"name0": 0, "name1": 1, "name2": 2})[SET_SIZE],
            STRINGS: statistics({f"name{number}": 0 for number in range(named)})[STRINGS],
            STATISTICS: statistics({f"name{number}": number for number in range(counted)})[
                STATISTICS
            ],
        }
    )
    with Ethtool() as asked:
        names, numbers = asked.statistics(b"lo")
    if named == counted == 3:
        assert statistic_names(names) == ["name0", "name1", "name2"]
        assert numbers == [0, 1, 2]
    else:
        assert (names, numbers) == (b"", [])


def queues(tmp_path: Path) -> Values:
    """Return what queues counted, without what was left out."""
    found = values(nic_queues(settings(tmp_path)))
    assert found.pop(("series_dropped", ())) == 0
    return found


def test_netlink_goes_first(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names fill in what netlink does not count, and never mix into what it does."""
    table = {"rx0_packets": 901, "rx1_packets": 902, "rx0_drops": 3, "tx0_packets": 4}
    kernel({DRIVER: driver("virtio_net"), **statistics(table)})
    counts = [QueueCount("packets", "rx", "0", 1), QueueCount("stops", "tx", "0", 2)]
    monkeypatch.setattr(QueueStatistics, "read", lambda *_: counts)
    assert queues(tmp_path) == {
        ("packets", ("lo", "rx", "0")): 1,
        ("stops", ("lo", "0")): 2,
        ("drops", ("lo", "rx", "0")): 3,
        ("packets", ("lo", "tx", "0")): 4,
    }


def test_without_netlink_names_tell(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that forbids netlink sockets still has the counters known by name."""

    def refuse(_: object) -> None:
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))

    monkeypatch.setattr(QueueStatistics, "__enter__", refuse)
    kernel({DRIVER: driver("i40e"), **statistics({"port.rx_dropped": 12028, "rx-0.packets": 5})})
    assert queues(tmp_path) == {("packets", ("lo", "rx", "0")): 5}
    write(tmp_path / "sys/class/net/lo/statistics/rx_missed_errors", "3\n")
    assert of(values(nic_drops(settings(tmp_path))), "drops") == {
        ("lo", "port.rx_dropped"): 12028,
        ("lo", "rx_missed_errors"): 3,
    }


def test_counters_of_a_namesake_are_not_mixed_in(kernel: Kernel, tmp_path: Path) -> None:
    """A device of that name here is not asked what one in another /sys has dropped (F13)."""
    kernel({DRIVER: driver("igb"), **statistics({"rx_no_buffer_count": 901})})
    write(tmp_path / "sys/class/net/lo/statistics/rx_missed_errors", "3\n")
    write(tmp_path / "sys/class/net/lo/ifindex", "77\n")
    assert values(nic_drops(settings(tmp_path))) == {("drops", ("lo", "rx_missed_errors")): 3}


def test_a_card_with_64_queues(kernel: Kernel, tmp_path: Path) -> None:
    """Of more than a thousand counters, those of queues and at most twelve drops remain (F07)."""
    fields = ["packets", "bytes", "drops", *(f"extra_{number}" for number in range(7))]
    table = {
        f"{way}_queue_{queue}_{field}": queue
        for way in ("rx", "tx")
        for queue in range(64)
        for field in fields
    }
    table |= {f"rx_odd_{number}": number for number in range(100)}
    table |= dict.fromkeys(_DROP_REASONS, 1)
    kernel({DRIVER: driver("igb"), **statistics(table)})
    assert len(table) > 1380
    assert len(queues(tmp_path)) == 2 * 64 * 3
    assert len(of(values(nic_drops(settings(tmp_path))), "drops")) == 12


def test_names_are_sorted_once(kernel: Kernel, tmp_path: Path) -> None:
    """Which counters matter is found out again only when names change, and forgotten in the end."""
    sortings: collections.Counter[str] = collections.Counter()

    def choose(name: str, names: list[str]) -> list[tuple[int, tuple[str, ...]]]:
        sortings[name] += 1
        return queue_counters(name, names)

    (device,) = Devices(settings(tmp_path))()
    named = NamedCounters(choose)
    with Ethtool() as asked:
        for value in (1, 2):
            kernel({DRIVER: driver("igb"), **statistics({"rx_queue_0_bytes": value})})
            assert named.read(asked, device) == {("bytes", "rx", "0"): value}
        assert sortings == {"igb": 1}
        kernel({DRIVER: driver("igb"), **statistics({"x": 9, "rx_queue_0_bytes": 3})})
        assert named.read(asked, device) == {("bytes", "rx", "0"): 3}
        named.forget([device])
        named.read(asked, device)
        assert sortings == {"igb": 2}
        named.forget([])
        named.read(asked, device)
        assert sortings == {"igb": 3}
