"""Which commands are sent, with all sections asked for: to every recorded server, by release."""

import itertools

import pytest

from exporter.memcached.plan import Facts, facts, plan
from tests.memcached.oracle import pairs
from tests.memcached.support import reading, stats_reply
from tests.sections.support import ALL, COMMANDS, SPECIAL, WHOLE, arguments, raw

OLDEST = ("slabs", "items", "detail")
OLD = ("settings", *OLDEST)
COMMON = ("settings", "slabs", "items", "conns", "sizes", "detail")
UNSURE = COMMON[1:]
STORAGE = ("settings", "slabs", "items", "extstore", "conns", "sizes", "detail")
PROXY = ("settings", "slabs", "items", "proxy", "proxyfuncs", "proxybe", *COMMON[3:])

TABLE = {
    "deb1618-B_ascii": (COMMON, UNSURE),
    "deb1618-X_F_W": (COMMON, UNSURE),
    "deb1618-asciiauth": (COMMON, UNSURE),
    "deb1618-binary_auto": (COMMON, UNSURE),
    "deb1618-default": (COMMON, UNSURE),
    "deb1618-default_empty": (COMMON, UNSURE),
    "deb1618-evictions": (COMMON, UNSURE),
    "deb1618-extstore": (STORAGE, STORAGE[1:]),
    "deb1618-large_item": (COMMON, UNSURE),
    "deb1618-m64_full": (COMMON, UNSURE),
    "deb1618-manyclasses_f1.04": (COMMON, UNSURE),
    "deb1618-maxconns": (COMMON, UNSURE),
    "deb1618-maxconns_c20_t1": (COMMON, UNSURE),
    "deb1618-maxconns_slow": (COMMON, UNSURE),
    "deb1618-misc": (COMMON, UNSURE),
    "deb1618-modern_automove": (COMMON, UNSURE),
    "deb1618-no_modern": (COMMON, UNSURE),
    "deb1618-nocas": (COMMON, UNSURE),
    "deb1618-threads16_idle": (COMMON, UNSURE),
    "deb1618-tls": (COMMON, UNSURE),
    "deb1618-tls_client_to_plain": (COMMON, UNSURE),
    "deb1618-udp": (COMMON, UNSURE),
    "deb1618-unix": (COMMON, UNSURE),
    "new-asciiauth": (COMMON, COMMON),
    "new-default": (COMMON, COMMON),
    "new-default_empty": (COMMON, COMMON),
    "new-evictions": (COMMON, COMMON),
    "new-maxconns": (COMMON, COMMON),
    "new-misc": (COMMON, COMMON),
    "new-proxy": (PROXY, PROXY),
    "new-proxy_backend1": (COMMON, COMMON),
    "new-proxy_backend2": (COMMON, COMMON),
    "new-tls": (COMMON, COMMON),
    "new-tls_session_cache": (COMMON, COMMON),
    "old1.2.8-default": (OLDEST, OLDEST),
    "old1.2.8-evictions": (OLDEST, OLDEST),
    "old1.4.15-default": (OLD, OLD),
    "old1.4.15-evictions": (OLD, OLD),
    "old1.4.15-manyclasses_f1.05": (OLD, OLD),
    "old1.4.39-default": (COMMON, COMMON),
    "old1.4.39-maxconns_slow": (COMMON, COMMON),
    "old1.4.39-modern": (COMMON, COMMON),
    "old1.4.5-default": (OLD, OLD),
    "old1.4.5-evictions": (OLD, OLD),
    "old1.5.22-default": (COMMON, COMMON),
    "old1.6.0-default": (COMMON, COMMON),
    "old1.6.0-evictions": (COMMON, COMMON),
}
"""Sections that are asked for besides `stats`: by a local exporter, and by a remote one."""

RELEASES = [
    *((1, 2, patch) for patch in range(9)),
    *((1, 3, patch) for patch in range(4)),
    *((1, 4, patch) for patch in range(40)),
    *((1, 5, patch) for patch in range(23)),
    *((1, 6, patch) for patch in range(46)),
]
FEATURES = list(itertools.product([False, True], repeat=3))
"""Whether a server has external storage, is a proxy, and was started with -N."""


def hurts(
    version: tuple[int, int, int], command: str, *, storage: bool, proxy: bool, napi: bool
) -> bool:
    """Return whether a command kills, stalls or annoys a server, written down anew."""
    deadly_settings = napi and (1, 6, 9) <= version <= (1, 6, 39)
    harmless = {
        "stats": True,
        "stats items": True,
        "stats slabs": True,
        "stats detail dump": version >= (1, 2, 6),
        "stats settings": version >= (1, 3, 3) and not deadly_settings,
        "stats extstore": version >= (1, 5, 4) and storage,
        "stats sizes": version >= (1, 4, 27),
        "stats conns": version >= (1, 4, 18),
        "stats proxy": version >= (1, 6, 15) and proxy,
        "stats proxyfuncs": version >= (1, 6, 24) and proxy,
        "stats proxybe": version >= (1, 6, 27) and proxy,
    }
    return not harmless[command]


