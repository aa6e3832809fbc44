"""Which sections are safe to ask for: tables and recordings."""

import json

import pytest

from exporter.memcached.plan import Facts, facts, plan
from tests.memcached.support import (
    RECORDINGS,
    SNAPSHOTS,
    Snapshot,
    reading,
    stats_reply,
)

WANTED = ("stats", "settings", "items", "slabs")
ALL = ("settings", "items", "slabs")
SAFE = ("items", "slabs")
DANGER = "`stats settings` kills memcached 1.6.9 to 1.6.39 that was started with -N"
ASK = f"{DANGER}: set assume_no_napi_ids in the server's module if it was started without"
SIGNS = f"{DANGER}, and this server shows signs of -N"
STARTED_SO = f"{DANGER}, as this one was"
TOO_OLD = "`stats settings` needs memcached 1.3.3"


def known(version: str, **counters: str) -> Facts:
    """Return the facts of a server of that version."""
    return facts(reading({"stats": stats_reply(version=version, **counters)}).bodies["stats"])


def decide(
    facts_: Facts,
    argv: list[str] | None = None,
    *,
    assume: bool = False,
    wanted: tuple[str, ...] = WANTED,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the sections that would be asked for and those left out."""
    found = plan(wanted, facts_, assume_no_napi_ids=assume, arguments=lambda: argv)
    return found.sections, found.left_out


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.2.8", TOO_OLD),
        ("1.3.2", TOO_OLD),
        ("1.3.3", ""),
        ("1.4.5", ""),
        ("1.4.14 (Ubuntu)", ""),
        ("1.4.39", ""),
        ("1.5.22", ""),
        ("1.6.0", ""),
        ("1.6.8", ""),
        ("1.6.9", ASK),
        ("1.6.18", ASK),
        ("1.6.39", ASK),
        ("1.6.40", ""),
        ("1.6.45", ""),
        ("1.6", ""),
        ("1.7", ""),
        ("2.0.1_linux_1_gb5e981f", ""),
        ("UNKNOWN", ASK),
        ("mcrouter 2.0.0", ASK),
        ("", ASK),
    ],
)
def test_the_version_decides_for_a_remote_server(version: str, reason: str) -> None:
    """Settings are asked for exactly where no release or start option makes them deadly."""
    sections, left_out = decide(known(version))
    assert sections == (SAFE if reason else ALL)
    assert left_out == ({"settings": reason} if reason else {})


@pytest.mark.parametrize(
    ("version", "parsed"),
    [
        ("1.6.18", (1, 6, 18)),
        ("1.4.14 (Ubuntu)", (1, 4, 14)),
        ("1.6", (1, 6, 0)),
        ("2.0.1_linux_1_gb5e981f", (2, 0, 1)),
        ("UNKNOWN", None),
        ("mcrouter 2.0.0", None),
        ("99999.1.1", None),
    ],
)
def test_the_version_is_read(version: str, parsed: tuple[int, int, int] | None) -> None:
    """A release number at the start counts, whatever follows; other texts are no release."""
    assert known(version).version == parsed


def test_facts_are_read() -> None:
    """Process number and age come from the server's own words."""
    found = known("1.6.18", pid="4711", time="1700000100", uptime="102")
    assert found == Facts(version=(1, 6, 18), pid=4711, age=100, napi_seen=False)


def test_facts_of_nothing() -> None:
    """A reply without the keys is no error."""
    assert facts("STAT x y") == Facts(version=None, pid=0, age=0, napi_seen=False)


@pytest.mark.parametrize("counter", ["round_robin_fallback", "unexpected_napi_ids"])
@pytest.mark.parametrize("assume", [False, True])
def test_a_napi_counter_above_zero_is_proof(counter: str, assume: bool) -> None:
    """A server that shows signs of -N is never asked, even when the operator says otherwise."""
    found = known("1.6.18", **{counter: "1"})
    assert decide(found, ["memcached"], assume=assume) == (SAFE, {"settings": SIGNS})


@pytest.mark.parametrize("counter", ["round_robin_fallback", "unexpected_napi_ids"])
def test_napi_counters_do_not_matter_where_settings_are_safe(counter: str) -> None:
    """From 1.6.40 on the answer is right also with -N."""
    assert decide(known("1.6.40", **{counter: "9"})) == (ALL, {})


def test_napi_counters_of_zero_prove_nothing() -> None:
    """Connections whose NIC queues were known leave both counters at 0."""
    found = known("1.6.18", round_robin_fallback="0", unexpected_napi_ids="0")
    assert decide(found) == (SAFE, {"settings": ASK})


def test_the_operator_can_vouch_for_a_remote_server() -> None:
    """With assume_no_napi_ids everything is asked for."""
    assert decide(known("1.6.18"), assume=True) == (ALL, {})


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["memcached"], ""),
        (["memcached", "-m", "64", "-p", "11211", "-u", "memcache", "-l", "::1", "-vv"], ""),
        (["/usr/bin/memcached", "--memory-limit=64", "--slab-nobody"], ""),
        (["/opt/New/memcached"], ""),
        (["memcached", "-N", "2"], STARTED_SO),
        (["memcached", "-N2"], STARTED_SO),
        (["memcached", "-vN2"], STARTED_SO),
        (["memcached", "-vN", "2"], STARTED_SO),
        (["memcached", "--napi_ids=2"], STARTED_SO),
        (["memcached", "--napi-ids", "2"], STARTED_SO),
        (["memcached", "--nap=2"], STARTED_SO),
        (["memcached", "-m", "64", "-t", "4", "--napi_ids", "4"], STARTED_SO),
        (None, ASK),
    ],
)
def test_the_arguments_decide_for_a_local_server(argv: list[str] | None, reason: str) -> None:
    """A server on this host is asked when its command line shows no -N in any spelling."""
    sections, left_out = decide(known("1.6.18"), argv)
    assert sections == (SAFE if reason else ALL)
    assert left_out == ({"settings": reason} if reason else {})


