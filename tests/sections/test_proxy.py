"""The sections of a proxy: every recorded line is the right sample."""

import pytest

from tests.processes import sample
from tests.sections.support import RECORDED_PROXY, body, family, raw, replies, samples, translate

_COMMANDS = {
    "mg": 42,
    "ms": 16,
    "md": 6,
    "mn": 0,
    "ma": 4,
    "me": 2,
    "get": 746,
    "gat": 8,
    "set": 665,
    "add": 2,
    "cas": 30,
    "gets": 60,
    "gats": 0,
    "incr": 68,
    "decr": 30,
    "touch": 62,
    "append": 2,
    "prepend": 2,
    "delete": 90,
    "replace": 4,
}
RIGHT = {
    "proxy": {
        sample("memcached_proxy_user_stats_total", stat="good_requests"): 1809,
        sample("memcached_proxy_user_stats_total", stat="bad_requests"): 30,
        sample("memcached_proxy_active_requests_limit"): 5000,
        sample("memcached_proxy_buffer_memory_limit_bytes"): 20480000,
        sample("memcached_proxy_buffer_memory_bytes"): 0,
        sample("memcached_proxy_vm_gc_runs_total"): 1,
        sample("memcached_proxy_vm_memory_bytes"): 390 * 1024,
        **{
            sample("memcached_proxy_commands_total", command=command): number
            for command, number in _COMMANDS.items()
        },
    },
    "proxyfuncs": {
        sample("memcached_proxy_functions", function="route_bad"): 4,
        sample("memcached_proxy_functions", function="mcp_router"): 4,
        sample("memcached_proxy_functions", function="route_good"): 4,
        sample("memcached_proxy_function_slots", function="route_bad"): 4,
        sample("memcached_proxy_function_slots", function="mcp_router"): 0,
        sample("memcached_proxy_function_slots", function="route_good"): 93,
    },
    "proxybe": {sample("memcached_proxy_backend_bad_connections", backend="dead1"): 4},
}
WILDCARDS = {
    "proxy": ("user_", "memcached_proxy_user_stats_total"),
    "proxyfuncs": ("funcs_", "memcached_proxy_functions"),
    "proxybe": ("bad_", "memcached_proxy_backend_bad_connections"),
}
DROPPED = sample("memcached_exporter_series_dropped")


@pytest.mark.parametrize("section", RIGHT)
def test_every_recorded_line(section: str) -> None:
    """Each line of the recorded section is one sample with the right name, labels and value."""
    recorded = raw("new-proxy", section)
    assert recorded is not None
    assert len(RIGHT[section]) == recorded.count(b"STAT ")
    nothing = samples({section: b"END\r\n"}).keys()
    found = {key: n for key, n in samples({section: recorded}).items() if key not in nothing}
    assert found == RIGHT[section]


def test_the_general_section_of_a_proxy() -> None:
    """What `stats` says of a proxy comes with it; its commands are not those of a cache."""
    found = samples(replies("new-proxy"))
    for section in RIGHT.values():
        assert found == found | section
    assert found[sample("memcached_proxy_backends")] == 12
    assert found[sample("memcached_commands_total", command="set", status="attempt")] == 0
    assert found[sample("memcached_proxy_commands_total", command="set")] == 665


def test_a_reset_leaves_the_proxy_alone() -> None:
    """After `stats reset` the commands that the proxy has routed stay, and memory is of then."""
    found = samples({"proxy": RECORDED_PROXY["_after_reset"]})
    expected = RIGHT["proxy"] | {
        sample("memcached_proxy_vm_gc_runs_total"): 7,
        sample("memcached_proxy_vm_memory_bytes"): 221 * 1024,
    }
    assert found == found | expected


def test_healthy_backends_are_absent() -> None:
    """An empty reply means that no backend is bad: nothing is made up, nothing is strange."""
    result = translate({"proxybe": b"END\r\n", "proxyfuncs": b"END\r\n", "proxy": b"END\r\n"})
    assert (result.unknown, result.malformed, result.dropped) == ([], [], 0)
    assert not any("proxy" in name for name, _ in samples({"proxybe": b"END\r\n"}))


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 300, 1000])
@pytest.mark.parametrize("section", WILDCARDS)
def test_names_are_capped(section: str, count: int) -> None:
    """Of names that the configuration of a proxy chose 256 are shown, and the rest is counted."""
    start, name = WILDCARDS[section]
    found = samples({section: body(*(f"STAT {start}n{n} {n}" for n in range(count)))})
    shown = family(found, name)
    assert len(shown) == min(count, 256)
    assert all(number == int(label.removeprefix("n")) for (label,), number in shown.items())
    assert found[DROPPED] == max(0, count - 256)


def test_the_cap_is_per_family() -> None:
    """Functions and their slots, which come in pairs, have a cap each."""
    lines = [f"STAT {kind}_n{n} 1" for n in range(260) for kind in ("funcs", "slots")]
    found = samples({"proxyfuncs": body(*lines)})
    assert len(family(found, "memcached_proxy_functions")) == 256
    assert len(family(found, "memcached_proxy_function_slots")) == 256
    assert found[DROPPED] == 8


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("STAT bad_10.0.0.1:11211 3", "10.0.0.1:11211"),
        ("STAT bad_a:b.c-d 3", "a:b.c-d"),
        ('STAT bad_"q" 3', '"q"'),
        ("STAT bad_back\\slash 3", "back\\slash"),
        ("STAT bad_bad_ 3", "bad_"),
        ("STAT bad_ 3", ""),
    ],
)
def test_odd_names(line: str, label: str) -> None:
    """The name of a backend is the label, whatever characters it has."""
    found = samples({"proxybe": body(line)})
    assert family(found, "memcached_proxy_backend_bad_connections") == {(label,): 3}


def test_names_that_are_no_text_lose_no_count() -> None:
    """Two names that are not UTF-8 are two counts, whatever their labels look like."""
    reply = b"STAT user_\xff 3\r\nSTAT user_\xfe 4\r\nEND\r\n"
    assert sum(family(samples({"proxy": reply}), WILDCARDS["proxy"][1]).values()) == 7


@pytest.mark.parametrize("value", ["18446744073709551615", "-1", "x", ""])
def test_odd_values_are_left_out_and_counted(value: str) -> None:
    """A value that is no number of its kind gives no sample."""
    lines = [f"STAT user_a {value}", "STAT user_b 2", f"STAT vm_memory_kb {value}", "STAT cmd_mg 1"]
    found = samples({"proxy": body(*lines)})
    assert family(found, "memcached_proxy_user_stats_total") == {("b",): 2}
    assert family(found, "memcached_proxy_vm_memory_bytes") == {}
    assert found[sample("memcached_exporter_malformed_values")] == 2


def test_keys_of_a_newer_proxy_are_counted() -> None:
    """A key that is no row and fits no wildcard is unknown."""
    found = samples({"proxy": body("STAT cmd_zz 1", "STAT cmd_mg 2", "STAT novel 3")})
    assert found[sample("memcached_exporter_unknown_stats")] == 2
    assert found[sample("memcached_proxy_commands_total", command="mg")] == 2
