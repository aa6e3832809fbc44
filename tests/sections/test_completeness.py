"""All that recorded servers send is exported or left out; what newer servers send is noticed."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from exporter.addresses import parse_address
from exporter.catalogue import SECTIONS
from exporter.catalogue.row import Section
from exporter.exposition import Format
from exporter.memcached import translation
from exporter.memcached.member import Member
from exporter.memcached.server import Server
from exporter.memcached.translation import Translator
from tests.memcached.oracle import pairs, split_key, wildcard
from tests.memcached.support import RECORDINGS, Samples, module, parsed, reading, render
from tests.processes import Exporter, sample
from tests.sections.support import ALL, COMMANDS, LABELS, WHOLE, body, replies, samples, translate
from tests.sections.wire import recorded_server

UNKNOWN = sample("memcached_exporter_unknown_stats")
MALFORMED = sample("memcached_exporter_malformed_values")
BELOW_ZERO = {
    "deb1618-misc/stats_after_reset_conns_closed",
    "new-misc/stats_after_reset_conns_closed",
}
"""The recordings in which a gauge has gone below zero after a reset."""
_FILE = re.compile(
    r"stats(?:_(settings|items|slabs|proxybe|proxyfuncs|proxy|conns|extstore|sizes|detail_dump))?"
    r"(?:_[a-z0-9_]+)?"
)
_STATE = {"stats_detail_on", "stats_detail_off", "stats_reset", "stats_sizes_enable"}


def files() -> Iterator[tuple[Path, str]]:
    """Return all recorded replies to the sections, at all moments, with the section's name."""
    for path in sorted(RECORDINGS.glob("*/stats*.txt")):
        found = _FILE.fullmatch(path.stem)
        if found and path.stem not in _STATE and path.read_bytes().startswith((b"STAT ", b"PREF")):
            section = (found[1] or "stats").removesuffix("_dump")
            yield path, section


FILES = [(path, section) for path, section in files() if "cachedump" not in path.stem]


def place(path: Path) -> str:
    """Return case and file of a recording."""
    return f"{path.parent.name}/{path.stem}"


def is_number(text: str) -> bool:
    """Return whether a value is a number."""
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def known(section: Section, key: str) -> bool:
    """Return whether a key is a row or an omission, by the catalogue alone."""
    slab, bare = split_key(section, key)
    if section.name in {"conns", "extstore"}:
        slab, bare = "", key.partition(":")[2]
    places = {(row.key, row.per_class) for row in section.rows}
    places |= {(omission.key, omission.per_class) for omission in section.omissions}
    return (bare, bool(slab)) in places or wildcard(section, key) is not None


@pytest.mark.parametrize(("path", "section"), FILES, ids=lambda x: place(x) if x != str(x) else "")
def test_every_number_is_exported_or_left_out(path: Path, section: str) -> None:
    """The share of numeric keys that the catalogue accounts for is 100 %, in every recording."""
    (table,) = (found for found in SECTIONS if found.name == section)
    numbers = [key for key, value in pairs(path.read_bytes()).items() if is_number(value)]
    accounted = [key for key in numbers if known(table, key)]
    assert accounted == numbers
    found = samples({section: path.read_bytes()})
    assert found[UNKNOWN] == 0
    assert found[MALFORMED] == (1 if place(path) in BELOW_ZERO else 0)
    assert found[sample("memcached_exporter_series_dropped")] == 0


def test_there_are_many_recordings() -> None:
    """Hundreds of replies, of all sections, are looked at."""
    assert len(FILES) > 200
    assert {section for _, section in FILES} == set(ALL)


@pytest.mark.parametrize("case", WHOLE)
def test_every_server_is_whole(case: str) -> None:
    """A scrape of all sections of a recorded server has nothing strange, and all sections."""
    given = replies(case)
    found = samples(given)
    assert (found[UNKNOWN], found[MALFORMED]) == (0, 0)
    success = {
        dict(labels)["section"]: number
        for (name, labels), number in found.items()
        if name == "memcached_scrape_section_success"
    }
    assert success == dict.fromkeys(given, 1)


SHORTENED = {
    "stats": {"curr_items", "get_hits", "uptime", "version"},
    "settings": {"verbosity", "hash_algorithm"},
    "slabs": {"chunk_size", "active_slabs"},
    "items": {"number", "hits_to_cold"},
    "proxy": {"user_*", "cmd_mg"},
    "proxyfuncs": {"funcs_*"},
    "proxybe": {"bad_*"},
}
"""Keys that an exporter of some years ago would not know, by section."""
GONE = {
    "memcached_current_items",
    "memcached_uptime_seconds",
    "memcached_start_time_seconds",
    "memcached_settings_verbosity",
    "memcached_slab_chunk_size_bytes",
    "memcached_active_slabs",
    "memcached_slab_current_items",
    "memcached_proxy_user_stats_total",
    "memcached_proxy_functions",
    "memcached_proxy_backend_bad_connections",
}
"""Metrics that only those keys give; of others a sample or a label is gone."""


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Translator]:
    """Make translators with a catalogue that lacks some rows."""
    shortened = tuple(
        msgspec.structs.replace(
            section,
            rows=tuple(
                row for row in section.rows if row.key not in SHORTENED.get(section.name, ())
            ),
        )
        for section in SECTIONS
    )
    monkeypatch.setattr(translation, "SECTIONS", shortened)
    return lambda open_ended: Translator(open_ended=open_ended)


