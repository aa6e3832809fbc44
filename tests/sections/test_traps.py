"""Values that mislead: each trap of the statistics, with the right samples."""

from collections.abc import Callable

import pytest

from tests.memcached.oracle import pairs
from tests.memcached.pages import Page
from tests.memcached.support import RECORDINGS, Samples, stats_reply
from tests.processes import sample
from tests.sections.support import body, family, replies, samples, translate
from tests.sections.wire import recorded_server

MALFORMED = sample("memcached_exporter_malformed_values")
MEM_REQUESTED = "memcached_slab_mem_requested_bytes"
LISTENER = sample("memcached_connections_listener_disabled_seconds_total")


def recording(case: str, stem: str) -> bytes:
    """Return a file of a recording."""
    return (RECORDINGS / case / f"{stem}.txt").read_bytes()


def names(found: Samples) -> set[str]:
    """Return the names of samples."""
    return {name for name, _ in found}


@pytest.mark.parametrize("case", ["deb1618-misc", "new-misc"])
def test_a_gauge_below_zero(case: str) -> None:
    """After a reset the recorded servers have 2**64 - 1 response objects: dropped and counted."""
    stats = recording(case, "stats_after_reset_conns_closed")
    assert pairs(stats)["response_obj_count"] == "18446744073709551615"
    found = samples({"stats": stats})
    assert sample("memcached_response_objects") not in found
    assert found[sample("memcached_response_object_bytes")] == 0
    assert found[MALFORMED] == 1
    (line,) = translate({"stats": stats}).malformed
    assert line == "STAT response_obj_count 18446744073709551615"


def test_a_gauge_above_zero() -> None:
    """Before the reset the same gauge is right."""
    found = samples({"stats": recording("deb1618-misc", "stats_before_reset")})
    assert found[sample("memcached_response_objects")] == 3
    assert found[MALFORMED] == 0


@pytest.mark.parametrize(
    ("text", "uptime", "right"),
    [
        ("1796081813492155", "3600", None),
        ("13447648", "20", 13.447648),
        ("13447648", "13", None),
        ("0", "2", 0),
        ("2000000", "2", 2),
        ("2000001", "2", None),
    ],
)
def test_time_without_listening_is_within_the_uptime(
    text: str, uptime: str, right: float | None
) -> None:
    """After a reset at the limit the server sends the time since 1970: dropped and counted."""
    found = samples({"stats": stats_reply(uptime=uptime, time_in_listen_disabled_us=text)})
    assert found.get(LISTENER) == right
    assert found[MALFORMED] == (1 if right is None else 0)


@pytest.mark.parametrize("case", ["deb1618-maxconns_slow", "old1.4.39-maxconns_slow"])
def test_recorded_time_without_listening(case: str) -> None:
    """Servers that really did not listen for a while say so in seconds, exactly."""
    stats = recording(case, "stats_after_close")
    right = int(pairs(stats)["time_in_listen_disabled_us"]) / 1_000_000
    assert samples({"stats": stats})[LISTENER] == right > 10


@pytest.mark.parametrize(("text", "enabled"), [("on", 1), ("off", 0)])
def test_evictions_mean_two_things(text: str, enabled: int) -> None:
    """`evictions` is a number in one section and a switch in another."""
    given = {"stats": stats_reply(evictions="7"), "settings": stats_reply(evictions=text)}
    found = samples(given)
    assert found[sample("memcached_items_evicted_total")] == 7
    assert found[sample("memcached_settings_evictions_enabled")] == enabled
    assert found[MALFORMED] == 0


def test_a_number_is_no_switch_and_a_switch_no_number() -> None:
    """The two cannot be mixed up: each is left out in the other's place."""
    found = samples({"stats": stats_reply(evictions="on"), "settings": stats_reply(evictions="7")})
    assert not {"memcached_items_evicted_total", "memcached_settings_evictions_enabled"} & names(
        found
    )
    assert found[MALFORMED] == 2


