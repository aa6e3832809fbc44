"""`stats sizes` becomes a histogram with exact cumulative buckets."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.memcached.oracle import pairs
from tests.memcached.pages import Page
from tests.memcached.support import RECORDINGS, Samples, store
from tests.processes import Memcached
from tests.sections.support import ask, body, samples, translate

BUCKET = "memcached_item_size_bytes_bucket"
BOUNDS = tuple(2**power for power in range(6, 21))
WITH_SIZES = sorted(
    path
    for path in RECORDINGS.glob("*/stats_sizes*.txt")
    if path.read_bytes().startswith(b"STAT ") and b"sizes_status" not in path.read_bytes()
)
DISABLED = sorted(
    path.parent.name
    for path in RECORDINGS.glob("*/stats_sizes.txt")
    if path.read_bytes() == b"STAT sizes_status disabled\r\nEND\r\n"
)


def buckets(found: Samples) -> dict[str, float]:
    """Return the cumulative counts by upper bound."""
    return {dict(labels)["le"]: n for (name, labels), n in found.items() if name == BUCKET}


def cumulated(sizes: list[int]) -> dict[str, float]:
    """Return the cumulative counts of items of these sizes."""
    counts = {str(bound): float(sum(size <= bound for size in sizes)) for bound in BOUNDS}
    return counts | {"+Inf": float(len(sizes))}


@pytest.mark.parametrize("path", WITH_SIZES, ids=lambda path: path.parent.name)
def test_recorded_sizes(path: Path) -> None:
    """Each recorded item stands in all buckets from its size on."""
    recorded = path.read_bytes()
    sizes = [int(size) for size, count in pairs(recorded).items() for _ in range(int(count))]
    assert sizes
    assert buckets(samples({"sizes": recorded})) == cumulated(sizes)


def test_known_sizes_of_a_recording() -> None:
    """The buckets of a recorded 1.4.39 are known by number."""
    recorded = (RECORDINGS / "old1.4.39-modern" / "stats_sizes_enabled.txt").read_bytes()
    counts = (0, 34, 82, 100, 120, 145, 175, 203, 227, 227, 251, 251, 251, 251, 251)
    right = dict(zip(map(str, BOUNDS), map(float, counts), strict=True))
    assert buckets(samples({"sizes": recorded})) == right | {"+Inf": 251.0}


@pytest.mark.parametrize("case", DISABLED)
def test_a_server_that_does_not_track_sizes(case: str) -> None:
    """Sizes that are not tracked give no sample, and nothing strange is noted."""
    recorded = (RECORDINGS / case / "stats_sizes.txt").read_bytes()
    result = translate({"sizes": recorded})
    assert (result.unknown, result.malformed, result.dropped) == ([], [], 0)
    assert not any("item_size" in name for name, _ in samples({"sizes": recorded}))


def test_recordings_of_both_kinds_are_there() -> None:
    """Releases from 1.4.39 on do not track sizes unless told to."""
    assert len(DISABLED) == 33
    assert len(WITH_SIZES) == 6


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("STAT 64 3", [64] * 3),
        ("STAT 96 3", [96] * 3),
        ("STAT 1048576 1", [1048576]),
        ("STAT 1048608 1", [1048608]),
        ("STAT 4294967295 2", [4294967295] * 2),
        ("STAT 96 0", []),
        ("STAT 96 -1", []),
        ("STAT 96 1.5", []),
        ("STAT 96 3 ", []),
        ("STAT 96 3 STAT 96 3", []),
        ("STAT 96 12345678901234567890", []),
        ("STAT 96 18446744073709551615", []),
        ("STAT 12345678901 1", []),
        ("STAT sizes_status enabled", []),
        ("STAT sizes_error cas_support_disabled", []),
    ],
)
def test_lines_are_whole(line: str, right: list[int]) -> None:
    """A line is a size and a number of items, and nothing else, or it counts for nothing."""
    assert buckets(samples({"sizes": body("STAT 160 1", line)})) == cumulated([*right, 160])


def test_an_empty_server_has_no_histogram() -> None:
    """Without items there is nothing to tell."""
    assert buckets(samples({"sizes": b"END\r\n"})) == {}


def test_a_real_server(memcached: Callable[..., Memcached], sectioned: Callable[..., Page]) -> None:
    """Items of known sizes stand in exactly their buckets, and leave them when they are deleted."""
    server = memcached("-I", "2m", "-m", "64", "-o", "track_sizes")
    page = sectioned(server.address)
    assert buckets(page().samples) == {}
    assert page.get("memcached_settings_track_sizes_enabled") == 1
    sizes = []
    for number, length in enumerate((1, 4, 5, 68, 69, 500, 5_000, 70_000, 400_000, 1_500_000)):
        before = int(server.stats()["bytes"])
        store(server, {str(number): b"x" * length})
        sizes.append(int(server.stats()["bytes"]) - before)
    assert sizes[1:5] == [64, 65, 128, 129]
    assert buckets(page().samples) == cumulated(sizes)
    assert buckets(page.samples)["1048576"] == 9
    assert (
        ask(server, b"delete 9\r\ndelete 0\r\nmn\r\n", b"MN\r\n") == b"DELETED\r\n" * 2 + b"MN\r\n"
    )
    assert buckets(page().samples) == cumulated(sizes[1:-1])


def test_a_real_server_without_tracking(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """A server of the usual kind answers, has no histogram, and the section is a success."""
    page = sectioned(memcached().address)()
    assert buckets(page.samples) == {}
    assert page.get("memcached_scrape_section_success", section="sizes") == 1
    assert page.get("memcached_exporter_unknown_stats") == 0
