"""What is printed, for people, programs and monitoring plugins."""

import json
import os
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest

from exporter.check.nagios import nagios
from exporter.check.report import Report, Status
from exporter.check.text import text
from exporter.health.figures import Levels
from exporter.health.findings.shape import Severity
from tests.check.runs import DOWN, FULL, TROUBLED, WELL, changed, whole

GOLDEN = Path(__file__).parents[1] / "golden" / "check"
ALL = whole(DOWN, TROUBLED, WELL)
_ITEM = re.compile(
    r"'((?:[^'=]|'')+)'=(-?[0-9.]+(?:e[+-]?[0-9]+)?)(s|%|B|c)?"
    r";([^; ]*);([^; ]*);([^; ]*)(?:;([^; ]*))?"
)


def performance(line: str) -> dict[str, tuple[float, str, str, str, str, str]]:
    """Read performance data as the guidelines for monitoring plugins say it; all must be read."""
    data = line.partition(" | ")[2]
    found = list(_ITEM.finditer(data))
    assert " ".join(one[0] for one in found) == data
    assert len({one[1] for one in found}) == len(found)
    return {
        one[1]: (float(one[2]), one[3] or "", one[4], one[5], one[6], one[7] or "") for one in found
    }


@pytest.mark.parametrize("name", ["all.txt", "all.nagios"])
def test_golden_outputs(name: str) -> None:
    """Word for word what was looked at and kept; REGENERATE_GOLDEN=1 writes it anew."""
    told = text(ALL, "alerts/runbooks") if name.endswith("txt") else nagios(ALL)
    path = GOLDEN / name
    if os.environ.get("REGENERATE_GOLDEN"):
        path.write_text(told)
    assert told == path.read_text()


def test_text_fits_a_terminal() -> None:
    """No line is wider than 80 columns, and none ends in blanks."""
    for line in text(ALL, "alerts/runbooks").splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (whole(WELL), "OK: servers: 0 critical, 0 warning, 1 ok"),
        (ALL, "CRITICAL: servers: 1 critical, 1 warning, 1 ok"),
        (whole(WELL, unread=("dns:A:x",)), "UNKNOWN: servers: 0 critical, 0 warning, 1 ok"),
        (whole(), "UNKNOWN: servers: 0 critical, 0 warning, 0 ok"),
        (
            whole(WELL, ignore=("udp_on", "memory_high")),
            "OK: servers: 0 critical, 0 warning, 1 ok; ignored: memory_high, udp_on",
        ),
    ],
)
def test_the_last_line_is_the_whole(report: Report, expected: str) -> None:
    """The worst of all decides; when servers may be missing, nobody knows that all is well."""
    assert text(report, "").splitlines()[-1] == expected


def test_a_restart_is_told() -> None:
    """There are no rates over it."""
    shown = text(whole(changed(restarted=True, rates=None)), "")
    assert "It was started anew, or its counters were reset, during the check." in shown
    assert re.search(r"^  hit rate +- +90 %$", shown, re.MULTILINE)


def test_a_server_that_was_down_before() -> None:
    """A warning, in words, also when nothing else is found; worse findings have the first line."""
    back = changed(status=Status.WARNING, missed="refused: connection refused", rates=None)
    assert "  WARNING   At the first look it was down: refused: connection refused" in text(
        whole(back), ""
    )
    told = "at the first look it was down, refused: connection refused"
    first, second = nagios(whole(back)).splitlines()
    assert first.startswith(f"MEMCACHED WARNING - cache1:11211: {told} |")
    assert second == f"cache1:11211: WARNING {told}"
    refusing = msgspec.structs.replace(FULL, severity=Severity.CRITICAL)
    worse = msgspec.structs.replace(back, status=Status.CRITICAL, findings=(refusing,))
    assert nagios(whole(worse)).startswith("MEMCACHED CRITICAL - cache1:11211: memory_high: ")


