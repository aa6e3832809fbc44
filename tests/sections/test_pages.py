"""Whole pages with all sections: the same samples in both formats, read by both parsers."""

import contextlib
import re
from collections.abc import Callable

import pytest

from exporter.catalogue import SECTIONS
from exporter.catalogue.scrape import SCRAPE
from exporter.exposition import Format, page
from exporter.memcached.aggregation import Limits
from exporter.memcached.translation import suffix
from tests.memcached.oracle import expected, pairs
from tests.memcached.pages import Page
from tests.memcached.support import Samples, parsed, promtool, render
from tests.processes import Memcached
from tests.sections.support import LABELS, WHOLE, replies, samples, translate

LIMITS = Limits(top_clients=5)
SUMMED = ("conns", "extstore", "sizes", "detail")
SUMMED_NAMES = (
    *("memcached_open_connections", "memcached_client_connections", "memcached_extstore_bucket"),
    *("memcached_item_size", "memcached_prefix", "memcached_responses_w", "memcached_io_queues_w"),
)
OF_A_SCRAPE = {row.name for row in SCRAPE.rows}


def own(found: Samples) -> Samples:
    """Return the samples that are translated line by line."""
    return {
        (name, labels): number
        for (name, labels), number in found.items()
        if name not in OF_A_SCRAPE and not name.startswith(SUMMED_NAMES)
    }


@pytest.mark.parametrize("labels", [(), LABELS], ids=["bare", "labelled"])
@pytest.mark.parametrize("case", WHOLE)
def test_both_formats_say_the_same(case: str, labels: tuple[tuple[str, str], ...]) -> None:
    """The client library reads the same samples from both formats, each with its labels."""
    result = translate(replies(case), LIMITS, labelled=bool(labels))
    text = parsed(render(result, Format.TEXT, labels), Format.TEXT)
    assert parsed(render(result, Format.OPENMETRICS, labels), Format.OPENMETRICS) == text
    assert len(text) == sum(len(family) for family in result.samples)
    assert all(set(labels) <= found for _, found in text)


@pytest.mark.parametrize("case", WHOLE)
def test_all_lines_are_translated_as_an_oracle_does(case: str) -> None:
    """A second, slow reading of the catalogue gives the same samples for all plain sections."""
    given = {name: pairs(reply) for name, reply in replies(case).items() if name not in SUMMED}
    right = expected(given)
    absurd = {key for key in right if key[0].endswith("listener_disabled_seconds_total")}
    found = own(samples(replies(case), LIMITS))
    assert {key: number for key, number in found.items() if key not in absurd} == {
        key: number for key, number in right.items() if key not in absurd
    }


@pytest.mark.parametrize("form", Format)
def test_heads(form: Format) -> None:
    """Each family has one head, before its samples, with the type that its format knows."""
    for case in ("new-proxy", "deb1618-extstore", "old1.4.39-modern"):
        text = render(translate(replies(case), LIMITS), form)
        heads = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
        names = [name for name, _ in heads]
        assert len(set(names)) == len(names)
        assert re.findall(r"^# HELP (\S+) ", text, re.MULTILINE) == names
        for line in text.splitlines():
            if line.startswith("# TYPE memcached_item_size_bytes "):
                kind = "histogram" if form is Format.TEXT else "gaugehistogram"
                assert line.endswith(f" {kind}")


def test_item_sizes_in_openmetrics() -> None:
    """The distribution of the present is a gauge histogram, whose buckets need no sum."""
    text = render(translate(replies("old1.4.39-modern")), Format.OPENMETRICS)
    lines = [line for line in text.splitlines() if "item_size_bytes" in line]
    assert lines[1] == "# TYPE memcached_item_size_bytes gaugehistogram"
    assert len(lines) == 2 + 16
    assert lines[-1] == 'memcached_item_size_bytes_bucket{le="+Inf"} 251'
    assert all(line.startswith("memcached_item_size_bytes_bucket{le=") for line in lines[2:])


def test_many_servers_on_a_page() -> None:
    """Servers of all kinds share a page, family by family, without mixing up their samples."""
    for form in Format:
        servers = []
        right: Samples = {}
        for case in WHOLE[::4]:
            labels = (("server", case), ("kind", 'a "b" \\ c\nd'))
            result = translate(replies(case), LIMITS, labelled=True)
            servers.append((result.samples, suffix(labels)))
            right |= parsed(render(result, form, labels), form)
        text = page(servers, form) + ("# EOF\n" if form is Format.OPENMETRICS else "")
        assert parsed(text, form) == right
        names = re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE)
        assert len(names) == len(set(names))
        if form is Format.TEXT:
            assert promtool(text) == ""


def test_families_of_all_sections_can_be_shown() -> None:
    """Together the recordings show nearly all families; those that none shows are known."""
    shown = {name for case in WHOLE for name, _ in samples(replies(case), LIMITS)}
    shown = {name.removesuffix("_bucket") for name in shown}
    names = {row.name for section in SECTIONS for row in section.rows}
    assert names - shown == {
        "memcached_config_commands_total",  # Amazon's servers
        "memcached_extstore_compact_rescued_cold_total",  # storage of 1.6.25
        "memcached_extstore_compact_rescued_old_total",
        "memcached_extstore_memory_pressure_ratio",  # storage of 1.6.34
        "memcached_io_queues_waiting",  # 1.6.27 to 1.6.34
        "memcached_proxy_await_active",  # proxies of 1.6.18 to 1.6.29
        "memcached_responses_waiting",  # 1.6.35 with something to wait for
        "memcached_settings_drop_privileges_enabled",  # builds that can drop privileges
        "memcached_settings_expirezero_does_not_evict_enabled",  # up to 1.4.34
        "memcached_settings_hot_max_age_seconds",  # 1.4.35 to 1.4.37
        "memcached_slab_noexp_items",  # up to 1.4.34
        "memcached_slab_temporary_items",  # temp_lru
    }


def test_a_page_of_the_daemon_in_both_formats(
    memcached: Callable[..., Memcached], sectioned: Callable[..., Page]
) -> None:
    """The daemon's pages of a real server with everything switched on can be read in both."""
    server = memcached("-o", "track_sizes")
    with contextlib.closing(server.client()) as client:
        client.set("user:1", b"x" * 100, noreply=False)
    shown = sectioned(
        server.address,
        top_clients=3,
        probe={"interval": "5ms", "canary_key": "canary"},
    )
    names = []
    for form in Format:
        shown()
        answer = shown.daemon.request("/metrics", Accept=form.value)
        found = parsed(answer.text, form)
        names.append({(name, labels) for name, labels in found if name.startswith("memcached_")})
        assert found
    assert names[0] == names[1]