def lost(given: dict[str, bytes]) -> int:
    """Return how many lines of some replies have a key that the shortened catalogue lacks."""
    count = 0
    for section in SECTIONS:
        for key in pairs(given.get(section.name, b"")):
            bare = split_key(section, key)[1]
            gone = SHORTENED.get(section.name, set())
            count += bare in gone or any(
                bare.startswith(start.rstrip("*")) for start in gone if start.endswith("*")
            )
    return count


def without(found: Samples) -> Samples:
    """Return the samples that a catalogue without those rows has, but for infos and the count."""
    gone = (*((("command", "get"), ("status", "hit")), (("lru", "cold"),), (("command", "mg"),)),)
    return {
        (name, labels): number
        for (name, labels), number in found.items()
        if name not in GONE
        and not any(set(pair) <= labels for pair in gone if "slab_comm" not in name)
        and not name.endswith("_info")
        and (name, labels) != UNKNOWN
    }


@pytest.mark.parametrize(
    "case", ["new-default", "new-evictions", "new-proxy", "new-misc", "new-tls_session_cache"]
)
def test_a_newer_server_is_noticed(case: str, old: Callable[[bool], Translator]) -> None:
    """Keys beyond the catalogue are counted, and every other sample is what it was."""
    given = replies(case)
    result = old(False).success(reading(given), 0.0025)
    text = parsed(render(result, Format.TEXT), Format.TEXT)
    assert text[UNKNOWN] == len(result.unknown) == lost(given) > 5
    assert text[MALFORMED] == 0
    assert without(text) == without(samples(given))
    assert not GONE & {name for name, _ in text}
    labelled = old(True).success(reading(given), 0.0025)
    openmetrics = parsed(render(labelled, Format.OPENMETRICS, LABELS), Format.OPENMETRICS)
    assert len(openmetrics) == len(text)


def test_infos_keep_the_labels_that_are_known(old: Callable[[bool], Translator]) -> None:
    """An info loses the text that is not known, and keeps the others."""
    result = old(False).success(reading(replies("new-default")), 0.0025)
    text = parsed(render(result, Format.TEXT), Format.TEXT)
    (version,) = (dict(labels) for name, labels in text if name == "memcached_version_info")
    (settings,) = (dict(labels) for name, labels in text if name == "memcached_settings_info")
    assert version == {"libevent": "2.1.12-stable", "pointer_size": "64"}
    assert "hash_algorithm" not in settings
    assert settings["binding_protocol"] == "auto-negotiate"


def test_unknown_keys_are_listed_once_at_debug(old: Callable[[bool], Translator]) -> None:
    """What is unknown is named in one line of the level debug, and in none of a higher one."""
    errors: list[str] = []
    with recorded_server("new-default") as server:
        how = module(sections=ALL)
        member = Member(Server(parse_address(server.address), how))
        translator = old(False)
        with capture_logs() as lines:
            for _ in range(3):
                outcome = member.read(5, translator, labelled=False, count_error=errors.append)
                assert outcome.error is None
        member.server.close()
    assert errors == []
    (unknown,) = (line for line in lines if line["event"] == "unknown statistics")
    assert unknown["log_level"] == "debug"
    assert {"curr_items", "uptime", "verbosity", "items:1:number"} <= set(unknown["keys"])
    assert {line["event"] for line in lines if line["log_level"] != "debug"} == {"server is up"}


@pytest.mark.parametrize(("level", "shown"), [("info", False), ("debug", True)])
def test_unknown_keys_in_the_log_of_the_daemon(
    exporter: Callable[..., Exporter], level: str, shown: bool
) -> None:
    """The daemon names them only at the level debug; the metric tells at all levels."""
    with recorded_server("new-default") as server:
        lines = server.replies["stats"].removesuffix(b"END\r\n")
        server.replies["stats"] = lines + b"STAT cache_wonders 7\r\nSTAT mood fine day\r\nEND\r\n"
        server.replies[COMMANDS["items"]] = b"STAT items:1:wonders 1\r\nEND\r\n"
        daemon = exporter(f"--memcached.address={server.address}", f"--log.level={level}")
        for _ in range(2):
            found = daemon.samples()
            assert found[sample("memcached_exporter_unknown_stats", server=server.address)] == 3
            assert found[sample("memcached_up", server=server.address)] == 1
    assert daemon.log.count("cache_wonders") == (1 if shown else 0)
    assert ("items:1:wonders" in daemon.log) is shown
    assert "level=warning" not in daemon.log


def test_new_keys_of_summed_sections_are_counted() -> None:
    """Keys that a newer server adds to connections and pages count as well, once per name."""
    conns = ["STAT 1:addr tcp:10.0.0.1:5", "STAT 1:mood 1", "STAT 2:addr unix:/a", "STAT 2:mood 1"]
    pages = ["STAT 0:version 1", "STAT 0:weight 9"]
    result = translate({"conns": body(*conns), "extstore": body(*pages)})
    assert sorted(result.unknown) == ["mood", "weight"]