def test_texts_of_servers_are_harmless() -> None:
    """What a server says of itself cannot move the cursor, nor begin performance data."""
    levels = WELL.levels
    assert levels
    hostile = msgspec.structs.replace(levels, version="1\x1b[2J\n| 'x'=1")
    bad = changed(levels=hostile, status=Status.WARNING, findings=(FULL,))
    shown = text(whole(bad), "")
    assert "\x1b" not in shown
    assert "memcached 1\\x1b[2J\\n| 'x'=1" in shown
    odd = msgspec.structs.replace(FULL, seen="a | 'b'=2 \x1b[0m <b>")
    line = nagios(whole(changed(status=Status.WARNING, findings=(odd,)))).splitlines()[0]
    assert line.startswith("MEMCACHED WARNING - cache1:11211: memory_high: a / 'b'=2 \\x1b[0m (b)")
    assert line.count("|") == 1


def test_performance_data() -> None:
    """Value, unit, limits, least and most of each figure, as the guidelines say it."""
    data = performance(nagios(whole(WELL)).splitlines()[0])
    mib = 2**20
    assert data == {
        "connections": (100, "", "800", "950", "0", "1000"),
        "memory": (48 * mib, "B", str(64 * mib * 0.85), "", "0", str(64 * mib)),
        "commands": (120, "", "", "", "0", ""),
        "hit_rate": (97, "%", "80:", "", "0", "100"),
        "evictions": (0, "", "2.777777778", "", "0", ""),
        "latency_p50": (0.0002, "s", "", "0.01", "0", ""),
        "latency_p99": (0.0015, "s", "0.005", "", "0", ""),
        "uptime": (259_200, "s", "", "", "0", ""),
    }


def test_performance_data_of_several_servers() -> None:
    """Labels begin with the address; a quote in one is doubled, and none has an equals sign."""
    odd = changed(server="/run/it's=here.sock")
    data = performance(nagios(whole(WELL, odd)).splitlines()[0])
    assert "cache1:11211 connections" in data
    assert "/run/it''s_here.sock connections" in data
    assert len(data) == 16


def test_unknown_figures_are_left_out() -> None:
    """A server that tells nothing has no made-up zeroes."""
    empty = Levels(**dict.fromkeys(Levels.__struct_fields__, None) | {"version": ""})  # type: ignore[arg-type]
    silent = changed(levels=empty, rates=None, lifetime=None, pings=None)
    assert performance(nagios(whole(silent)).splitlines()[0]) == {}
    figures = text(whole(silent), "").splitlines()[2:6]
    assert all(re.fullmatch(r"  [a-z ]+ - +-", line) for line in figures)


MISSING = "sources of servers that cannot be read: dns:A:x"


def test_first_lines() -> None:
    """They tell the state, where, and what."""
    heads = [
        nagios(report).splitlines()[0].partition(" | ")[0]
        for report in (
            whole(WELL),
            whole(WELL, WELL),
            ALL,
            whole(changed(status=Status.WARNING, findings=(FULL,)), unread=("dns:A:x",)),
            whole(unread=("dns:A:x",)),
            whole(),
        )
    ]
    assert heads == [
        "MEMCACHED OK - cache1:11211 is well",
        "MEMCACHED OK - 2 servers are well",
        "MEMCACHED CRITICAL - cache2:11211: down, refused: connection refused (and 1 more server)",
        f"MEMCACHED WARNING - cache1:11211: memory_high: {FULL.seen}; {MISSING}",
        f"MEMCACHED UNKNOWN - {MISSING}",
        "MEMCACHED UNKNOWN - there is no server to check",
    ]


def test_exit_codes() -> None:
    """Those of monitoring plugins."""
    assert [status.exit_code for status in (Status.OK, Status.WARNING, Status.CRITICAL)] == [
        *(0, 1, 2)
    ]
    assert Status.UNKNOWN.exit_code == 3


def test_json_follows_its_schema() -> None:
    """The schema that the types give fits what is printed, and unknown is null."""
    document = json.loads(msgspec.json.encode(ALL))
    jsonschema.validate(document, msgspec.json.schema(Report))
    down, troubled, well = document["servers"]
    assert (down["levels"], down["reason"], down["remedy"]) == (
        None,
        "refused",
        "Nobody listens there.",
    )
    assert troubled["findings"][0]["name"] == "memory_high"
    assert well["rates"]["commands"] == {"get": 100.0, "set": 20.0, "touch": 0.0}
    assert well["lifetime"]["voluntary_switches"] is None
    assert document["thresholds"]["connections"] == {"warning": 0.8, "critical": 0.95}
