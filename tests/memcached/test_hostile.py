"""Replies that no memcached sends: nothing raises, and every page can be read."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.catalogue import SECTIONS
from exporter.exposition import Format
from exporter.memcached.translation import Result, Translator
from tests.memcached.support import LABELS, SNAPSHOTS, parsed, reading, render, translate
from tests.processes import sample

KEYS = tuple(
    f"{section.class_prefix}7:{row.key}" if row.per_class else row.key
    for section in SECTIONS
    for row in section.rows
)
ODD_TEXT = (
    st.one_of(
        st.sampled_from(
            [
                "",
                " ",
                "1",
                "-1",
                "1e400",
                "nan",
                "inf",
                '"',
                "\\",
                "\n",
                "\r",
                '"} 1',
                "NULL",
                "yes",
            ]
        ),
        st.binary(max_size=12).map(lambda raw: raw.decode("latin-1")),
        st.integers(min_value=-(2**70), max_value=2**70).map(str),
        st.floats().map(repr),
    )
    .map(lambda text: text.replace("\r\n", ""))
    .filter(lambda text: not text.endswith("\r"))
)
LINES = st.one_of(
    st.builds("STAT {} {}".format, st.sampled_from(KEYS), ODD_TEXT),
    st.builds("STAT {}:{} {}".format, ODD_TEXT, st.sampled_from(KEYS), ODD_TEXT),
    st.builds("STAT {}".format, ODD_TEXT),
    ODD_TEXT,
)
BODIES = st.lists(LINES, max_size=12).map(
    lambda lines: ("\r\n".join(["STAT uptime 5", *lines]) + "\r\nEND\r\n").encode("latin-1")
)
REPLIES = st.builds(
    lambda stats, others: {"stats": stats} | others,
    BODIES,
    st.dictionaries(st.sampled_from(["settings", "items", "slabs"]), BODIES),
)


def is_whole(raw: bytes) -> bool:
    """Return whether the reply ends where it was meant to."""
    return raw.find(b"\r\nEND\r\n") == len(raw) - len(b"\r\nEND\r\n")


@pytest.mark.parametrize("form", Format, ids=lambda item: item.name)
@pytest.mark.parametrize("labels", [(), LABELS], ids=["bare", "labelled"])
@given(replies=REPLIES)
def test_hostile_replies_make_a_page_that_can_be_read(
    replies: dict[str, bytes],
    labels: tuple[tuple[str, str], ...],
    form: Format,
) -> None:
    """Whatever the lines are, each sample is a finite number that stands once, and up is 1."""
    whole = {section: raw for section, raw in replies.items() if is_whole(raw)}
    whole.setdefault("stats", b"STAT uptime 5\r\nEND\r\n")
    result = translate(reading(whole), labelled=bool(labels))
    found = parsed(render(result, form, labels), form)
    assert len(found) == sum(map(len, result.samples))
    assert all(map(math.isfinite, found.values()))
    assert found[sample("memcached_up", **dict(labels))] == 1
    lines = sum(raw.count(b"\r\n") - 1 for raw in whole.values())
    assert len(result.unknown) + len(result.malformed) <= lines


@given(first=REPLIES, second=REPLIES)
def test_what_was_learnt_from_one_server_changes_nothing_for_the_next(
    first: dict[str, bytes], second: dict[str, bytes]
) -> None:
    """The translator that all servers share gives what a new one would."""
    shared = Translator(open_ended=True)

    def result(translator: Translator, replies: dict[str, bytes]) -> Result:
        whole = {section: raw for section, raw in replies.items() if is_whole(raw)}
        whole.setdefault("stats", b"STAT uptime 5\r\nEND\r\n")
        return translator.success(reading(whole), 0.5)

    result(shared, first)
    for replies in (second, first):
        assert result(shared, replies) == result(Translator(open_ended=True), replies)


def test_threads_do_not_mix_up_what_they_translate() -> None:
    """Scrapes of many servers at once, with one new translator, come out as one by one."""
    whole = [reading(snapshot.replies) for snapshot in SNAPSHOTS if len(snapshot.replies) >= 4]
    alone = [translate(read, labelled=True) for read in whole]
    shared = Translator(open_ended=True)
    with ThreadPoolExecutor(8) as threads:
        at_once = list(threads.map(lambda read: shared.success(read, 0.0025), whole * 3))
    assert at_once == alone * 3


def test_made_up_classes_and_keys_do_not_stay_in_memory() -> None:
    """What a translator learns ends with the catalogue, however many keys a server makes up."""
    translator = Translator(open_ended=True)
    made_up = "".join(f"STAT items:{n}:number 1\r\nSTAT key{n} 1\r\n" for n in range(5000))
    body = made_up.encode() + b"END\r\n"
    result = translator.success(reading({"stats": b"STAT uptime 5\r\nEND\r\n", "items": body}), 1)
    assert len(result.unknown) == 2 * 5000 - 255
    learnt = translator._sections["items"]._known
    assert sorted(learnt) == sorted(f"STAT items:{n}:number" for n in range(1, 256))
