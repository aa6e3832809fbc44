"""Cutting a byte stream into replies."""

import itertools
import re
import socket
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.errors import ReadError, Reason
from exporter.memcached.replies import Reply, raise_for_connection, receive
from tests.memcached.support import LIMIT, SNAPSHOTS, Snapshot, cut

STATS = b"STAT pid 1\r\nSTAT version 1.4.14 (Ubuntu)\r\nSTAT empty\r\nEND\r\n"
TRICKY = b"STAT END 1\r\nSTAT a END\r\nSTAT b x END \r\nSTAT c \r\r\nEND\r\n"
STREAM = b"".join((b"VERSION 1.6.18\r\n", STATS, b"ERROR\r\n", b"END\r\n", TRICKY))
REPLIES = [
    Reply("VERSION 1.6.18"),
    Reply("STAT pid 1\r\nSTAT version 1.4.14 (Ubuntu)\r\nSTAT empty"),
    Reply("", error="ERROR"),
    Reply(""),
    Reply("STAT END 1\r\nSTAT a END\r\nSTAT b x END \r\nSTAT c \r"),
]


def failure(chunks: list[bytes], count: int = 1, limit: int = LIMIT) -> tuple[Reason, str]:
    """Return why these chunks are no replies."""
    with pytest.raises(ReadError) as caught:
        cut(chunks, count, limit)
    return caught.value.reason, str(caught.value)


def split_at(data: bytes, places: list[int]) -> list[bytes]:
    """Return the data in pieces that end at these places."""
    edges = [0, *sorted({place % (len(data) + 1) for place in places} - {0, len(data)}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@given(places=st.lists(st.integers(min_value=0, max_value=10_000)))
def test_any_split_of_the_stream_gives_the_same_replies(places: list[int]) -> None:
    """Where the network cuts the stream makes no difference."""
    assert cut(split_at(STREAM, places), len(REPLIES)) == REPLIES


def test_one_byte_at_a_time_gives_the_same_replies() -> None:
    """Even single bytes make the same replies."""
    assert cut([bytes([byte]) for byte in STREAM], len(REPLIES)) == REPLIES


@settings(max_examples=30)
@given(
    snapshot=st.sampled_from([s for s in SNAPSHOTS if len(s.replies) == 4]),
    places=st.lists(st.integers(min_value=0, max_value=100_000), max_size=12),
)
def test_recorded_replies_survive_any_split(snapshot: Snapshot, places: list[int]) -> None:
    """The replies of real servers in one stream come apart as they are, whatever the chunks."""
    raws = list(snapshot.replies.values())
    replies = cut(split_at(b"".join(raws), places), 4)
    for raw, reply in zip(raws, replies, strict=True):
        whole = f"{reply.error}\r\n" if reply.error else f"{reply.body}\r\nEND\r\n"
        assert raw.decode("latin-1") == whole.removeprefix("\r\n")


def test_every_byte_value_is_kept() -> None:
    """All bytes but the line end may stand in a value, each as one character."""
    odd = bytes(sorted(set(range(256)) - {0x0A, 0x0D}))
    (reply,) = cut([b"STAT odd " + odd + b"\r\nEND\r\n"], 1)
    assert reply.body.removeprefix("STAT odd ").encode("latin-1") == odd


@pytest.mark.parametrize("cut_off", range(len(STATS)))
def test_an_answer_cut_off_anywhere_is_no_answer(cut_off: int) -> None:
    """A stream that ends early is an error that says how much came, and no shorter answer (B09)."""
    reason, text = failure([STATS[:cut_off]])
    assert (reason, text) == (
        Reason.CLOSED,
        f"the server closed the connection after {cut_off} bytes",
    )


def test_an_end_between_two_replies_is_no_answer_to_the_second() -> None:
    """When only the first of two replies came, both are refused."""
    assert failure([STATS], count=2)[0] is Reason.CLOSED


@pytest.mark.parametrize(
    "line",
    ["ERROR", "CLIENT_ERROR bad data chunk", "SERVER_ERROR out of memory", "ERROR no such thing"],
)
def test_an_error_line_is_a_reply_with_an_error(line: str) -> None:
    """A command that fails is answered by one line, which does not end the exchange."""
    assert cut([f"{line}\r\n".encode(), STATS], 2) == [Reply("", error=line), REPLIES[1]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ERROR Too many open connections", Reason.CONNECTION_LIMIT),
        ("SERVER_ERROR too many open connections", Reason.CONNECTION_LIMIT),
        ("CLIENT_ERROR unauthenticated", Reason.AUTH),
        ("CLIENT_ERROR authentication failure", Reason.AUTH),
    ],
)
def test_an_error_line_about_the_connection_fails_the_exchange(line: str, reason: Reason) -> None:
    """A refusal of the whole connection has a reason of its own and keeps the server's words."""
    found, text = failure([f"{line}\r\n".encode()], count=3)
    assert found is reason
    assert text.startswith(line)


@pytest.mark.parametrize("line", ["", "ERROR", "SERVER_ERROR out of memory", "VERSION 1.6.18"])
def test_other_first_words_are_no_refusal(line: str) -> None:
    """What does not speak of the connection raises nothing."""
    raise_for_connection(line)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        b"\x81\x00\x00\x00\r\n",
        b"STATISTICS 1\r\n",
        b"STAT\r\n",
        b"stat pid 1\r\nEND\r\n",
        b"ERRORS\r\n",
        b"\r\n",
        b"x" * 9000,
    ],
    ids=lambda answer: repr(answer[:12]),
)
def test_another_protocol_is_told_as_such(answer: bytes) -> None:
    """What is no reply of memcached is refused at once, however it goes on."""
    assert failure([answer])[0] is Reason.PROTOCOL


