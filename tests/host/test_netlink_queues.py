"""Counters of queues from netlink: messages as the kernel writes them."""

import errno
import socket
import struct

import pytest

from exporter.host.netlink_queues import QueueCount, QueueStatistics, queue_counts

U32 = struct.Struct("=I").pack
U64 = struct.Struct("=Q").pack


def test_numbers_have_four_or_eight_bytes() -> None:
    """A receiving queue's counters are read whatever room the kernel gives them."""
    answer = {1: U32(2), 2: U32(0), 3: U32(7), 8: U32(5), 9: U64(2**40), 13: U32(3)}
    assert list(queue_counts(answer)) == [
        QueueCount("packets", "rx", "7", 5),
        QueueCount("bytes", "rx", "7", 2**40),
        QueueCount("drops", "rx", "7", 3),
    ]


def test_what_is_not_counted_is_absent() -> None:
    """A quantity that the driver does not count is left out rather than zero."""
    assert list(queue_counts({2: U32(1), 3: U32(0), 11: U32(9), 33: U32(4)})) == [
        QueueCount("bytes", "tx", "0", 9),
        QueueCount("stops", "tx", "0", 4),
    ]


@pytest.mark.parametrize(
    ("kind", "attributes", "drops"),
    [
        (0, {13: 5, 14: 2}, 5),
        (0, {14: 2}, 2),
        (1, {24: 5, 25: 2}, 5),
        (1, {25: 2}, 2),
    ],
)
def test_a_part_of_the_drops_is_not_added(
    kind: int, attributes: dict[int, int], drops: int
) -> None:
    """Overruns and errors are among all drops, and count only where those are not known."""
    answer = {2: U32(kind), 3: U32(0)} | {key: U32(value) for key, value in attributes.items()}
    assert [count.value for count in queue_counts(answer)] == [drops]


@pytest.mark.parametrize(
    "answer", [{}, {2: U32(0)}, {3: U32(0)}, {2: U32(2), 3: U32(0), 8: U32(1)}]
)
def test_other_answers_are_passed_over(answer: dict[int, bytes]) -> None:
    """Totals of a device and kinds of queues that are not known yet are no queue's counters."""
    assert list(queue_counts(answer)) == []


def test_the_kernel_says_what_it_does_not_have() -> None:
    """A device without such counters, and one that is not there, are told by the kernel's errno."""
    statistics = QueueStatistics()
    with statistics:
        with pytest.raises(OSError, match="netdev") as caught:
            statistics.read(socket.if_nametoindex("lo"))
        assert caught.value.errno in {errno.EOPNOTSUPP, errno.ENOENT}
        with pytest.raises(OSError, match="netdev") as caught:
            statistics.read(2**31 - 1)
        assert caught.value.errno in {errno.ENODEV, errno.ENOENT, errno.EOPNOTSUPP}
