"""Replies become samples: recordings of real servers, and the odd lines that servers send."""

import pytest

from exporter.catalogue import FAMILIES
from exporter.exposition import Format
from exporter.memcached.translation import Translator
from tests.memcached.oracle import expected, pairs
from tests.memcached.support import (
    LABELS,
    SNAPSHOTS,
    Sample,
    Samples,
    Snapshot,
    parsed,
    reading,
    recorded,
    render,
    stats_reply,
    translate,
)
from tests.processes import sample

ODD = {
    # A `stats reset` makes this gauge fall below zero when connections close.
    name: ["STAT response_obj_count 18446744073709551615"]
    for name in ("deb1618-misc_after_reset_conns_closed", "new-misc_after_reset_conns_closed")
}
"""Recordings in which a value is no number of its kind, with the lines."""


def samples(replies: dict[str, bytes]) -> Samples:
    """Return the samples of raw replies, without those about the scrape itself."""
    found = parsed(render(translate(reading(replies)), Format.TEXT), Format.TEXT)
    return {key: number for key, number in found.items() if key not in about_the_scrape(replies)}


def about_the_scrape(replies: dict[str, bytes], malformed: int = 0, unknown: int = 0) -> Samples:
    """Return what a page says about a scrape that brought these replies."""
    success = {
        sample("memcached_scrape_section_success", section=section): 1.0
        for section, raw in replies.items()
        if not raw.startswith(b"ERROR")
    }
    return success | {
        sample("memcached_up"): 1,
        sample("memcached_scrape_duration_seconds"): 0.0025,
        sample("memcached_ping_seconds"): 0.000125,
        sample("memcached_exporter_unknown_stats"): unknown,
        sample("memcached_exporter_malformed_values"): malformed,
        sample("memcached_exporter_series_dropped"): 0,
    }


def labelled(found: Samples, labels: tuple[tuple[str, str], ...]) -> Samples:
    """Return the samples with labels added."""
    return {(name, own | frozenset(labels)): number for (name, own), number in found.items()}


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda snapshot: snapshot.name)
def test_every_recorded_value_is_on_the_page(snapshot: Snapshot) -> None:
    """A recording's page holds exactly what the catalogue says of each line, in both formats."""
    replies = {section: pairs(raw) for section, raw in snapshot.replies.items()}
    malformed = ODD.get(snapshot.name, [])
    right = expected(replies) | about_the_scrape(snapshot.replies, len(malformed))
    stats = replies["stats"]
    right[sample("memcached_start_time_seconds")] = int(stats["time"]) - int(stats["uptime"]) + 2
    for labels in ((), LABELS):
        result = translate(reading(snapshot.replies), labelled=bool(labels))
        assert (result.unknown, result.malformed) == ([], malformed)
        assert sum(map(len, result.samples)) == len(right)
        for form in Format:
            assert parsed(render(result, form, labels), form) == labelled(right, labels)


def test_a_value_that_fell_below_zero_is_dropped() -> None:
    """An unsigned gauge below zero gives no sample, and its neighbours are right."""
    found = samples(next(s for s in SNAPSHOTS if s.name in ODD).replies)
    assert sample("memcached_response_objects") not in found
    assert sample("memcached_response_object_bytes") in found
    assert max(found.values()) < 2**63


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("1:number", ""),
        ("items:1:number", "memcached_slab_current_items"),
        ("items:255:number", "memcached_slab_current_items"),
        ("items:256:number", ""),
        ("items:0:number", ""),
        ("items:01:number", ""),
        ("items:-1:number", ""),
        ("items::number", ""),
        ("items:1:number:", ""),
        ("items:1:nonsense", ""),
        ("Items:1:number", ""),
        ("number", ""),
    ],
)
def test_only_class_numbers_from_1_to_255_are_classes(key: str, name: str) -> None:
    """Keys that only look like a class's are unknown, so that labels cannot pile up."""
    body = f"STAT {key} 3\r\nEND\r\n".encode()
    result = translate(reading({"stats": stats_reply(pid="1"), "items": body}))
    assert result.unknown == ([] if name else [key])
    found = [family.name for family in FAMILIES if result.samples[family.index]]
    assert (name in found) is bool(name)


