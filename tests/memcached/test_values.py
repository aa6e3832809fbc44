"""Texts of values become numbers in base units, exactly, or nothing."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.catalogue.row import Kind, Row, Scale
from exporter.memcached.values import convert


def row(scale: Scale, *, signed: bool = False) -> Row:
    """Return a row of that scale."""
    return Row(key="k", name="n", kind=Kind.GAUGE, help="h.", scale=scale, signed=signed)


CASES = {
    Scale.PLAIN: [
        ("0", "0"),
        ("1", "1"),
        ("007", "007"),
        ("1000", "1000"),
        ("1.25", "1.25"),
        ("0.010", "0.010"),
        ("1e3", "1e3"),
        ("9007199254740993", "9007199254740993"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", None),
        ("18446744073709551615", None),
        ("18446744073709551610", None),
        ("99999999999999999999", None),
        ("100000000000000000000000", None),
        ("9.3e18", None),
        ("1e99", None),
        ("-1", None),
        ("-0.5", None),
        ("+1", None),
        ("", None),
        (" ", None),
        ("1 ", None),
        (" 1", None),
        ("1\n", None),
        ("1 2", None),
        ("1,5", None),
        ("1_000", None),
        ("0x10", None),
        ("1.", None),
        (".5", None),
        ("1e", None),
        ("1e400", None),
        ("inf", None),
        ("-inf", None),
        ("nan", None),
        ("NaN", None),
        ("Infinity", None),
        ("(null)", None),
        ("yes", None),
        ("\u00b2", None),
        ("\u0661", None),
    ],
    Scale.BOOLEAN: [
        ("yes", "1"),
        ("on", "1"),
        ("1", "1"),
        ("no", "0"),
        ("off", "0"),
        ("0", "0"),
        ("2", None),
        ("YES", None),
        ("true", None),
        ("", None),
        ("-1", None),
    ],
    Scale.MICROSECONDS: [
        ("0", "0.000000"),
        ("1", "0.000001"),
        ("100", "0.000100"),
        ("1500000", "1.500000"),
        ("1796081813492155", "1796081813.492155"),
        ("18446744073709551615", None),
        ("-1", None),
        ("1:5", None),
    ],
    Scale.PERCENT: [
        ("0", "0.00"),
        ("20", "0.20"),
        ("100", "1.00"),
        ("99.97", "0.9997"),
        ("-1", None),
        ("50%", None),
    ],
    Scale.KIBIBYTES: [
        ("0", "0"),
        ("1", "1024"),
        ("2.5", "2560.0"),
        ("-1", None),
    ],
    Scale.CPU_TIME: [
        ("0.000000", "0.000000"),
        ("1.500000", "1.500000"),
        ("2.000005", "2.000005"),
        ("2:000005", "2.000005"),
        ("2:5", "2.000005"),
        ("2:500000", "2.500000"),
        ("32:000000", "32.000000"),
        ("5059.684543", "5059.684543"),
        ("5", None),
        ("2:1234567", None),
        ("2.", None),
        (":5", None),
        ("-1.5", None),
        ("2:-5", None),
        ("1.5e3", None),
        ("32u:32u", None),
        ("inf", None),
        ("", None),
    ],
}


@pytest.mark.parametrize(
    ("scale", "text", "right"),
    [(scale, text, right) for scale, cases in CASES.items() for text, right in cases],
)
def test_a_text_is_a_number_in_base_units_or_nothing(
    scale: Scale, text: str, right: str | None
) -> None:
    """Each scale takes its own kind of text, and drops what is out of bounds or odd."""
    assert convert(row(scale), text) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("-1", "-1"),
        ("-9223372036854775807", "-9223372036854775807"),
        ("-9223372036854775808", None),
        ("18446744073709551615", None),
        ("5", "5"),
    ],
)
def test_a_signed_value_may_be_below_zero(text: str, right: str | None) -> None:
    """Only rows that are signed take negative values."""
    assert convert(row(Scale.PLAIN, signed=True), text) == right


@given(number=st.integers(min_value=1, max_value=2**63))
def test_a_counter_that_went_below_zero_is_dropped(number: int) -> None:
    """2^64 - n, which is how an unsigned counter shows -n, is no number for any scale."""
    for scale in (Scale.PLAIN, Scale.MICROSECONDS, Scale.PERCENT, Scale.KIBIBYTES):
        assert convert(row(scale), str(2**64 - number)) is None


@given(number=st.integers(min_value=0, max_value=2**63 - 1))
def test_integers_are_exact(number: int) -> None:
    """Every unsigned number below 2^63 comes out as it is, or exactly scaled."""
    text = str(number)
    assert convert(row(Scale.PLAIN), text) == text
    for scale, factor in (
        (Scale.MICROSECONDS, Fraction(1, 10**6)),
        (Scale.PERCENT, Fraction(1, 100)),
        (Scale.KIBIBYTES, Fraction(1024)),
    ):
        scaled = convert(row(scale), text)
        assert scaled is not None
        assert Fraction(scaled) == number * factor


@given(seconds=st.integers(0, 10**12), micros=st.integers(0, 999_999))
def test_cpu_time_is_exact(seconds: int, micros: int) -> None:
    """Both forms of a CPU time mean the same seconds."""
    for text in (f"{seconds}.{micros:06}", f"{seconds}:{micros:06}", f"{seconds}:{micros}"):
        assert convert(row(Scale.CPU_TIME), text) == f"{seconds}.{micros:06}"


@given(
    text=st.one_of(
        st.text(max_size=30),
        st.from_regex(r"[-+]?[0-9.:eE]{1,30}", fullmatch=True),
        st.floats().map(repr),
    ),
    scale=st.sampled_from([scale for scale in Scale if scale is not Scale.TEXT]),
    signed=st.booleans(),
)
def test_whatever_comes_is_finite_or_nothing(text: str, scale: Scale, signed: bool) -> None:
    """No text raises, and none becomes infinite, not a number, or negative where that is wrong."""
    converted = convert(row(scale, signed=signed), text)
    if converted is not None:
        assert math.isfinite(float(converted))
        assert signed or float(converted) >= 0
        assert "\n" not in converted
        assert converted == converted.strip()
