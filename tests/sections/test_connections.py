"""`stats conns` becomes sums: recordings counted anew, borders, and bounds on what is exported."""

import re
from collections import Counter
from pathlib import Path

import pytest

from exporter.memcached.aggregation import Limits
from tests.memcached.support import RECORDINGS
from tests.sections.support import body, family, samples, translate

FILES = sorted(
    path for path in RECORDINGS.glob("*/stats_conns*.txt") if path.read_bytes().startswith(b"STAT ")
)
OPEN = "memcached_open_connections"
CLIENTS = "memcached_client_connections"
_ENTRY = re.compile(
    r"STAT (\d+):addr ([^\r]*)\r\n"
    r"(?:STAT \1:listen_addr ([^\r]*)\r\n)?"
    r"STAT \1:state (\w+)\r\n"
    r"STAT \1:secs_since_last_cmd (\d+)\r\n"
)
_BUCKETS = {"<1s": 1, "<10s": 10, "<1m": 60, "<10m": 600, "<1h": 3600}


def bucket(seconds: int) -> str:
    """Return the name of the span that a number of seconds falls in."""
    return min((name for name in _BUCKETS if seconds < _BUCKETS[name]), key=_BUCKETS.__getitem__)


def counted(text: str) -> dict[tuple[str, ...], float]:
    """Count a recorded reply by one expression over all of it: idle span, listener, state."""
    found: Counter[tuple[str, ...]] = Counter()
    for _, address, listener, state, seconds in _ENTRY.findall(text):
        own = state == "conn_listening" or address.startswith("udp")
        found[bucket(int(seconds)), address if own else listener, state] += 1
    assert found.total() == text.count(":addr ")
    return dict(found)


def entry(
    number: int, *, addr: str = "tcp:10.0.0.1:5", listen: str = "", state: str = "conn_read"
) -> list[str]:
    """Return the lines of one connection."""
    lines = [f"STAT {number}:addr {addr}"]
    lines += [f"STAT {number}:listen_addr {listen}"] if listen else []
    return [*lines, f"STAT {number}:state {state}", f"STAT {number}:secs_since_last_cmd 0"]