@pytest.mark.parametrize(
    ("line", "unknown", "malformed"),
    [
        ("STAT curr_items 5", [], []),
        ("STAT curr_items five", [], ["STAT curr_items five"]),
        ("STAT curr_items", [], ["STAT curr_items"]),
        ("STAT curr_items ", [], ["STAT curr_items"]),
        ("STAT curr_items 5 6", [], ["STAT curr_items 5 6"]),
        ("STAT curr_items  5", [], ["STAT curr_items  5"]),
        ("STAT curr_items 18446744073709551615", [], ["STAT curr_items 18446744073709551615"]),
        ("STAT new_in_1.7 5", ["new_in_1.7"], []),
        ("STAT new_in_1.7 some text", ["new_in_1.7"], []),
        ("STAT pid 5", [], []),
        ("STAT version", [], []),
    ],
)
def test_a_line_is_known_unknown_or_malformed(
    line: str, unknown: list[str], malformed: list[str]
) -> None:
    """What is strange is counted, named, and gives no sample."""
    result = translate(reading({"stats": b"STAT uptime 9\r\n" + line.encode() + b"\r\nEND\r\n"}))
    assert (result.unknown, result.malformed) == (unknown, malformed)
    page = parsed(render(result, Format.TEXT), Format.TEXT)
    assert page[sample("memcached_exporter_unknown_stats")] == len(unknown)
    assert page[sample("memcached_exporter_malformed_values")] == len(malformed)
    assert page[sample("memcached_uptime_seconds")] == 9
    items = page.get(sample("memcached_current_items"))
    assert items == (5 if line == "STAT curr_items 5" else None)


@pytest.mark.parametrize("line", ["FOO curr_items 5", "curr_items 5", "VALUE curr_items 0 5", "5"])
def test_a_line_that_is_no_stat_line_gives_no_sample(line: str) -> None:
    """Only lines that begin with STAT are statistics; another one is counted as malformed."""
    raw = b"STAT uptime 9\r\n" + line.encode() + b"\r\nEND\r\n"
    result = translate(reading({"stats": raw}))
    assert len(result.malformed) == 1
    assert sample("memcached_current_items") not in samples({"stats": raw})


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        ("STAT curr_items 5\r\nSTAT curr_items 6", {sample("memcached_current_items"): 6}),
        (
            "STAT version 1.6.18\r\nSTAT version 1.6.19",
            {sample("memcached_version_info", version="1.6.19"): 1},
        ),
    ],
)
def test_a_key_that_comes_twice_gives_one_sample(lines: str, right: Samples) -> None:
    """The last value wins, for numbers and for labels: no page may hold a name twice."""
    assert samples({"stats": f"{lines}\r\nEND\r\n".encode()}) == right


def test_texts_of_one_family_are_labels_of_one_sample() -> None:
    """The labels of an info family stand together; unset ones are left out."""
    found = samples(
        {
            "stats": stats_reply(version="1.4.14 (Ubuntu)", libevent="2.0", pointer_size="64"),
            "settings": stats_reply(inter="NULL", domain_socket="NULL", tcpport="0", umask="700"),
        }
    )
    assert found == {
        sample(
            "memcached_version_info", version="1.4.14 (Ubuntu)", libevent="2.0", pointer_size="64"
        ): 1,
        sample("memcached_settings_info", tcpport="0", umask="700"): 1,
    }


def family(found: Samples, name: str) -> dict[frozenset[tuple[str, str]], float]:
    """Return the samples of one name."""
    return {labels: number for (own, labels), number in found.items() if own == name}


