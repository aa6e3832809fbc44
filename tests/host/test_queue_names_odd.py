"""Names of counters that are unlike all others: rows below rows, brackets and blanks."""

import pytest

from tests.host.queue_tables import Counts, Table, counted, dropped


def vmxnet3(queue: int, base: int) -> tuple[Table, Table]:
    """Return the rows of a sending and of a receiving queue, as vmxnet3 writes them."""
    sending = [
        ("Tx Queue#", queue),
        ("  TSO pkts tx", 901),
        ("  ucast pkts tx", base + 1),
        ("  ucast bytes tx", base + 2),
        ("  mcast pkts tx", 10),
        ("  bcast pkts tx", 100),
        ("  pkts tx discard", base + 3),
        ("  drv dropped tx total", 10),
        ("     too many frags", 902),
        ("  ring full", 903),
    ]
    receiving = [
        ("Rx Queue#", queue),
        ("  LRO pkts rx", 904),
        ("  ucast pkts rx", base + 4),
        ("  ucast bytes rx", base + 5),
        ("  mcast bytes rx", 10),
        ("  pkts rx OOB", base + 6),
        ("  pkts rx err", 905),
        ("  drv dropped rx total", 10),
        ("     err", 906),
    ]
    return sending, receiving


def test_vmxnet3() -> None:
    """Rows with the same names below each queue are told apart by their position (F04)."""
    pairs = [vmxnet3(queue, 1000 * queue) for queue in range(3)]
    table = [row for pair in pairs for row in pair[0]] + [row for pair in pairs for row in pair[1]]
    expected: Counts = {}
    for queue in range(3):
        number, base = str(queue), 1000 * queue
        expected |= {
            ("packets", "tx", number): base + 111,
            ("bytes", "tx", number): base + 2,
            ("drops", "tx", number): base + 13,
            ("packets", "rx", number): base + 4,
            ("bytes", "rx", number): base + 15,
            ("drops", "rx", number): base + 16,
        }
    assert counted("vmxnet3", [*table, ("tx timeout count", 8)]) == expected
    assert dropped([*table, ("tx timeout count", 8)]) == {"tx timeout count": 8}


@pytest.mark.parametrize("prefix", ["", "TC1 "])
def test_atlantic(prefix: str) -> None:
    """The driver atlantic has brackets, capitals and blanks (F04)."""
    table = [
        ("InPackets", 901),
        (f"{prefix}Queue[4] InPackets", 5),
        (f"{prefix}Queue[4] InJumboPackets", 902),
        (f"{prefix}Queue[4] AllocFails", 903),
        (f"{prefix}Queue[4] OutPackets", 6),
        ("PTP Queue[16] InPackets", 904),
        ("MACSec InCtlPackets", 905),
    ]
    assert counted("atlantic", table) == {("packets", "rx", "4"): 5, ("packets", "tx", "4"): 6}
