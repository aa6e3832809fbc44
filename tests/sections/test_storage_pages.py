"""`stats extstore` becomes sums by bucket: the recording, made-up replies, and a real server."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.memcached.oracle import pairs
from tests.memcached.pages import Page
from tests.memcached.support import Samples, store
from tests.processes import Memcached
from tests.sections.support import ask, body, family, replies, samples

PAGES = "memcached_extstore_bucket_pages"
BYTES = "memcached_extstore_bucket_bytes"


def page(number: int, version: str, size: str, bucket: str, free_bucket: str = "0") -> list[str]:
    """Return the lines of one page of the storage."""
    return [
        f"STAT {number}:version {version}",
        f"STAT {number}:bytes {size}",
        f"STAT {number}:bucket {bucket}",
        f"STAT {number}:free_bucket {free_bucket}",
    ]


def used(found: Samples) -> dict[str, float]:
    """Return the pages with data by bucket."""
    return {key[0]: n for key, n in family(found, PAGES).items() if "free" not in key}


def sizes(found: Samples) -> dict[str, float]:
    """Return the bytes by bucket."""
    return {key[0]: n for key, n in family(found, BYTES).items()}


def free(found: Samples) -> set[float]:
    """Return what is called free, in either section."""
    called = [n for key, n in family(found, PAGES).items() if "free" in key]
    return {*called, *family(found, "memcached_extstore_pages_free").values()}


def test_the_recording() -> None:
    """Three pages of the recorded server hold data; one is free and four are being written."""
    found = samples(replies("deb1618-extstore"))
    assert used(found) == {"0": 3}
    assert sizes(found) == {"0": 8385987 + 8377230 + 8388310}
    assert free(found) == {1}


def test_buckets_are_told_apart() -> None:
    """Pages and bytes are summed by the bucket of the page."""
    lines = [
        *page(0, "7", "100", "0"),
        *page(1, "9", "50", "1"),
        *page(2, "12", "25", "1"),
        *page(3, "0", "0", "0", "3"),
        *page(4, "4294967296", "0", "3", "3"),
    ]
    found = samples({"extstore": body(*lines)})
    assert used(found) == {"0": 1, "1": 2, "3": 1}
    assert sizes(found) == {"0": 100, "1": 75, "3": 0}


def test_a_release_without_free_buckets() -> None:
    """Up to 1.5.9 a page has no free_bucket."""
    lines = [*page(0, "7", "100", "2")[:3], *page(1, "0", "0", "0")[:3]]
    found = samples({"extstore": body(*lines)})
    assert used(found) == {"2": 1}
    assert sizes(found) == {"2": 100}


def test_an_empty_reply() -> None:
    """A server whose storage is off sends nothing, which becomes nothing."""
    found = samples({"extstore": b"END\r\n"})
    assert family(found, PAGES) == family(found, BYTES) == {}


def test_buckets_are_bounded() -> None:
    """Buckets that no server has are summed as `other`."""
    lines = [line for number in range(600) for line in page(number, "1", "10", str(number))]
    found = samples({"extstore": body(*lines)})
    assert len(used(found)) <= 257
    assert used(found)["other"] == 344
    assert sizes(found)["other"] == 3440
    assert sum(used(found).values()) == 600


@pytest.mark.parametrize("text", ["18446744073709551615", "-5", "x", "1.5", "9" * 5000], ids=len)
def test_odd_bytes_are_left_out(text: str) -> None:
    """A size that went below zero, or is none, is not summed and costs nothing else."""
    found = samples({"extstore": body(*page(0, "7", text, "0"), *page(1, "8", "30", "0"))})
    assert used(found) == {"0": 2}
    assert sizes(found) == {"0": 30}


@pytest.mark.parametrize("text", ["-1", "x", "9" * 5000], ids=len)
def test_odd_buckets_are_other(text: str) -> None:
    """A bucket that is no small number is `other`."""
    found = samples({"extstore": body(*page(0, "7", "10", text), *page(1, "8", "30", "0"))})
    assert used(found) == {"0": 1, "other": 1}
    assert sizes(found) == {"0": 30, "other": 10}


@pytest.fixture
def storage(memcached: Callable[..., Memcached]) -> Iterator[Memcached]:
    """Start a real memcached with external storage of eight pages."""
    with TemporaryDirectory() as directory:
        Path(directory).chmod(0o777)
        options = f"ext_page_size=8,ext_wbuf_size=4,ext_path={directory}/pages:64M,ext_item_age=1"
        yield memcached("-m", "16", "-o", options)


def told(storage: Memcached) -> dict[str, str]:
    """Return what the server says of its storage, in both sections."""
    stats = storage.stats().items()
    total = {name: value for name, value in stats if name.startswith("extstore_pages_")}
    return pairs(ask(storage, b"stats extstore\r\n")) | total


def filled(said: dict[str, str]) -> list[int]:
    """Return the pages that have data."""
    return [number for number in range(8) if said[f"{number}:version"] != "0"]


def fill_two(storage: Memcached) -> None:
    """Store until two pages have data and memcached has written what it wants to."""
    before: dict[str, str] = {}
    batches = iter(range(40))
    while (after := told(storage)) != before or len(filled(after)) < 2:
        # It moves what does not fit in memory: how much that is when it looks is its own affair.
        if after == before:
            batch = next(batches)
            store(storage, {f"{batch}-{n}": b"x" * 10_000 for n in range(600)})
        before = after
        time.sleep(0.6)


def test_a_real_server(storage: Memcached, sectioned: Callable[..., Page]) -> None:
    """What the daemon shows of a real server's pages adds up to what the server says."""
    shown = sectioned(storage.address)
    assert used(shown().samples) == {}
    assert free(shown.samples) == {float(storage.stats()["extstore_pages_free"])}
    fill_two(storage)
    said: dict[str, str] = {}
    for _ in range(100):
        said = told(storage)
        shown()
        if told(storage) == said:
            break
    pages = filled(said)
    assert used(shown.samples) == {"0": len(pages)}
    assert sizes(shown.samples) == {"0": sum(int(said[f"{number}:bytes"]) for number in pages)}
    assert free(shown.samples) == {float(said["extstore_pages_free"])}
    assert shown.get("memcached_extstore_pages_used") == float(said["extstore_pages_used"])
    assert shown.get("memcached_scrape_section_success", section="extstore") == 1


def test_a_server_without_storage_is_not_asked(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A server without external storage has no such section, and nothing is said of it."""
    shown = sectioned(memcached().address)()
    assert shown.get("memcached_up") == 1
    assert shown.get("memcached_scrape_section_success", section="extstore") is None
    assert shown.of(PAGES) == shown.of(BYTES) == []
    assert "section is left out" not in shown.daemon.log
