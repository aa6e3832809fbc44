"""Counts of interrupts: from /sys, from /proc/interrupts, and where they go."""

from pathlib import Path

import pytest

from exporter.host.interrupts import interrupt_matrix, interrupt_table, interrupts
from tests.host.nic_support import REAL, Values, add_device, of, settings, values, write

FUNCTION = "pci0000:00/0000:02:00.0"
PAGE = 4096


class Card:
    """A tree of files with a card ``eth0`` and its interrupts, from number 100 on."""

    def __init__(self, host: Path, names: list[str], possible: str) -> None:
        self.host = host
        self.names = names
        add_device(host, "eth0", FUNCTION)
        write(host / "sys/devices/system/cpu/possible", f"{possible}\n")
        for number, name in enumerate(names, 100):
            write(host / f"sys/devices/{FUNCTION}/msi_irqs/{number}", "msix\n")
            write(host / f"sys/kernel/irq/{number}/actions", f"{name}\n")

    def count(self, vector: int, counts: list[int], *, cut: int = PAGE) -> None:
        """Let an interrupt have these counts, as much as fits into a page."""
        text = ",".join(map(str, counts)) + "\n"
        path = self.host / f"sys/kernel/irq/{100 + vector}/per_cpu_count"
        write(path, text[: cut - 1] if len(text) >= cut else text)

    def table(self, cpus: list[int], rows: list[list[int]], *, more: str = "") -> None:
        """Write /proc/interrupts with the columns of these CPUs."""
        head = "           " + "".join(f"CPU{cpu}".ljust(11) for cpu in cpus) + "\n"
        body = "".join(
            f"{number:4}: {' '.join(f'{count:10}' for count in row)}"
            f"  PCI-MSIX-0000:02:00.0  {number - 100}-edge      {name}\n"
            for number, (row, name) in enumerate(zip(rows, self.names, strict=True), 100)
        )
        write(self.host / "proc/interrupts", head + body + more)

    def read(self) -> Values:
        """Return what the collector brings."""
        return values(interrupts(settings(self.host)))


def test_queues_and_cpus(tmp_path: Path) -> None:
    """Each interrupt has its total, and each CPU that took any has its own."""
    card = Card(tmp_path, ["eth0-TxRx-0", "eth0-TxRx-1", "eth0"], "0-3")
    card.count(0, [5, 0, 7, 0])
    card.count(1, [0, 0, 20, 0])
    card.count(2, [0, 0, 0, 0])
    found = card.read()
    assert of(found, "interrupts") == {
        ("eth0", "combined", "0", ""): 12,
        ("eth0", "combined", "1", ""): 20,
        ("eth0", "other", "", ""): 0,
    }
    assert of(found, "cpu_interrupts") == {("eth0", "0"): 5, ("eth0", "2"): 27}
    assert of(found, "series_dropped") == {(): 0}
    assert of(values(interrupt_matrix(settings(tmp_path))), "cell") == {
        ("eth0", "combined", "0", "", "0"): 5,
        ("eth0", "combined", "0", "", "2"): 7,
        ("eth0", "combined", "1", "", "2"): 20,
    }


def test_numbers_of_cpus_with_gaps(tmp_path: Path) -> None:
    """Columns of /sys are the possible CPUs, which need not be numbered on end."""
    card = Card(tmp_path, ["eth0-TxRx-0"], "0-1,8-9")
    card.count(0, [1, 2, 3, 4])
    cpus = of(card.read(), "cpu_interrupts")
    assert cpus == {("eth0", "0"): 1, ("eth0", "1"): 2, ("eth0", "8"): 3, ("eth0", "9"): 4}


def test_256_cpus_and_64_queues(tmp_path: Path) -> None:
    """On a large machine there is a series a queue and one a CPU, not one for each pair (F07)."""
    card = Card(tmp_path, [f"eth0-TxRx-{queue}" for queue in range(64)], "0-255")
    for queue in range(64):
        card.count(queue, [queue + 1] * 256)
    found = card.read()
    assert len(found) == 64 + 256 + 1
    assert found["interrupts", ("eth0", "combined", "63", "")] == 64 * 256
    assert found["cpu_interrupts", ("eth0", "255")] == sum(range(1, 65))
    matrix = values(interrupt_matrix(settings(tmp_path)))
    assert len(of(matrix, "cell")) == 8192
    assert matrix["series_dropped", ()] == 64 * 256 - 8192


@pytest.mark.parametrize("digits", [9, 10])
def test_a_page_that_is_cut(tmp_path: Path, digits: int) -> None:
    """What does not fit into a page of /sys is read from /proc/interrupts instead."""
    card = Card(tmp_path, ["eth0-TxRx-0"], "0-511")
    counts = [10 ** (digits - 1) + cpu for cpu in range(512)]
    card.count(0, counts)
    card.table(list(range(512)), [counts])
    assert of(card.read(), "cpu_interrupts") == {
        ("eth0", str(cpu)): count for cpu, count in enumerate(counts)
    }


def test_a_last_number_that_is_cut(tmp_path: Path) -> None:
    """A page whose last number lost its end is not taken for whole, though none is missing."""
    card = Card(tmp_path, ["eth0-TxRx-0"], "0-3")
    card.count(0, [1000, 2000, 3000, 4567], cut=19)
    assert (tmp_path / "sys/kernel/irq/100/per_cpu_count").read_text() == "1000,2000,3000,456"
    card.table([0, 1, 2, 3], [[1000, 2000, 3000, 4567]])
    assert of(card.read(), "interrupts") == {("eth0", "combined", "0", ""): 10567}


