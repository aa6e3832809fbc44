"""Servers that answer wrongly, half, too much, too late, or nothing at all."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.errors import Reason
from tests.memcached.support import (
    COMMANDS,
    LIMIT,
    descriptors,
    events,
    failure,
    module,
    reader,
    scrape,
    value,
)
from tests.processes import FakeMemcached

MODERN = ("--set", "version 1.6.45")
"""A release that gives its settings to anybody."""


@pytest.mark.parametrize("command", ["version", *COMMANDS.values()])
def test_half_an_answer_is_no_answer(fake: Callable[..., FakeMemcached], command: str) -> None:
    """A server that closes in the middle of any answer is down, with all that came before."""
    with reader(fake(*MODERN, "--mode", "half", "--only", command).address) as held:
        for _ in range(2):
            reason, text = failure(held)
            assert reason is Reason.CLOSED
            assert text.startswith("the server closed the connection after ")


@pytest.mark.parametrize("command", ["version", *COMMANDS.values()])
def test_a_connection_that_breaks_is_closed(
    fake: Callable[..., FakeMemcached], command: str
) -> None:
    """A server that breaks off after any answer is down for that reason, whoever notices it."""
    with reader(fake(*MODERN, "--mode", "reset", "--only", command).address) as held:
        for _ in range(5):
            assert failure(held)[0] is Reason.CLOSED


@pytest.mark.parametrize("command", ["version", *COMMANDS.values()])
def test_no_answer_is_a_timeout(fake: Callable[..., FakeMemcached], command: str) -> None:
    """A server that hangs on any one command is down, and the connection is given up."""
    with reader(fake(*MODERN, "--mode", "hang", "--only", command).address) as held:
        files = descriptors()
        assert failure(held, 0.2)[0] is Reason.TIMEOUT
        assert descriptors() <= files


def test_an_answer_in_drips_counts_as_one_deadline(fake: Callable[..., FakeMemcached]) -> None:
    """A server that sends a line now and then cannot stretch the deadline."""
    with reader(fake("--mode", "trickle").address) as held:
        began = time.monotonic()
        reason, text = failure(held, 1.0)
        assert time.monotonic() - began < 5
    assert reason is Reason.TIMEOUT
    assert text.startswith("no whole answer before the deadline after ")
    assert "binary" not in text


def test_single_bytes_are_put_together(fake: Callable[..., FakeMemcached]) -> None:
    """A server that sends byte by byte, but in time, is read like any other."""
    with reader(fake(*MODERN, "--mode", "bytes").address) as held:
        for _ in range(2):
            read = scrape(held)
            assert read.success == dict.fromkeys(COMMANDS, True)
            assert value(read, "limit_maxbytes") == "67108864"
            assert value(read, "maxconns", "settings") == "1024"
            assert value(read, "items:1:number", "items") == "10"
            assert value(read, "total_malloced", "slabs") == "1048576"


def test_a_flood_ends_at_the_limit(fake: Callable[..., FakeMemcached]) -> None:
    """A reply without end is refused after the limit of the module."""
    with reader(fake("--mode", "flood").address, max_reply_bytes=100_000) as held:
        assert failure(held) == (Reason.PROTOCOL, "the reply is longer than 100000 bytes")


def test_the_limit_is_for_all_replies_of_an_exchange(
    fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """Sections that are large in sum are refused, even if each of them is not."""
    body = tmp_path / "body"
    body.write_bytes(b"STAT x 1\r\n" * 4000 + b"END\r\n")
    raw = [f"--raw=stats {section}={body}" for section in ("items", "slabs")]
    server = fake(*MODERN, *raw)
    with reader(server.address, max_reply_bytes=100_000) as held:
        assert scrape(held).success == dict.fromkeys(COMMANDS, True)
    with reader(server.address, max_reply_bytes=70_000) as held:
        assert failure(held)[0] is Reason.PROTOCOL
    assert module().max_reply_bytes == LIMIT


@pytest.mark.parametrize("command", ["version", "stats", "stats settings", "stats slabs"])
def test_an_answer_too_many_is_refused(fake: Callable[..., FakeMemcached], command: str) -> None:
    """A server that answers more than was asked is out of step: the connection is given up."""
    with reader(fake(*MODERN, "--mode", "extra", "--only", command).address) as held:
        for _ in range(2):
            assert failure(held)[0] is Reason.PROTOCOL


def test_the_answer_to_the_first_question_comes_late(
    fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """After a timeout the next scrape uses a new connection, where no old answer can come."""
    trace = tmp_path / "trace"
    server = fake(*MODERN, "--late", "0.3", "--trace", str(trace))
    with reader(server.address) as held:
        assert failure(held, 0.1)[0] is Reason.TIMEOUT
        time.sleep(0.4)
        for _ in range(2):
            read = scrape(held)
            assert read.success == dict.fromkeys(COMMANDS, True)
            assert value(read, "maxconns", "settings") == "1024"
        assert [line for line in events(trace) if line.endswith("open")] == ["2 open", "3 open"]


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (["--mode", "close"], Reason.CLOSED),
        (["--mode", "full"], Reason.CONNECTION_LIMIT),
        (["--err", "version=CLIENT_ERROR unauthenticated"], Reason.AUTH),
        (["--err", "stats=CLIENT_ERROR unauthenticated"], Reason.AUTH),
        (["--err", "stats=ERROR"], Reason.PROTOCOL),
        (["--err", "stats=SERVER_ERROR out of memory"], Reason.PROTOCOL),
        (["--err", "stats=END"], Reason.PROTOCOL),
        (["--err", "stats=VERSION 1"], Reason.PROTOCOL),
        (["--err", "stats=HTTP/1.1 400 Bad Request"], Reason.PROTOCOL),
        (["--err", "stats=+PONG"], Reason.PROTOCOL),
    ],
    ids=lambda option: " ".join(option) if isinstance(option, list) else None,
)
def test_a_server_that_gives_no_statistics(
    fake: Callable[..., FakeMemcached], option: list[str], reason: Reason
) -> None:
    """Each way to refuse the first exchange has its own reason, every time."""
    with reader(fake(*option).address) as held:
        for _ in range(3):
            assert failure(held)[0] is reason


@pytest.mark.parametrize("error", ["ERROR", "CLIENT_ERROR bad command line format", "ERROR x y"])
@pytest.mark.parametrize("section", ["settings", "items", "slabs"])
def test_a_section_that_is_unknown_is_left_out(
    fake: Callable[..., FakeMemcached], tmp_path: Path, section: str, error: str
) -> None:
    """What the server does not know is asked once a connection, and then not any more."""
    log = tmp_path / "log"
    server = fake(*MODERN, "--err", f"stats {section}={error}", "--log", str(log))
    others = {name: True for name in COMMANDS if name != section}
    with reader(server.address) as held:
        for _ in range(3):
            read = scrape(held)
            assert read.success == others
            assert read.left_out == {section: f"the server answered {error!r}"}
            assert set(read.bodies) == set(others)
    assert log.read_text().splitlines().count(repr(f"stats {section}")) == 1


def test_a_section_that_fails_is_tried_again(
    fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """An error of the server is no lack of the section: it is seen, and asked for next time."""
    log = tmp_path / "log"
    error = "SERVER_ERROR out of memory writing stats"
    server = fake(*MODERN, "--err", f"stats items={error}", "--log", str(log))
    with reader(server.address) as held:
        for _ in range(3):
            read = scrape(held)
            assert read.success == {name: name != "items" for name in COMMANDS}
            assert (read.left_out, "items" in read.bodies) == ({}, False)
    assert log.read_text().splitlines().count("'stats items'") == 3


def test_an_empty_section_is_a_success(fake: Callable[..., FakeMemcached]) -> None:
    """A server without items answers `stats items` with nothing but END."""
    with reader(fake(*MODERN, "--err", "stats items=END").address) as held:
        for _ in range(2):
            read = scrape(held)
            assert read.success == dict.fromkeys(COMMANDS, True)
            assert read.bodies["items"] == ""


def test_no_time_left_asks_nothing(fake: Callable[..., FakeMemcached], tmp_path: Path) -> None:
    """A deadline in the past opens no connection."""
    trace = tmp_path / "trace"
    trace.touch()
    with reader(fake("--trace", str(trace)).address) as held:
        assert failure(held, -1.0) == (Reason.TIMEOUT, "no time was left to ask the server")
    assert events(trace) == []


def test_a_closed_connection_is_made_anew_only_once(
    fake: Callable[..., FakeMemcached], tmp_path: Path
) -> None:
    """A server that closes each connection at the second question costs two, not a loop."""
    trace = tmp_path / "trace"
    server = fake(*MODERN, "--mode", "close", "--only", "stats slabs", "--trace", str(trace))
    with reader(server.address) as held:
        assert failure(held)[0] is Reason.CLOSED
        assert sum(line.endswith("open") for line in events(trace)) == 1
        assert failure(held)[0] is Reason.CLOSED
        assert sum(line.endswith("open") for line in events(trace)) == 2
