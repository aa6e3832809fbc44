"""Durations as Go and Prometheus write them."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.durations import PATTERN, REMEDY, parse_duration

GOOD = {
    "1s": 1,
    "0s": 0,
    "500ms": 0.5,
    "250us": 0.00025,
    "1.5s": 1.5,
    "0.25m": 15,
    "1m30s": 90,
    "1h": 3600,
    "1h2m3s4ms": 3723.004,
    "007s": 7,
}

BAD = [
    "",
    " ",
    "1",
    "5",
    "s",
    "1 s",
    " 1s",
    "1s ",
    "1s\n",
    "\n1s",
    "-1s",
    "+1s",
    "1S",
    ".5s",
    "1.s",
    "1e3s",
    "1d",
    "1w",
    "1s1",
    "1,5s",
    "inf",
    "nan",
    "infs",
    "\u0661s",
    "1µs",
    "1ss",
    "1m 30s",
]


@pytest.mark.parametrize(("text", "seconds"), GOOD.items())
def test_a_good_duration_is_so_many_seconds(text: str, seconds: float) -> None:
    """Units add up to seconds."""
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", BAD)
def test_a_bad_duration_names_the_remedy(text: str) -> None:
    """What is no duration is refused, with what to write instead."""
    with pytest.raises(ValueError, match=re.escape(REMEDY)):
        parse_duration(text)


@settings(deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="0123456789.msuh \n", max_size=30)))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    """Whatever is accepted is a number from 0 that the pattern of the schema accepts too."""
    try:
        seconds = parse_duration(text)
    except ValueError:
        return
    assert seconds >= 0
    assert not math.isnan(seconds)
    assert re.search(PATTERN, text)