@pytest.mark.parametrize(
    ("version", "assume"), [("1.6.8", False), ("1.6.40", False), ("1.6.18", True)]
)
def test_the_arguments_are_not_read_where_they_do_not_matter(version: str, *, assume: bool) -> None:
    """To read the arguments of a process can cost more than it seems to."""

    def arguments() -> list[str] | None:
        raise AssertionError("nobody needs to know")

    found = plan(WANTED, known(version), assume_no_napi_ids=assume, arguments=arguments)
    assert found.sections == ALL


@pytest.mark.parametrize("version", ["1.2.8", "1.6.18", "1.6.45"])
def test_only_what_was_wanted_is_asked_for_or_left_out(version: str) -> None:
    """A section that nobody wants is neither asked for nor named as left out."""
    assert decide(known(version), wanted=("stats", "slabs")) == (("slabs",), {})
    assert decide(known(version), wanted=("stats",)) == ((), {})


PROXY = "proxy_conn_requests"
STORAGE = "extstore_pages_used"


@pytest.mark.parametrize(
    ("section", "version", "sign", "reason"),
    [
        ("proxy", "1.6.45", "", ""),
        ("proxy", "1.6.14", "", ""),
        ("proxy", "1.6.14", PROXY, "needs memcached 1.6.15: releases before can die of it"),
        ("proxy", "1.6.15", PROXY, None),
        ("proxyfuncs", "1.6.45", "", ""),
        ("proxyfuncs", "1.6.23", PROXY, "needs memcached 1.6.24: 1.6.23 can die of it"),
        ("proxyfuncs", "1.6.24", PROXY, None),
        ("proxybe", "1.6.26", PROXY, "needs memcached 1.6.27"),
        ("proxybe", "1.6.27", PROXY, None),
        ("extstore", "1.6.0", "", ""),
        ("extstore", "1.6.45", "", ""),
        ("extstore", "1.6.0", STORAGE, None),
        ("extstore", "1.5.4", STORAGE, None),
        ("conns", "1.4.17", "", "needs memcached 1.4.18"),
        ("conns", "1.4.18", "", None),
        ("sizes", "1.4.26", "", "needs memcached 1.4.27: releases before stall all clients"),
        ("sizes", "1.4.27", "", None),
        ("detail", "1.2.5", "", "needs memcached 1.2.6"),
        ("detail", "1.2.6", "", None),
        ("items", "1.2.0", "", None),
        ("slabs", "UNKNOWN", "", None),
        ("proxy", "UNKNOWN", PROXY, "does not name a release"),
        ("conns", "UNKNOWN", "", "does not name a release"),
        ("sizes", "", "", "does not name a release"),
    ],
)
def test_a_section_is_asked_for_where_it_is_safe_and_says_something(
    section: str, version: str, sign: str, reason: str | None
) -> None:
    """A section that hurts is left out with a reason, one without its feature silently."""
    sections, left_out = decide(known(version, **({sign: "1"} if sign else {})), wanted=(section,))
    assert sections == ((section,) if reason is None else ())
    assert set(left_out) == ({section} if reason else set())
    assert (reason or "") in left_out.get(section, "")


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda snapshot: snapshot.name)
def test_recorded_servers(snapshot: Snapshot) -> None:
    """Every recorded release gets the sections that it survives, by its own command line."""
    recording = json.loads((RECORDINGS / snapshot.case / "case.json").read_text())
    found = facts(reading(snapshot.replies).bodies["stats"])
    name = snapshot.case.partition("-")[0]
    text = {"deb1618": "1.6.18", "new": "1.6.45"}.get(name, name.removeprefix("old"))
    release = tuple(map(int, text.split(".")))
    assert found.version == release
    assert not found.napi_seen
    assert found.signs == {
        sign
        for case, sign in (("deb1618-extstore", STORAGE), ("new-proxy", PROXY))
        if case == snapshot.case
    }
    local = decide(found, recording["argv"].split())
    assert local == ((SAFE, {"settings": TOO_OLD}) if release == (1, 2, 8) else (ALL, {}))
    assert decide(found)[0] == (SAFE if release in {(1, 2, 8), (1, 6, 18)} else ALL)
