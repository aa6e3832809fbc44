"""The summary says what happened, in numbers that can be read."""

import pytest

from exporter.watch.report import number, summary
from exporter.watch.rows import Event, Row
from exporter.watch.statistics import Accounts
from tests.watch.made_up import row


def summed_up(*rows: Row) -> str:
    """Return the summary of some rows."""
    return "\n".join(summary(Accounts(rows).runs()))


def test_a_summary() -> None:
    """Each server has its course and its figures."""
    assert (
        summed_up(
            row(
                commands_per_second=12345.6,
                hit_ratio=0.987,
                gets_per_second=5.0,
                ping_p99_seconds=0.002,
            ),
            row(commands_per_second=1000.0, ping_p99_seconds=0.0001),
            row(server="/run/mc.sock", up=False, event=Event.DOWN),
        )
        == """
10.0.0.1:11211: 2 intervals
                                                mean             p95           worst
  commands_per_second                          6,673           1,000           1,000
  gets_per_second                               5.00            5.00            5.00
  hit_ratio                                 0.987000        0.987000        0.987000
  ping_p99_seconds                          0.001050        0.002000        0.002000

/run/mc.sock: never answered (refused)

p95: 95 % of the intervals were at least as good"""
    )


def test_trouble_on_the_way_is_told() -> None:
    """Gaps with the last reason, and counters that began anew."""
    told = summed_up(row(), row(up=False), row(event=Event.RESTART), row(up=False))
    assert (
        told == "\n10.0.0.1:11211: 4 intervals, down in 2 (last: refused), counters began anew: 1"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.000123, "0.000123"),
        (0.5, "0.500000"),
        (1.0, "1.00"),
        (99.994, "99.99"),
        (100.4, "100"),
        (1234567.0, "1,234,567"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    """They have the digits that say something."""
    assert number(value) == text