LONG = "unix:/run/memcached/sessions-of-the-shop.sock"


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (LONG[:31] + "|\x7f", LONG),
        (LONG[:31], LONG),
        ("unix:/run/memcached/others-than-that.sock", "unix:/run/memcached/others-than"),
        ("unix:/run/mc.sock", "unix:/run/mc.sock"),
        ("tcp6:[2001:db8:1111:2222:3333::1]:11211", "tcp6:[2001:db8:1111:2222:3333::1]:11211"),
    ],
)
def test_long_paths(told: str, shown: str) -> None:
    """A socket that listens has one name, and none of the bytes that memcached prints behind it."""
    lines = [*entry(26, addr=told, state="conn_listening"), *entry(27, addr="?", listen=LONG)]
    assert family(samples({"conns": body(*lines)}), OPEN) == {
        ("<1s", shown, "conn_listening"): 1,
        ("<1s", LONG, "conn_read"): 1,
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recordings_are_counted(path: Path) -> None:
    """Each connection of a recorded server stands in exactly one sum, the right one."""
    recorded = path.read_bytes()
    assert family(samples({"conns": recorded}), OPEN) == counted(recorded.decode())


def test_there_are_recordings() -> None:
    """Releases from 1.4.39 on have been recorded."""
    assert len(FILES) == 39
    assert {path.parent.name.partition("-")[0] for path in FILES} == {
        *("deb1618", "new", "old1.4.39", "old1.5.22", "old1.6.0")
    }


def of(case: str) -> dict[str, bytes]:
    """Return the recorded reply of a case."""
    return {"conns": (RECORDINGS / case / "stats_conns.txt").read_bytes()}


def test_a_full_server() -> None:
    """A server at its limit shows its two listeners and its clients, none of them busy."""
    found = samples(of("deb1618-maxconns"), Limits(top_clients=5))
    assert sum(family(found, OPEN).values()) == 25
    assert family(found, CLIENTS) == {("127.0.0.1",): 23, ("other",): 0}


def test_unix_peers() -> None:
    """Clients on a unix socket have no address: they are counted by their listener."""
    found = samples(of("deb1618-unix"), Limits(top_clients=5))
    listener = "unix:/srv/mc/mc.sock"
    assert family(found, OPEN) == {
        ("<10s", listener, "conn_listening"): 1,
        ("<10s", listener, "conn_read"): 2,
        ("<10s", listener, "conn_new_cmd"): 2,
        ("<1s", listener, "conn_parse_cmd"): 1,
    }
    assert family(found, CLIENTS) == {("unix",): 5, ("other",): 0}


def test_udp_sockets() -> None:
    """A UDP socket, which each worker thread has, is a listener and no client."""
    found = samples(of("deb1618-udp"), Limits(top_clients=5))
    udp = "udp:127.0.0.1:11211"
    assert family(found, OPEN) == {
        ("<10s", "tcp:127.0.0.1:11211", "conn_listening"): 1,
        ("<10s", udp, "conn_read"): 4,
        ("<1s", "tcp:127.0.0.1:11211", "conn_parse_cmd"): 1,
    }
    assert family(found, CLIENTS) == {("127.0.0.1",): 1, ("other",): 0}


def test_udp_sockets_that_share_a_number() -> None:
    """Entries with equal numbers are different connections, as each begins with its address."""
    lines = [
        line
        for _ in range(4)
        for line in ("STAT 28:UDP UDP", *entry(28, addr="udp6:[::]:11211", state="conn_read"))
    ]
    found = samples({"conns": body(*lines)}, Limits(top_clients=3))
    assert family(found, OPEN) == {("<1s", "udp6:[::]:11211", "conn_read"): 4}
    assert family(found, CLIENTS) == {("other",): 0}


def test_an_old_release_names_no_listener() -> None:
    """Up to 1.5.16 a connection does not say where it came in: the label is empty."""
    found = family(samples(of("old1.4.39-default")), OPEN)
    listening = {key: number for key, number in found.items() if key[2] == "conn_listening"}
    assert listening == {
        ("<10s", "tcp:0.0.0.0:11211", "conn_listening"): 1,
        ("<10s", "tcp6:[::]:11211", "conn_listening"): 1,
    }
    assert {key[2]: number for key, number in found.items() if key[1] == ""} == {
        "conn_read": 2,
        "conn_new_cmd": 2,
        "conn_parse_cmd": 1,
    }


@pytest.mark.parametrize(
    ("seconds", "span"),
    [
        *(("0", "<1s"), ("1", "<10s"), ("9", "<10s"), ("10", "<1m"), ("59", "<1m")),
        *(("60", "<10m"), ("599", "<10m"), ("600", "<1h"), ("3599", "<1h"), ("3600", ">=1h")),
        *(("4294967295", ">=1h"), ("-1", ""), ("", ""), ("x", ""), ("1.5", "")),
    ],
)
def test_spans_of_idleness_have_exact_borders(seconds: str, span: str) -> None:
    """A connection is in the span that its idle time falls in; nonsense is in none."""
    lines = [*entry(5)[:-1], f"STAT 5:secs_since_last_cmd {seconds}"]
    found = samples({"conns": body(*lines)})
    assert found == found | {
        (OPEN, frozenset({("idle", span), ("listener", ""), ("state", "conn_read")})): 1.0
    }


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("tcp:10.1.2.3:38248", "10.1.2.3"),
        ("tcp6:[::1]:38248", "::1"),
        ("tcp6:[fe80::1]:1", "fe80::1"),
        ("tcp6:[::ffff:10.1.2.3]:38248", "::ffff:10.1.2.3"),
        ("unix:/run/memcached.sock", "unix"),
        ("?:<AF 0>", "unix"),
    ],
)
def test_clients_are_told_apart_by_ip_address(address: str, client: str) -> None:
    """The port of a client, which is new for each connection, is no label."""
    found = samples({"conns": body(*entry(5, addr=address))}, Limits(top_clients=1))
    assert family(found, CLIENTS) == {(client,): 1, ("other",): 0}


