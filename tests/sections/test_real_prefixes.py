"""Statistics per key prefix of real servers, which count because the test told them to."""

import contextlib
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from exporter.memcached.aggregation import Limits
from tests.memcached.pages import Page
from tests.processes import Memcached
from tests.sections.support import ask, ask_in_binary, body, translate

NAMES = ("gets", "get_hits", "sets", "deletes")
Shown = dict[str, tuple[float, ...]]


@pytest.fixture
def detailed(memcached: Callable[..., Memcached]) -> Memcached:
    """Start a real memcached that counts per prefix."""
    server = memcached()
    assert ask(server, b"stats detail on\r\n", b"OK\r\n") == b"OK\r\n"
    return server


@pytest.fixture
def cache(detailed: Memcached) -> Iterator[Any]:
    """Connect a client that waits for each answer."""
    with contextlib.closing(detailed.client()) as client:
        client.default_noreply = False
        yield client


def shown(page: Page) -> Shown:
    """Scrape and return gets, hits, sets and deletes by prefix."""
    page()
    prefixes = {
        dict(labels)["prefix"] for name, labels in page.samples if name.startswith("memcached_pref")
    }
    found = {
        prefix: tuple(page.get(f"memcached_prefix_{name}_total", prefix=prefix) for name in NAMES)
        for prefix in prefixes
    }
    return {prefix: tuple(n for n in numbers if n is not None) for prefix, numbers in found.items()}


def stored_in_binary(key: bytes) -> bytes:
    """Return a binary request that stores an item: such keys may hold any byte."""
    length = 8 + len(key) + 1
    header = struct.pack(">BBHBBHIIQ", 0x80, 1, len(key), 8, 0, 0, length, 0, 0)
    return header + bytes(8) + key + b"1"


def test_counts_are_exact(detailed: Memcached, cache: Any, sectioned: Callable[..., Page]) -> None:
    """Gets, hits, sets and deletes of each prefix are those that the client has sent."""
    page = sectioned(detailed.address)
    assert shown(page) == {}
    for number in range(5):
        cache.set(f"user:{number}", b"x")
    for number in range(8):
        cache.get(f"user:{number}")
    cache.delete("user:0")
    cache.get_many([f"page:{number}" for number in range(3)])
    cache.delete("page:9")
    cache.delete("page:8")
    cache.set("nobody", b"has no prefix")
    assert shown(page) == {"user": (8, 5, 5, 1), "page": (3, 0, 0, 2)}
    assert page.get("memcached_settings_detail_enabled") == 1
    assert page.get("memcached_scrape_section_success", section="detail") == 1


def test_the_cap(detailed: Memcached, cache: Any, sectioned: Callable[..., Page]) -> None:
    """Beyond max_prefixes all is in `other`, also a prefix that is called so."""
    page = sectioned(detailed.address, max_prefixes=3)
    for number in range(1, 7):
        for time in range(number):
            cache.set(f"p{number}:{time}", b"x")
    for _ in range(50):
        cache.get("other:key")
    assert shown(page) == {
        "p6": (0, 0, 6, 0),
        "p5": (0, 0, 5, 0),
        "p4": (0, 0, 4, 0),
        "other": (50, 0, 6, 0),
    }


def test_series_stay_and_a_reset_begins_anew(
    detailed: Memcached, cache: Any, sectioned: Callable[..., Page]
) -> None:
    """A prefix keeps its series when others overtake it; `stats reset` frees it."""
    page = sectioned(detailed.address, max_prefixes=1)
    cache.get("first:1")
    assert shown(page) == {"first": (1, 0, 0, 0)}
    rest = 0.0
    for step in range(1, 6):
        for number in range(10):
            cache.get(f"second:{number}")
            cache.get(f"third:{number}")
        found = shown(page)
        assert found == {"first": (1, 0, 0, 0), "other": (20 * step, 0, 0, 0)}
        assert found["other"][0] > rest
        rest = found["other"][0]
    assert ask(detailed, b"stats reset\r\n", b"RESET\r\n") == b"RESET\r\n"
    cache.get("second:1")
    assert shown(page) == {"second": (1, 0, 0, 0)}


def test_odd_names(detailed: Memcached, cache: Any, sectioned: Callable[..., Page]) -> None:
    """Prefixes with quotes, backslashes, blanks, line feeds and other alphabets come through."""
    page = sectioned(detailed.address)
    names = ['say "hi"', "a\\b", "two words", "line\nfeed", "get 1 hit 2 set 3 del 4", "ü", "{a=1}"]
    requests = [stored_in_binary(f"{name}:1".encode()) for name in names]
    assert ask_in_binary(detailed, *requests) == [0] * len(names)
    assert shown(page) == dict.fromkeys(names, (0, 0, 1, 0))


def test_names_that_are_no_text(
    detailed: Memcached, cache: Any, sectioned: Callable[..., Page]
) -> None:
    """Of prefixes that are not UTF-8 no count is lost."""
    page = sectioned(detailed.address)
    for key in (b"\xff:1", b"\xfe:1", b"\xff\xfe:1"):
        ask(detailed, b"get " + key + b"\r\n")
    assert sum(gets for gets, *_ in shown(page).values()) == 3


def test_a_prefix_with_an_end_in_it(
    detailed: Memcached, cache: Any, sectioned: Callable[..., Page]
) -> None:
    """A client's key that looks like the end of a reply cannot blank the server's metrics."""
    page = sectioned(detailed.address)
    cache.get("user:1")
    assert page().get("memcached_up") == 1
    assert ask_in_binary(detailed, stored_in_binary(b"x\r\nEND\r\nSTAT pid 1:1")) == [0]
    for _ in range(3):
        assert page().get("memcached_up") == 1
        assert page.get("memcached_current_items") == 1
        assert page.get("memcached_scrape_section_success", section="items") == 1


def test_the_exporter_does_not_switch_it_on(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A server that does not count stays as it is."""
    server = memcached()
    page = sectioned(server.address)
    assert shown(page) == {}
    with contextlib.closing(server.client()) as client:
        client.get("user:1")
    assert shown(page) == {}
    assert page.get("memcached_settings_detail_enabled") == 0
    assert server.stats("settings")["detail_enabled"] == "no"


def test_scrapes_at_once_do_not_disturb_each_other() -> None:
    """Two scrapes that both find prefixes gone do not fail."""
    limits = Limits(max_prefixes=50)
    full = {"detail": body(*(f"PREFIX p{n} get 1 hit 1 set 1 del 1" for n in range(50)))}
    empty = {"detail": body()}

    def scrape(number: int) -> int:
        return len(translate(empty if number % 2 else full, limits).malformed)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(scrape, range(400))) == {0}