@given(chunks=st.lists(st.binary(max_size=40), max_size=6))
def test_rubbish_is_an_error_with_a_reason(chunks: list[bytes]) -> None:
    """Random bytes give replies or a ReadError, never anything else."""
    try:
        replies = cut(chunks, 2)
    except ReadError as error:
        assert error.reason in set(Reason) - {Reason.INTERNAL, Reason.TIMEOUT}  # noqa: PT017
    else:
        assert len(replies) == 2


@pytest.mark.parametrize("extra", [b"E", b"END\r\n", b"ERROR\r\n", STATS])
def test_more_than_was_asked_for_is_refused(extra: bytes) -> None:
    """An answer too many would be read as the answer to the next command."""
    assert failure([STATS + extra]) == (
        Reason.PROTOCOL,
        "the server sent more than was asked for",
    )


@pytest.mark.parametrize(("limit", "refused"), [(len(STATS), False), (len(STATS) - 1, True)])
def test_the_limit_holds_to_the_byte(limit: int, refused: bool) -> None:
    """A reply of exactly the limit is taken, one byte more is refused."""
    if refused:
        assert failure([STATS], limit=limit) == (
            Reason.PROTOCOL,
            f"the reply is longer than {limit} bytes",
        )
    else:
        assert cut([STATS], 1, limit) == [REPLIES[1]]


def test_a_flood_ends_at_the_limit() -> None:
    """A reply without end is given up soon after the limit, not kept in memory."""
    taken = 0

    def flood() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"STAT flood 1\r\n" * 1000

    with pytest.raises(ReadError, match="longer than 1000000 bytes"):
        cut(flood(), 1, 1_000_000)
    assert taken == 1_000_000 // 14_000 + 1


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (
            b"",
            "after 0 bytes (a server that speaks only the binary protocol?)",
        ),
        (b"STAT pid 1\r\n", "no whole answer before the deadline after 12 bytes"),
    ],
)
def test_silence_until_the_deadline_is_a_timeout(sent: bytes, text: str) -> None:
    """A peer that stops sending costs the time until the deadline and no more."""
    here, there = socket.socketpair()
    with here, there:
        there.sendall(sent)
        with pytest.raises(ReadError, match=re.escape(text)) as caught:
            receive(here, 1, time.monotonic() + 0.05, LIMIT)
    assert caught.value.reason is Reason.TIMEOUT


def test_a_deadline_in_the_past_reads_nothing() -> None:
    """No time left is a timeout too, whatever waits in the socket."""
    here, there = socket.socketpair()
    with here, there:
        there.sendall(STATS)
        with pytest.raises(ReadError) as caught:
            receive(here, 1, time.monotonic() - 1, LIMIT)
    assert caught.value.reason is Reason.TIMEOUT