def test_a_column_too_few(tmp_path: Path) -> None:
    """Counts of other CPUs than the machine could have are not given to the wrong ones."""
    card = Card(tmp_path, ["eth0-TxRx-0"], "0-3")
    card.count(0, [7, 8])
    card.table([0, 3], [[7, 8]])
    assert of(card.read(), "cpu_interrupts") == {("eth0", "0"): 7, ("eth0", "3"): 8}


def test_old_kernels_have_the_table_only(tmp_path: Path) -> None:
    """Without per_cpu_count the rows of /proc/interrupts are read, the last CPU too (F11)."""
    card = Card(tmp_path, ["eth0-rx-0", "eth0-tx-0"], "0-3")
    rows = [[1, 2, 3, 4], [0, 0, 0, 50]]
    card.table([0, 1, 2, 3], rows)
    found = card.read()
    assert of(found, "interrupts") == {
        ("eth0", "rx", "0", ""): sum(rows[0]),
        ("eth0", "tx", "0", ""): sum(rows[1]),
    }
    assert found["cpu_interrupts", ("eth0", "3")] == 54


def test_offline_cpus_have_no_column(tmp_path: Path) -> None:
    """Columns of /proc/interrupts are named by its head, and odd rows do no harm (F12)."""
    card = Card(tmp_path, ["eth0-rx-0, eth0-tx-0"], "0-3")
    more = (
        " 101:  9  9  GIC-0 29 Level arch_timer 7\n"
        " 102:\n"
        "  7x:  1  1\n"
        "NMI:          0          3   Non-maskable interrupts\n"
        "IPI0:        10         20   Rescheduling interrupts\n"
        "ERR:          5\n"
        "MIS:          0\n"
        "\n"
    )
    card.table([0, 2], [[1, 7]], more=more)
    found = card.read()
    assert of(found, "cpu_interrupts") == {("eth0", "0"): 1, ("eth0", "2"): 7}
    assert of(found, "interrupts") == {("eth0", "combined", "0", ""): 8}


def test_rows_of_the_table() -> None:
    """Only rows of devices are taken, as many numbers as there are CPUs, and no text (F12)."""
    table = interrupt_table(
        b"           CPU0       CPU2\n"
        b"  24:          1          7   PCI-MSI 524288-edge      eth0-rx-0\n"
        b"  25:          0          0   2 3\n"
        b"  26:          4\n"
        b"ERR:          5\n"
    )
    assert table == {
        "24": (("0", "2"), [1, 7]),
        "25": (("0", "2"), [0, 0]),
        "26": (("0",), [4]),
    }
    assert interrupt_table(b"") == {}


def test_affinity(tmp_path: Path) -> None:
    """CPUs are counted once each, for queues only; the effective ones where the kernel tells."""
    names = ["eth0-TxRx-0", "eth0-TxRx-1", "eth0-TxRx-2", "eth0-TxRx-3", "eth0"]
    card = Card(tmp_path, names, "0-15")
    for vector in range(5):
        card.count(vector, [0] * 16)
    files = {
        "100/effective_affinity_list": "3",
        "100/smp_affinity_list": "0-15",
        "101/effective_affinity_list": "3",
        "102/effective_affinity_list": "",
        "102/smp_affinity_list": "4-5,8",
        "103/smp_affinity_list": "rubbish",
        "104/effective_affinity_list": "15",
    }
    for name, content in files.items():
        write(tmp_path / "proc/irq" / name, f"{content}\n")
    assert of(card.read(), "interrupt_cpus") == {("eth0",): 4}


def test_series_are_limited(tmp_path: Path) -> None:
    """A device has 256 series of interrupts at most, and what is left out is counted (F07)."""
    card = Card(tmp_path, [f"eth0-TxRx-{queue}" for queue in range(300)], "0")
    for queue in range(300):
        card.count(queue, [1])
    found = card.read()
    assert len(of(found, "interrupts")) == 256
    assert found["series_dropped", ()] == 44
    assert found["cpu_interrupts", ("eth0", "0")] == 300


def test_series_of_a_device_end_with_it(tmp_path: Path) -> None:
    """A card that is unplugged leaves no series behind (F17)."""
    card = Card(tmp_path, ["eth0-TxRx-0"], "0")
    card.count(0, [1])
    read = interrupts(settings(tmp_path))
    assert ("interrupts", ("eth0", "combined", "0", "")) in values(read)
    (tmp_path / "sys/class/net/eth0").unlink()
    with pytest.raises(OSError, match="Nothing"):
        list(read())


def test_an_interrupt_that_goes_while_it_is_read(tmp_path: Path) -> None:
    """An interrupt without counts anywhere is left out, and the others are there."""
    card = Card(tmp_path, ["eth0-TxRx-0", "eth0-TxRx-1"], "0")
    card.count(0, [6])
    write(tmp_path / "proc/interrupts", "           CPU0\n  24:  1  other\n")
    assert of(card.read(), "interrupts") == {("eth0", "combined", "0", ""): 6}


def test_this_machine() -> None:
    """Counts of real interrupts lie between two readings of /proc/interrupts, row by row (F11)."""
    table = Path("/proc/interrupts")
    before = interrupt_table(table.read_bytes())
    try:
        found = of(values(interrupts(REAL)), "interrupts")
    except OSError:
        pytest.skip("no network device of this machine has interrupts")
    after = interrupt_table(table.read_bytes())
    rows = [(sum(numbers), sum(after[irq][1])) for irq, (_, numbers) in before.items()]
    assert found
    for (_, direction, *_), count in found.items():
        # Those that serve no queue are a sum of several.
        assert direction == "other" or any(first <= count <= last for first, last in rows)
