"""Pages: golden ones of four releases, and labels that hold anything.

``REGENERATE_GOLDEN=1 python -m pytest tests/test_exposition.py`` writes the golden pages anew: look
at the difference before you keep it.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from exporter.catalogue import FAMILIES, Family
from exporter.catalogue.row import Kind
from exporter.exposition import Format, page
from exporter.memcached.translation import Translator, suffix
from tests.memcached.support import (
    LABELS,
    parsed,
    promtool,
    reading,
    recorded,
    render,
    stats_reply,
    translate,
)
from tests.processes import Exporter, FakeMemcached, sample

GOLDEN = Path(__file__).parent / "golden"
ENDINGS = {Format.TEXT: "prom", Format.OPENMETRICS: "openmetrics"}
CASES = {
    "memcached-1.2.8": ("old1.2.8-default", (Format.TEXT, Format.OPENMETRICS)),
    "memcached-1.4.39": ("old1.4.39-default", (Format.TEXT,)),
    "memcached-1.6.18-evictions": ("deb1618-evictions", (Format.TEXT,)),
    "memcached-1.6.45": ("new-default", (Format.TEXT, Format.OPENMETRICS)),
}
FILES = [
    (f"{name}.{ENDINGS[form]}", case, form)
    for name, (case, formats) in CASES.items()
    for form in formats
]

TRICKY = ('"', "\\", "\n", "\r", "\r\n", '\\"', "\\n", "\\\\", '"} 1\nevil{a="', " ", "", "{}#=,")
LABEL_VALUES = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(codec="utf-8")),
    st.lists(st.sampled_from(TRICKY)).map("".join),
)


@pytest.mark.parametrize(("file", "case", "form"), FILES, ids=[file for file, *_ in FILES])
def test_golden_pages(file: str, case: str, form: Format) -> None:
    """The page of a recorded server is, to the byte, the one that was looked at and kept."""
    text = render(translate(recorded(case), labelled=True), form, LABELS)
    path = GOLDEN / file
    if os.environ.get("REGENERATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.prom")), ids=lambda path: path.name)
def test_promtool_has_nothing_to_say_about_golden_pages(path: Path) -> None:
    """Names, types and help texts follow the rules of Prometheus' own linter."""
    assert promtool(path.read_text()) == ""


def test_every_golden_page_is_made_by_a_case() -> None:
    """No file is left over from a case that is gone."""
    assert {path.name for path in GOLDEN.iterdir() if path.is_file()} == {
        file for file, *_ in FILES
    }


def test_families_stand_once_and_in_order() -> None:
    """Two servers share the head of a family, under which both have their samples."""
    results = [translate(recorded(case), labelled=True) for case, _ in CASES.values()]
    labels = [suffix((("server", name),)) for name in CASES]
    lines = page(
        zip((result.samples for result in results), labels, strict=True), Format.TEXT
    ).splitlines()
    heads = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert heads == sorted(heads, key=[family.name for family in FAMILIES].index)
    assert len(heads) == len(set(heads))
    ups = lines.index("# TYPE memcached_up gauge")
    assert lines[ups + 1 : ups + 5] == [f'memcached_up{{server="{name}"}} 1' for name in CASES]


def test_a_family_without_samples_has_no_head() -> None:
    """What a server does not send is not on the page at all."""
    text = render(Translator(open_ended=False).failure(0.5), Format.TEXT)
    heads = [line for line in text.splitlines() if line.startswith("# TYPE ")]
    assert heads == [
        "# TYPE memcached_up gauge",
        "# TYPE memcached_scrape_duration_seconds gauge",
    ]


def test_no_servers_make_an_empty_page() -> None:
    """Nothing to show is an empty text, which both formats allow."""
    assert page([], Format.TEXT) == ""
    assert page([], Format.OPENMETRICS) == ""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_heads_of_both_formats(family: Family) -> None:
    """The text format knows no info type; OpenMetrics names a family without its suffix."""
    samples: list[dict[str, str]] = [{} for _ in FAMILIES]
    samples[family.index] = {f"{family.name} ": "1"}
    ending = {Kind.COUNTER: "_total", Kind.INFO: "_info"}.get(family.kind, "")
    bare = family.name.removesuffix(ending)
    only_new = {Kind.INFO: "gauge", Kind.UNKNOWN: "untyped", Kind.GAUGE_HISTOGRAM: "histogram"}
    kind = only_new.get(family.kind, family.kind.value)
    assert page([(samples, "")], Format.TEXT).splitlines() == [
        f"# HELP {family.name} {family.help}",
        f"# TYPE {family.name} {kind}",
        f"{family.name} 1",
    ]
    quoted = family.help.replace('"', '\\"')
    kind = {Kind.HISTOGRAM: "gaugehistogram"}.get(family.kind, family.kind.value)
    assert page([(samples, "")], Format.OPENMETRICS).splitlines() == [
        f"# HELP {bare} {quoted}",
        f"# TYPE {bare} {kind}",
        f"{family.name} 1",
    ]


@pytest.mark.parametrize("form", Format, ids=lambda item: item.name)
@given(server=LABEL_VALUES, cluster=LABEL_VALUES)
@example(server='/run/a "b"\\c\nd\r.sock', cluster="\u2028\x85\x00")
def test_labels_of_a_server_round_trip(
    server: str,
    cluster: str,
    form: Format,
) -> None:
    """Whatever stands in a configured label comes out of a parser as it was."""
    labels = (("server", server), ("cluster", cluster))
    read = reading({"stats": stats_reply(uptime="5", version="1.6.18")})
    found = parsed(render(translate(read, labelled=True), form, labels), form)
    assert found[sample("memcached_uptime_seconds", server=server, cluster=cluster)] == 5
    key = sample("memcached_version_info", version="1.6.18", server=server, cluster=cluster)
    assert found[key] == 1


@pytest.mark.parametrize("form", Format, ids=lambda item: item.name)
@given(raw=st.one_of(st.binary(), LABEL_VALUES.map(str.encode)))
@example(raw=b'1.6 "q\\z')
@example(raw=b"caf\xc3\xa9 \xff\xfe")
def test_texts_of_a_server_round_trip(raw: bytes, form: Format) -> None:
    """A text value is read as UTF-8, bad bytes as U+FFFD, and comes out of a parser as it was."""
    assume(b"\r\n" not in raw)
    read = reading({"stats": b"STAT uptime 5\r\nSTAT version " + raw + b"\r\nEND\r\n"})
    found = parsed(render(translate(read), form), form)
    versions = [dict(labels) for name, labels in found if name == "memcached_version_info"]
    text = raw.decode("utf-8", "replace")
    assert versions == ([] if text in {"", "NULL", "(null)"} else [{"version": text}])


def test_a_hostile_version_reaches_the_page_of_the_daemon_intact(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter]
) -> None:
    """Quotes, backslashes and bytes that are no UTF-8 neither break the page nor get lost."""
    server = fake("--set", 'version 1.6 "q\\z \udcff caf\u00e9')
    daemon = exporter(f"--memcached.address={server.address}")
    text = daemon.request("/metrics").text
    assert promtool(text) == ""
    samples = daemon.samples()
    version = '1.6 "q\\z \ufffd caf\u00e9'
    labels = {"version": version, "pointer_size": "64", "server": server.address}
    assert samples[sample("memcached_version_info", **labels)] == 1