@pytest.mark.parametrize(
    ("slabs", "items", "right"),
    [
        (["STAT 5:mem_requested 10"], [], {("5",): 10}),
        ([], ["STAT items:5:mem_requested 20"], {("5",): 20}),
        (["STAT 5:mem_requested 10"], ["STAT items:5:mem_requested 20"], {("5",): 20}),
        (
            ["STAT 5:mem_requested 10", "STAT 6:mem_requested 11"],
            ["STAT items:5:mem_requested 20", "STAT items:7:mem_requested 0"],
            {("5",): 20, ("6",): 11, ("7",): 0},
        ),
        (["STAT 5:mem_requested 10"], ["STAT items:5:mem_requested x"], {("5",): 10}),
        ([], [], {}),
    ],
)
def test_memory_of_items_comes_from_either_section(
    slabs: list[str], items: list[str], right: dict[tuple[str, ...], float]
) -> None:
    """What items need stands in one section or the other, by release, and is one sample."""
    found = samples({"slabs": body(*slabs), "items": body(*items)})
    assert family(found, MEM_REQUESTED) == right


@pytest.mark.parametrize(
    ("case", "section"), [("old1.4.39-default", "slabs"), ("deb1618-default", "items")]
)
def test_recorded_memory_of_items(case: str, section: str) -> None:
    """Servers before and after the move say the same thing, which sums up to all bytes."""
    given = replies(case)
    assert b":mem_requested " in given[section]
    found = samples(given)
    assert sum(family(found, MEM_REQUESTED).values()) == found[sample("memcached_current_bytes")]


def test_rows_that_vanish_and_return(sectioned: Callable[..., Page]) -> None:
    """A class that is empty for a while has no series then, and its old counters afterwards."""
    with recorded_server("deb1618-evictions") as server:
        whole = server.replies["stats items"]
        page = sectioned(server.address)
        label = {"slab": "14"}
        evicted = float(pairs(whole)["items:14:evicted"])
        others = len(page().of("memcached_slab_current_items")) - 1
        assert page.get("memcached_slab_items_evicted_total", **label) == evicted > 0
        lines = whole.splitlines(keepends=True)
        server.replies["stats items"] = b"".join(x for x in lines if b"items:14:" not in x)
        for name in ("memcached_slab_items_evicted_total", "memcached_slab_current_items"):
            assert page().get(name, **label) is None
        assert len(page.of("memcached_slab_current_items")) == others > 0
        assert page.get("memcached_slab_chunk_size_bytes", **label) is not None
        server.replies["stats items"] = b"END\r\n"
        assert page().of("memcached_slab_current_items") == []
        assert page.get("memcached_scrape_section_success", section="items") == 1
        server.replies["stats items"] = whole
        assert page().get("memcached_slab_items_evicted_total", **label) == evicted


def test_a_class_of_one_section() -> None:
    """A class with pages and no items, and one torn between two replies, are shown as they are."""
    slabs = body("STAT 1:chunk_size 96", "STAT 1:total_pages 1", "STAT active_slabs 1")
    items = body("STAT items:2:number 3", "STAT items:2:age 9")
    found = samples({"slabs": slabs, "items": items})
    assert family(found, "memcached_slab_chunk_size_bytes") == {("1",): 96}
    assert family(found, "memcached_slab_current_items") == {("2",): 3}
    assert family(found, "memcached_slab_items_age_seconds") == {("2",): 9}
    assert found[sample("memcached_active_slabs")] == 1


