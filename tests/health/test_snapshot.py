"""Series are found by name and labels, and their growth is that of counters."""

from exporter.health.snapshot import increase
from tests.health.made_up import GET_HITS, GET_MISSES, SETS, snapshot

COMMANDS = {GET_HITS: 5.0, GET_MISSES: 3.0, SETS: 7.0}


def test_series_are_found_by_their_labels() -> None:
    """Those that have all wanted labels, whatever else they have."""
    now = snapshot(commands_total=COMMANDS)
    assert now.find("memcached_commands_total", command="get") == {GET_HITS: 5.0, GET_MISSES: 3.0}
    assert now.find("memcached_commands_total", command="get", status="hit") == {GET_HITS: 5.0}
    assert now.find("memcached_commands_total", command="touch") == {}
    assert now.find("memcached_nothing") == {}


def test_a_value_is_the_sum_of_what_is_found() -> None:
    """Nothing found is None, which is not 0."""
    now = snapshot(commands_total=COMMANDS, current_items=0.0)
    assert now.value("memcached_commands_total", command="get") == 8.0
    assert now.value("memcached_current_items") == 0.0
    assert now.value("memcached_commands_total", command="touch") is None
    assert now.value("memcached_nothing") is None


def test_series_are_summed_by_a_label() -> None:
    """Each value of the label has the sum of its series."""
    now = snapshot(commands_total=COMMANDS)
    assert now.by("command", "memcached_commands_total") == {"get": 8.0, "set": 7.0}
    assert now.by("command", "memcached_commands_total", status="hit") == {"get": 5.0}
    assert now.by("slab", "memcached_nothing") == {}


def test_the_text_of_an_info_family() -> None:
    """It is a label; where the family is absent it is empty."""
    now = snapshot(version_info={(("version", "1.6.18"),): 1.0})
    assert now.text("version", "memcached_version_info") == "1.6.18"
    assert now.text("libevent", "memcached_version_info") == ""
    assert now.text("version", "memcached_nothing") == ""


def test_a_part_of_a_snapshot() -> None:
    """It has the wanted families that are there, and the same time."""
    part = snapshot(taken=7.0, current_items=4.0, uptime_seconds=9.0).only(
        ("memcached_current_items", "memcached_nothing")
    )
    assert part == snapshot(taken=7.0, current_items=4.0)


def test_growth() -> None:
    """A new series began at 0; one that fell says nothing, nor a family not read before."""
    before = snapshot(commands_total={GET_HITS: 5.0, SETS: 9.0})
    now = snapshot(commands_total={GET_HITS: 6.0, GET_MISSES: 2.0, SETS: 1.0}, items_total=4.0)
    assert increase(before, now, "memcached_commands_total") == {GET_HITS: 1.0, GET_MISSES: 2.0}
    assert increase(before, now, "memcached_items_total") == {}
    assert increase(None, now, "memcached_items_total") == {(): 4.0}
    assert increase(before, now, "memcached_nothing") == {}


def test_growth_of_slab_classes() -> None:
    """A class that comes back has not forgotten what it counted before it was empty."""
    one, two = (("slab", "1"),), (("slab", "2"),)
    before = snapshot(slab_items_evicted_total={one: 5.0})
    now = snapshot(slab_items_evicted_total={one: 7.0, two: 1e6})
    assert increase(before, now, "memcached_slab_items_evicted_total") == {one: 2.0}