def test_the_busiest_clients_are_named() -> None:
    """Of more clients than wanted those with most connections are named, the others summed."""
    lines = [
        line
        for client, count in ((1, 3), (2, 9), (3, 1), (4, 5), (5, 2))
        for port in range(count)
        for line in entry(client * 100 + port, addr=f"tcp:10.0.0.{client}:{port}")
    ]
    lines += entry(9, addr="tcp:0.0.0.0:11211", state="conn_listening")
    given = {"conns": body(*lines)}
    assert family(samples(given, Limits(top_clients=2)), CLIENTS) == {
        ("10.0.0.2",): 9,
        ("10.0.0.4",): 5,
        ("other",): 6,
    }
    assert family(samples(given), CLIENTS) == {}


def test_a_client_called_other_is_in_the_rest() -> None:
    """The name of the rest is no client's."""
    lines = [*entry(1, addr="tcp:other:5"), *entry(2, addr="tcp:10.0.0.1:5"), *entry(3)]
    found = family(samples({"conns": body(*lines)}, Limits(top_clients=2)), CLIENTS)
    assert found == {("10.0.0.1",): 2, ("other",): 1}


def test_listeners_are_bounded() -> None:
    """Listeners beyond a bound are summed as `other`, whatever a server makes up."""
    lines = [
        line
        for number in range(200)
        for line in entry(number, listen=f"tcp:10.0.0.9:{number}", addr="tcp:10.0.0.1:9")
    ]
    found = family(samples({"conns": body(*lines)}), OPEN)
    assert sum(found.values()) == 200
    assert len(found) == 33
    assert found["<1s", "other", "conn_read"] == 168


def test_states_are_bounded() -> None:
    """States are as many as memcached has, not as many as a server makes up."""
    lines = [line for number in range(5000) for line in entry(number, state=f"conn_{number}")]
    found = family(samples({"conns": body(*lines)}), OPEN)
    assert len(found) <= 64
    assert sum(found.values()) == 5000


@pytest.mark.parametrize("key", ["resps_waiting", "queues_waiting"])
def test_what_waits_is_summed(key: str) -> None:
    """Responses and queues that wait are added up over all connections."""
    name = {
        "resps_waiting": "memcached_responses_waiting",
        "queues_waiting": "memcached_io_queues_waiting",
    }[key]
    lines = [*entry(1), f"STAT 1:{key} 3", *entry(2), f"STAT 2:{key} 0", *entry(3)]
    assert family(samples({"conns": body(*lines)}), name) == {(): 3}
    assert family(samples({"conns": body(*entry(1))}), name) == {}


@pytest.mark.parametrize("text", ["18446744073709551615", "9" * 5000, "-1", "x"])
def test_what_waits_is_a_sane_number(text: str) -> None:
    """A number that went below zero, or is none, is left out of the sum and costs nothing else."""
    lines = [*entry(1), f"STAT 1:resps_waiting {text}", *entry(2), "STAT 2:resps_waiting 4"]
    found = samples({"conns": body(*lines)})
    assert family(found, "memcached_responses_waiting") == {(): 4}
    assert family(found, OPEN) == {("<1s", "", "conn_read"): 2}


def test_a_new_key_of_a_connection_is_counted() -> None:
    """What a newer server adds to its connections is noticed, and all else is right."""
    result = translate({"conns": body(*entry(1), "STAT 1:mood 5", *entry(2))})
    assert len(result.unknown) >= 1
    assert family(samples({"conns": body(*entry(1), "STAT 1:mood 5", *entry(2))}), OPEN) == {
        ("<1s", "", "conn_read"): 2
    }


def test_torn_entries_cost_nothing_else() -> None:
    """Entries are taken without a lock: what lacks a line is counted without it."""
    lines = ["STAT 1:state conn_read", *entry(2), "STAT 3:addr tcp:10.0.0.1:1", *entry(4)]
    found = family(samples({"conns": body(*lines)}), OPEN)
    assert found == {("<1s", "", "conn_read"): 2, ("", "", "other"): 1}