def known(case: str) -> Facts:
    """Return the facts that a recording shows."""
    stats = raw(case, "stats")
    assert stats is not None
    return facts(reading({"stats": stats}).bodies["stats"])


def of_release(version: tuple[int, ...], **counters: str) -> Facts:
    """Return the facts of a server of some release."""
    stats = stats_reply(version=".".join(map(str, version)), **counters)
    return facts(reading({"stats": stats}).bodies["stats"])


def asked(known_: Facts, argv: list[str] | None = None, *, assume: bool = False) -> list[str]:
    """Return the commands that are sent besides `stats`, with all sections asked for."""
    found = plan(
        ALL,
        known_,
        assume_no_napi_ids=assume,
        arguments=lambda: argv,
    )
    return [COMMANDS[section] for section in found.sections]


def test_the_table_is_whole() -> None:
    """Every recording is in the table."""
    assert set(WHOLE) == set(TABLE)
    assert len(ALL) == 11
    assert set(SPECIAL) <= set(TABLE)


@pytest.mark.parametrize("case", TABLE)
def test_a_recorded_server_on_this_host(case: str) -> None:
    """A local exporter, which sees the command line, sends exactly these commands."""
    assert asked(known(case), arguments(case)) == [COMMANDS[name] for name in TABLE[case][0]]


@pytest.mark.parametrize("case", TABLE)
def test_a_recorded_server_elsewhere(case: str) -> None:
    """A remote exporter sends exactly these commands, with settings only where they are safe."""
    assert asked(known(case)) == [COMMANDS[name] for name in TABLE[case][1]]
    assert asked(known(case), assume=True) == [COMMANDS[name] for name in TABLE[case][0]]


@pytest.mark.parametrize("case", TABLE)
def test_no_recorded_server_is_sent_what_hurts_it(case: str) -> None:
    """None of the commands that a release dies of, stalls at or does not know is sent to it."""
    found = known(case)
    assert found.version is not None
    keys = pairs(raw(case, "stats") or b"")
    for command in asked(found, arguments(case)) + asked(found) + asked(found, assume=True):
        assert not hurts(
            found.version,
            command,
            storage="extstore_pages_used" in keys,
            proxy="proxy_conn_requests" in keys,
            napi="-N" in arguments(case),
        )


@pytest.mark.parametrize(("storage", "proxy", "napi"), FEATURES)
def test_no_release_is_sent_what_hurts_it(storage: bool, proxy: bool, napi: bool) -> None:
    """All releases from 1.2.0 to 1.6.45, with and without what makes commands deadly, survive."""
    counters = {"extstore_pages_used": "1"} if storage else {}
    counters |= {"proxy_conn_requests": "1"} if proxy else {}
    argv = ["memcached", "-N", "2"] if napi else ["memcached", "-m", "64"]
    for version in RELEASES:
        found = of_release(version, **counters)
        signs = of_release(version, **counters, round_robin_fallback="1")
        sent = [*asked(found, argv), *asked(found), *(asked(signs, assume=True) if napi else [])]
        for command in sent:
            assert not hurts(version, command, storage=storage, proxy=proxy, napi=napi), version
        assert {"stats items", "stats slabs"} <= set(sent)


def test_what_is_safe_is_asked() -> None:
    """Caution costs nothing: what does not hurt and says something is asked of a local server."""
    for version in RELEASES:
        found = of_release(version, extstore_pages_used="1", proxy_conn_requests="1")
        harmless = {
            command
            for command in COMMANDS.values()
            if not hurts(version, command, storage=True, proxy=True, napi=False)
        }
        assert set(asked(found, ["memcached"])) == harmless - {"stats"}, version


@pytest.mark.parametrize("version", ["UNKNOWN", "mcrouter 2.0.0", ""])
def test_who_names_no_release_is_asked_little(version: str) -> None:
    """Software that is no release of memcached is sent the safe minimum."""
    reply = stats_reply(version=version, extstore_pages_used="1", proxy_conn_requests="1")
    found = facts(reading({"stats": reply}).bodies["stats"])
    assert asked(found) == ["stats slabs", "stats items"]


def test_commands_are_whole_words() -> None:
    """From 1.6.40 an abbreviation such as `stats r` is a reset: nothing is abbreviated."""
    assert list(COMMANDS.values()) == [
        "stats",
        "stats settings",
        "stats slabs",
        "stats items",
        "stats proxy",
        "stats proxyfuncs",
        "stats proxybe",
        "stats extstore",
        "stats conns",
        "stats sizes",
        "stats detail dump",
    ]
