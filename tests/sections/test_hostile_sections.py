"""Whatever a server sends, the summed sections never raise and never grow without bound."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.exposition import Format
from exporter.memcached.aggregation import Limits
from exporter.memcached.translation import Result
from tests.memcached.support import parsed, render
from tests.sections.support import translate

SUMMED = ("conns", "extstore", "sizes", "detail")
NAMED = ("proxy", "proxyfuncs", "proxybe")
MOST_SERIES = 4096
"""33 listeners, 16 states and 7 spans of idleness make 3,696; all else is far less."""

_NUMBERS = st.one_of(
    st.integers(-5, 2**70).map(str),
    st.sampled_from(["", "-1", "1e9", "1.5", "NaN", "²", "٣", "9" * 4301, "0" * 4301, " 5"]),
)
_WORDS = st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=12)
_ADDRESSES = st.one_of(
    st.sampled_from(
        ["tcp:10.0.0.1:5", "tcp6:[::1]:9", "unix:/a", "?:<AF 0>", "<null>", "udp:", ""]
    ),
    st.integers(0, 255).map(lambda number: f"tcp:10.0.0.{number}:1"),
    _WORDS,
)
_CONNS = st.one_of(
    st.builds("STAT {}:addr {}".format, st.integers(0, 99), _ADDRESSES),
    st.builds("STAT {}:listen_addr {}".format, st.integers(0, 99), _ADDRESSES),
    st.builds("STAT {}:state conn_{}".format, st.integers(0, 99), _WORDS),
    st.builds(
        "STAT {}:{} {}".format,
        st.integers(0, 99),
        st.sampled_from(["secs_since_last_cmd", "resps_waiting", "queues_waiting", "UDP"]),
        _NUMBERS,
    ),
)
_PAGES = st.builds(
    "STAT {}:{} {}".format,
    st.integers(0, 99),
    st.sampled_from(["version", "bytes", "bucket", "free_bucket"]),
    _NUMBERS,
)
_SIZES = st.builds("STAT {} {}".format, _NUMBERS, _NUMBERS)
_PREFIXES = st.builds(
    "PREFIX {} get {} hit {} set {} del {}".format, _WORDS, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS
)
_NAMES = st.builds(
    "STAT {}{} {}".format,
    st.sampled_from(["user_", "funcs_", "bad_", "cmd_", ""]),
    _WORDS,
    _NUMBERS,
)
_NOISE = st.text(
    st.one_of(st.characters(codec="latin-1"), st.sampled_from(string.printable)), max_size=40
)
_LINES = {
    "conns": _CONNS,
    "extstore": _PAGES,
    "sizes": _SIZES,
    "detail": _PREFIXES,
    "proxy": _NAMES,
    "proxyfuncs": _NAMES,
    "proxybe": _NAMES,
}
_REPLIES = st.fixed_dictionaries(
    {
        section: st.lists(st.one_of(lines, lines, lines, _NOISE), max_size=30)
        for section, lines in _LINES.items()
    }
)


def replies(lines: dict[str, list[str]]) -> dict[str, bytes]:
    """Return raw replies; each begins with a line that a server can send, or it is none."""
    first = {"detail": "PREFIX a get 1 hit 1 set 1 del 1"}
    return {
        section: "".join(
            f"{line}\r\n" for line in (first.get(section, "STAT x 1"), *given_lines, "END")
        ).encode("latin-1", "replace")
        for section, given_lines in lines.items()
        if not any("END" in line or "ERROR" in line for line in given_lines)
    }


def series(result: Result) -> int:
    """Return how many samples there are."""
    return sum(len(samples) for samples in result.samples)


@settings(max_examples=150, deadline=None)
@given(_REPLIES, st.integers(0, 100), st.integers(1, 1000))
def test_no_reply_fails_a_scrape(
    lines: dict[str, list[str]], top_clients: int, max_prefixes: int
) -> None:
    """Any lines give a page that both parsers read, with the same samples."""
    limits = Limits(top_clients=top_clients, max_prefixes=max_prefixes)
    result = translate(replies(lines), limits)
    text = parsed(render(result, Format.TEXT), Format.TEXT)
    openmetrics = parsed(render(result, Format.OPENMETRICS), Format.OPENMETRICS)
    assert openmetrics == {key: float(number) for key, number in text.items()}
    assert all(-(2**63) < number < 2**63 for number in text.values())


@settings(max_examples=60, deadline=None)
@given(st.lists(_PREFIXES, max_size=40), st.lists(_PREFIXES, max_size=40), st.integers(1, 5))
def test_kept_prefixes_are_bounded(first: list[str], second: list[str], most: int) -> None:
    """Whatever comes and goes, there are never more prefixes than wanted, and the rest."""
    limits = Limits(max_prefixes=most)
    for lines in (first, second, first):
        result = translate(replies({"detail": lines}), limits)
        prefixes = [s for s in result.samples if any("memcached_prefix" in key for key in s)]
        assert all(len(samples) <= most + 1 for samples in prefixes)
        assert len(limits.kept_prefixes) <= most


@pytest.mark.parametrize(
    "line",
    [
        "STAT {0}:addr tcp:10.{0}.0.1:5\r\nSTAT {0}:state conn_{0}",
        "STAT {0}:addr tcp:10.0.0.1:5\r\nSTAT {0}:listen_addr tcp:10.0.0.1:{0}",
        "STAT {0}:addr tcp:10.0.0.1:5\r\nSTAT {0}:secs_since_last_cmd {0}",
        "STAT {0}:addr kind{0}:5",
        "STAT {0}:version 1\r\nSTAT {0}:bucket {0}\r\nSTAT {0}:bytes 1",
        "STAT {0} 1",
        "PREFIX p{0} get 1 hit 1 set 1 del 1",
        "STAT user_{0} 1",
        "STAT funcs_{0} 1",
        "STAT bad_{0} 1",
    ],
    ids=lambda line: line.split(" ")[1],
)
def test_series_are_bounded(line: str) -> None:
    """Twenty thousand different lines make a bounded number of series."""
    text = "".join(f"{line.format(number)}\r\n" for number in range(20_000)) + "END\r\n"
    limits = Limits(top_clients=100, max_prefixes=1000)
    for section in ("detail",) if line.startswith("PREFIX") else (*SUMMED[:-1], *NAMED):
        assert series(translate({section: text.encode()}, limits)) <= MOST_SERIES + 120
