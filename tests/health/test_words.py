"""Numbers are written as people read them."""

import pytest

from exporter.health.words import amount, count, share, size, time, twice, visible


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.05, "0.05"),
        (0.001, "0.001"),
        (1.2e-5, "<0.001"),
        (12.34, "12.3"),
        (7.0, "7"),
        (123.4, "123"),
        (1234567, "1,234,567"),
    ],
)
def test_amounts(number: float, text: str) -> None:
    """Three digits tell enough, and whole numbers are whole."""
    assert amount(number) == text


@pytest.mark.parametrize(("ratio", "text"), [(0.83, "83 %"), (0.005, "0.5 %"), (1.138, "114 %")])
def test_shares(ratio: float, text: str) -> None:
    """Ratios are in per cent."""
    assert share(ratio) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(12, "12 B"), (1024, "1 KiB"), (64 * 2**20, "64 MiB"), (1.5 * 2**30, "1.5 GiB")],
)
def test_sizes(number: float, text: str) -> None:
    """Bytes are in binary units, as memcached's options are."""
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.00025, "0.25 ms"),
        (0.9, "900 ms"),
        (5, "5 s"),
        (119, "119 s"),
        (1800, "30 min"),
        (7200, "2 h"),
        (172_800, "2 d"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    """From milliseconds to days, none below two of the larger unit."""
    assert time(seconds) == text


def test_counts() -> None:
    """One is one, and all else is several."""
    told = [count(number, "item") for number in (0, 1, 2, 1.5, 1234)]
    assert told == ["0 items", "1 item", "2 items", "1.5 items", "1,234 items"]
    assert count(2, "process", "processes") == "2 processes"


def test_twice() -> None:
    """What is not known is left to the reader."""
    assert (twice(512.0), twice(None), twice(0.0)) == ("1024", "N", "N")


def test_texts_that_a_terminal_would_obey() -> None:
    """What is not printable is told by its number; all else stays as it is."""
    assert visible("ü\u202e a\nb\x1b[2J\udcff") == "ü\\u202e a\\nb\\x1b[2J\\udcff"