OPTIONAL = {
    "memcached_connections_rejected_total": {"deb1618-no_modern", "deb1618-maxconns_slow"},
    "memcached_slab_pages_moved_total": {"deb1618-no_modern"},
    "memcached_slab_reassign_running": {"deb1618-no_modern"},
    "memcached_lru_crawler_running": {"deb1618-no_modern"},
    "memcached_lru_maintainer_juggles_total": {"deb1618-no_modern"},
    "memcached_direct_reclaims_total": {"deb1618-no_modern"},
    "memcached_lru_bumps_dropped_total": {"deb1618-no_modern"},
    "memcached_items_evicted_active_total": {"deb1618-no_modern"},
    "memcached_slab_hot_items": {"deb1618-no_modern"},
    "memcached_slab_lru_hits_total": {"deb1618-no_modern"},
}
"""Metrics that the default server has, and the servers that were started without them."""
ADDED = {
    "memcached_idle_kicks_total": "deb1618-threads16_idle",
    "memcached_ssl_handshake_errors_total": "deb1618-tls",
    "memcached_ssl_new_sessions_total": "deb1618-tls",
    "memcached_ssl_server_cert_refresh_age_seconds": "deb1618-tls",
    "memcached_extstore_pages_used": "deb1618-extstore",
    "memcached_extstore_badcrc_total": "deb1618-extstore",
    "memcached_extstore_misses_total": "deb1618-extstore",
    "memcached_extstore_gets_aborted_total": "deb1618-extstore",
    "memcached_extstore_io_queue_depth": "deb1618-extstore",
    "memcached_proxy_backends": "new-proxy",
}
"""Metrics that only a server with some option has, and which one that is."""


@pytest.mark.parametrize("name", OPTIONAL)
def test_what_an_option_switches_off_is_absent(name: str) -> None:
    """A key that a server does not send is no sample: it is not 0."""
    assert name in names(samples(replies("deb1618-default")))
    for case in OPTIONAL[name]:
        assert name not in names(samples(replies(case)))


@pytest.mark.parametrize("name", ADDED)
def test_what_an_option_switches_on_is_absent_without_it(name: str) -> None:
    """A feature that is not in use is not counted at 0."""
    assert name in names(samples(replies(ADDED[name])))
    assert name not in names(samples(replies("deb1618-default")))


SETTINGS = "memcached_settings_info"


@pytest.mark.parametrize(
    ("line", "label", "right"),
    [
        ("STAT stat_key_prefix  ", "stat_key_prefix", " "),
        ("STAT stat_key_prefix :", "stat_key_prefix", ":"),
        ('STAT stat_key_prefix "', "stat_key_prefix", '"'),
        ("STAT stat_key_prefix \\", "stat_key_prefix", "\\"),
        ("STAT inter 127.0.0.1, ::1", "interface", "127.0.0.1, ::1"),
        ("STAT domain_socket /run/my sockets/mc", "domain_socket", "/run/my sockets/mc"),
        ("STAT umask 700", "umask", "700"),
    ],
)
def test_values_of_many_words(line: str, label: str, right: str) -> None:
    """The whole value is kept, blanks included."""
    found = samples({"settings": body(line)})
    assert found[sample(SETTINGS, **{label: right})] == 1


@pytest.mark.parametrize(
    "line", ["STAT inter ", "STAT inter", "STAT inter NULL", "STAT memory_file (null)"]
)
def test_values_that_say_nothing(line: str) -> None:
    """An empty value, NULL and (null) are no text: the label is absent, and nothing is strange."""
    found = samples({"settings": body(line, "STAT binding_protocol ascii")})
    assert found[sample(SETTINGS, binding_protocol="ascii")] == 1
    assert found[MALFORMED] == 0
    assert samples({"settings": body(line)}).get(sample(SETTINGS)) is None


@pytest.mark.parametrize(("text", "right"), [("4294967295", None), ("0", 0), ("3600", 3600)])
def test_an_age_that_is_not_set(text: str, right: float | None) -> None:
    """The age 2**32 - 1 means that there is none."""
    found = samples({"settings": stats_reply(ext_item_age=text)})
    assert found.get(sample("memcached_settings_extstore_item_age_seconds")) == right
    assert found[MALFORMED] == 0


@pytest.mark.parametrize(("text", "right"), [("(null)", None), ("0", 0), ("2", 2)])
def test_queues_that_are_printed_wrongly(text: str, right: float | None) -> None:
    """Releases that print the number of NIC queues as text send none."""
    found = samples({"settings": stats_reply(num_napi_ids=text)})
    assert found.get(sample("memcached_settings_napi_ids")) == right
    assert found[MALFORMED] == 0
