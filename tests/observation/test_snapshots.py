"""A snapshot says what the page says."""

import time
from collections.abc import Mapping

from exporter.catalogue.host.collectors import HOST_SECTIONS, PROCESS_SECTIONS
from exporter.configuration import HostSettings, Module
from exporter.exposition import Format, host_page, page
from exporter.host.collector import Collector
from exporter.host.host import Portion, Subject
from exporter.host.sources import HOST_SOURCES
from exporter.memcached.member import Outcome
from exporter.memcached.translation import suffix
from exporter.observation.snapshots import host_snapshot, server_snapshot
from tests.memcached.support import LABELS, SNAPSHOTS, reading, recorded, stats_reply, translate
from tests.processes import parse

MODULE = Module(name="default", timeout=1, sections=(), assume_no_napi_ids=False, max_reply_bytes=9)


def outcome(case: str, *, labelled: bool) -> Outcome:
    """Return the outcome of a scrape of a recorded server."""
    result = translate(recorded(case), labelled=labelled)
    own = suffix(LABELS) if labelled else ""
    return Outcome(result, own, MODULE, Subject("127.0.0.1:11211", LABELS), taken=12.5)


def outcome_of(replies: Mapping[str, bytes]) -> Outcome:
    """Return the outcome of a scrape that brought these replies."""
    return Outcome(translate(reading(replies)), "", MODULE, Subject("x", ()), taken=12.5)


def test_a_snapshot_has_every_sample_of_a_page() -> None:
    """Names, labels and numbers are those of the page, less the labels of the server."""
    cases = {snapshot.case for snapshot in SNAPSHOTS if not snapshot.moment}
    assert len(cases) > 20
    for case in cases:
        for labelled in (True, False):
            read = outcome(case, labelled=labelled)
            shown = parse(page([(read.result.samples, read.suffix)], Format.TEXT))
            found = server_snapshot(read)
            assert {
                (name, frozenset(labels)): value
                for name, series in found.families.items()
                for labels, value in series.items()
            } == {(name, labels - set(LABELS)): value for (name, labels), value in shown.items()}


def test_a_snapshot_knows_when_the_server_answered() -> None:
    """Rates need that moment, not the one at which the last of a fleet had answered."""
    assert server_snapshot(outcome("deb1618-default", labelled=True)).taken == 12.5


def test_escaped_labels_become_text_again() -> None:
    """Quotes, backslashes and line ends that a server sends are what they were."""
    version = 'a"b\\n\\\\c}{,'
    result = translate(reading({"stats": stats_reply(pid="1", version=version)}))
    read = Outcome(result, "", MODULE, Subject("x", ()))
    assert server_snapshot(read).text("version", "memcached_version_info") == version


def test_families_that_are_not_there() -> None:
    """They are absent, and asking for them is no fault."""
    found = server_snapshot(outcome("old1.2.8-default", labelled=True))
    assert "memcached_reserved_fds" not in found.families
    assert found.value("memcached_reserved_fds") is None
    assert "memcached_current_items" in found.families
    assert len(found.families) == len(list(found.families)) > 20


def test_the_host_has_every_sample_of_a_page() -> None:
    """Each collector's samples come under the names and labels of the page."""
    settings = HostSettings(collectors=frozenset(HOST_SOURCES))
    portions = [
        Portion(Collector(section, HOST_SOURCES[section.name](settings)).gather())
        for section in HOST_SECTIONS
    ]
    shown = parse(host_page(portions, Format.TEXT))
    about_itself = {key for key in shown if key[0].startswith("memcached_host_collector_")}
    before = time.monotonic()
    found = host_snapshot(portions)
    assert before <= found.taken <= time.monotonic()
    assert {
        (name, frozenset(labels)): value
        for name, series in found.families.items()
        for labels, value in series.items()
    } == {key: value for key, value in shown.items() if key not in about_itself}
    assert found.value("memcached_host_cpus", state="online")


def test_the_process_is_part_of_its_server() -> None:
    """Its families stand beside those of `stats`."""
    section = next(section for section in PROCESS_SECTIONS if section.name == "process")
    portion = Portion(Collector(section, lambda: [("fd", (), 31.0)]).gather(), LABELS)
    found = server_snapshot(outcome("deb1618-default", labelled=True), [portion])
    assert found.value("memcached_process_open_fds") == 31.0
    assert found.value("memcached_max_connections") == 1024.0