@pytest.mark.parametrize(
    ("slabs", "items", "right"),
    [("640", "650", 650), ("", "650", 650), ("640", "", 640)],
)
def test_mem_requested_comes_from_items_when_both_have_it(
    slabs: str, items: str, right: float
) -> None:
    """Whichever reply has the key, and in whichever order they stand, there is one sample."""
    replies = {
        "stats": stats_reply(pid="1"),
        "slabs": f"STAT 1:mem_requested {slabs}\r\nEND\r\n".encode() if slabs else b"END\r\n",
        "items": f"STAT items:1:mem_requested {items}\r\nEND\r\n".encode() if items else b"END\r\n",
    }
    one_class: Sample = sample("memcached_slab_mem_requested_bytes", slab="1")
    for order in (replies, dict(reversed(replies.items()))):
        assert family(samples(order), one_class[0]) == {one_class[1]: right}


@pytest.mark.parametrize(
    ("values", "right"),
    [
        ({"time": "1700000100", "uptime": "102"}, 1_700_000_000),
        ({"time": "1700000100", "uptime": "2"}, 1_700_000_100),
        ({"time": "1700000100"}, None),
        ({"uptime": "102"}, None),
        ({"time": "now", "uptime": "102"}, None),
        ({"time": "1e9", "uptime": "102"}, None),
    ],
)
def test_the_start_time_is_by_the_servers_own_clock(
    values: dict[str, str], right: float | None
) -> None:
    """The start is time - uptime + 2, and absent when one of them is."""
    found = samples({"stats": stats_reply(**values)})
    assert found.get(sample("memcached_start_time_seconds")) == right


def test_the_start_time_outlives_a_reset_of_the_statistics() -> None:
    """A `stats reset` is no restart, a restart is one."""
    key = sample("memcached_start_time_seconds")

    def start(name: str) -> float:
        return samples(next(s for s in SNAPSHOTS if s.name == name).replies)[key]

    for case in ("deb1618-misc", "new-misc"):
        assert start(f"{case}_before_reset") == start(f"{case}_after_reset")
    assert start("deb1618-restart_1_before") < start("deb1618-restart_2_after")


@pytest.mark.parametrize("labels", [(), LABELS])
def test_a_server_that_could_not_be_read_is_down(labels: tuple[tuple[str, str], ...]) -> None:
    """A failed scrape leaves `up` and its duration, nothing from before."""
    result = Translator(open_ended=bool(labels)).failure(0.5)
    right = {sample("memcached_up"): 0.0, sample("memcached_scrape_duration_seconds"): 0.5}
    for form in Format:
        page = render(result, form, labels)
        assert parsed(page, form) == labelled(right, labels)


@pytest.mark.parametrize(
    ("uptime", "right"),
    [("100", None), ("1796081814", 1_796_081_813.492155), ("", 1_796_081_813.492155)],
)
def test_a_time_longer_than_the_uptime_is_rubbish(uptime: str, right: float | None) -> None:
    """A reset while the server does not accept makes this counter the time since 1970: dropped."""
    replies = {"stats": stats_reply(uptime=uptime, time_in_listen_disabled_us="1796081813492155")}
    name = "memcached_connections_listener_disabled_seconds_total"
    assert samples(replies).get(sample(name)) == right
    result = translate(reading(replies))
    assert len(result.malformed) == (right is None) + (uptime == "")


def test_many_classes_keep_their_numbers() -> None:
    """All 170 classes of an old release come out, each under its own number."""
    found = samples(next(s for s in SNAPSHOTS if "f1.05" in s.name).replies)
    chunks = family(found, "memcached_slab_chunk_size_bytes")
    sizes = {int(dict(labels)["slab"]): size for labels, size in chunks.items()}
    assert len(sizes) == 170
    assert [sizes[slab] for slab in sorted(sizes)] == sorted(sizes.values())


def test_an_empty_server_has_no_classes() -> None:
    """A fresh server sends no class, and none is made up."""
    result = translate(recorded("deb1618-default_empty"))
    found = parsed(render(result, Format.TEXT), Format.TEXT)
    assert not [labels for _, labels in found if "slab" in dict(labels)]
    assert found[sample("memcached_current_items")] == 0
