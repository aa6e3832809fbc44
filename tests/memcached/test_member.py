"""One server of the fleet: its labels, its state, and a log line only when that changes."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import structlog
from structlog.typing import EventDict

from exporter.addresses import parse_address
from exporter.errors import ForbiddenTargetError, ReadError, Reason
from exporter.exposition import Format, page
from exporter.memcached.member import Member, Outcome
from exporter.memcached.server import Reading, Server
from exporter.memcached.translation import Translator
from tests.memcached.support import (
    Samples,
    memcached_on_socket,
    module,
    parsed,
    reading,
    stats_reply,
)
from tests.processes import Memcached, free_port, sample

ADDRESS = "cache.test:11211"
OPEN = Translator(open_ended=True)
CLOSED = Translator(open_ended=False)


class Scripted(Server):
    """A server whose scrapes come out as they are told, one after the other."""

    def __init__(self, *outcomes: Reading | Exception) -> None:
        super().__init__(parse_address(ADDRESS), module())
        self._outcomes = iter(outcomes)
        self.deadlines: list[float] = []

    def read(self, deadline: float) -> Reading:
        """Return or raise what comes next."""
        self.deadlines.append(deadline)
        outcome = next(self._outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Log:
    """A member with its counted errors and its log."""

    def __init__(self, member: Member, lines: list[EventDict]) -> None:
        self.member = member
        self.lines = lines
        self.errors: Counter[Reason] = Counter()

    def read(self, *, labelled: bool = True) -> Outcome:
        """Scrape once."""
        return self.member.read(
            5.0,
            OPEN if labelled else CLOSED,
            labelled=labelled,
            count_error=lambda reason: self.errors.update([reason]),
        )

    @property
    def events(self) -> list[tuple[str, str]]:
        """Level and event of each log line."""
        return [(line["log_level"], line["event"]) for line in self.lines]


@contextlib.contextmanager
def watched(
    *outcomes: Reading | Exception, labels: tuple[tuple[str, str], ...] = ()
) -> Iterator[Log]:
    """Watch a member whose scrapes come out as told."""
    with structlog.testing.capture_logs() as lines:
        yield Log(Member(Scripted(*outcomes), labels), lines)


def stats(**values: str) -> Reading:
    """Return a reading with these statistics."""
    return reading({"stats": stats_reply(**({"version": "1.6.18", "uptime": "5"} | values))})


def samples(outcome: Outcome) -> Samples:
    """Return the samples of a scrape as they stand on a page."""
    text = page([(outcome.result.samples, outcome.suffix)], Format.TEXT)
    return parsed(text, Format.TEXT)


DOWN = ReadError(Reason.REFUSED, "connection refused")


def test_samples_carry_the_labels_of_the_server() -> None:
    """On /metrics every sample has the address and the configured labels, on /scrape none."""
    with watched(stats(), stats(), labels=(("cluster", "web"), ("rack", "7"))) as log:
        labelled = samples(log.read())
        bare = samples(log.read(labelled=False))
    own = {"server": ADDRESS, "cluster": "web", "rack": "7"}
    assert labelled[sample("memcached_uptime_seconds", **own)] == 5
    assert all(dict(labels).items() >= own.items() for _, labels in labelled)
    assert bare[sample("memcached_uptime_seconds")] == 5
    assert not any({"server", "cluster", "rack"} & set(dict(labels)) for _, labels in bare)


def test_a_failed_scrape_shows_nothing_of_the_one_before() -> None:
    """A server that cannot be read has no values, stale ones least of all (B01)."""
    with watched(stats(), DOWN) as log:
        log.read()
        outcome = log.read()
    found = samples(outcome)
    assert {name for name, _ in found} == {"memcached_up", "memcached_scrape_duration_seconds"}
    assert found[sample("memcached_up", server=ADDRESS)] == 0
    assert outcome.error is DOWN
    assert log.errors == {Reason.REFUSED: 1}


def test_an_error_inside_the_exporter_is_one_servers_own() -> None:
    """Whatever is wrong, the scrape comes back as `internal`, with a traceback in the log."""
    with watched(ZeroDivisionError("oops"), stats()) as log:
        outcome = log.read()
        assert outcome.error is not None
        assert (outcome.error.reason, str(outcome.error)) == (
            Reason.INTERNAL,
            "ZeroDivisionError('oops')",
        )
        assert samples(outcome)[sample("memcached_up", server=ADDRESS)] == 0
        assert samples(log.read())[sample("memcached_up", server=ADDRESS)] == 1
    assert log.errors == {Reason.INTERNAL: 1}
    assert log.lines[0]["exc_info"]


def test_a_forbidden_target_is_not_a_failed_scrape() -> None:
    """What may not be read is the asker's mistake, and not counted as the server's."""
    with watched(ForbiddenTargetError("no")) as log:
        with pytest.raises(ForbiddenTargetError):
            log.read()
        assert log.member.state.up is None
    assert (log.errors, log.lines) == ({}, [])


def test_only_changes_are_logged() -> None:
    """A server that stays as it is makes no line, however often it is scraped."""
    other = ReadError(Reason.TIMEOUT, "no whole answer before the deadline")
    script: list[Reading | Exception] = [
        stats(),
        stats(),
        DOWN,
        DOWN,
        DOWN,
        other,
        other,
        stats(),
        stats(),
    ]
    with watched(*script) as log:
        for _ in script:
            log.read()
    assert log.events == [
        ("info", "server is up"),
        ("warning", "server cannot be read"),
        ("warning", "server cannot be read"),
        ("info", "server is up"),
    ]
    assert log.lines[1] == {
        "server": ADDRESS,
        "reason": Reason.REFUSED,
        "error": "connection refused",
        "event": "server cannot be read",
        "log_level": "warning",
    }
    assert log.errors == {Reason.REFUSED: 3, Reason.TIMEOUT: 2}


def test_a_section_that_is_left_out_is_logged_once() -> None:
    """The reason is told when it is new, also across an outage."""
    reasons = [{}, {"settings": "a"}, {"settings": "a"}, None, {"settings": "a"}, {"settings": "b"}]
    script: list[Reading | Exception] = [
        DOWN if left_out is None else _leaving_out(left_out) for left_out in reasons
    ]
    with watched(*script) as log:
        for _ in script:
            log.read()
    told = [line["why"] for line in log.lines if line["event"] == "section is left out"]
    assert told == ["a", "b"]


def _leaving_out(left_out: dict[str, str]) -> Reading:
    read = stats()
    return Reading(read.bodies, read.success, left_out, read.ping_seconds, read.dialled)


def test_a_malformed_value_that_changes_is_logged_once() -> None:
    """A gauge that stays below zero is no news, whatever its number is."""
    below = [str(2**64 - step) for step in (1, 2, 1, 3)]
    with watched(*(stats(response_obj_count=text) for text in below)) as log:
        for _ in below:
            log.read()
    warnings = [line for line in log.lines if line["log_level"] == "warning"]
    assert len(warnings) == 1
    assert "response_obj_count" in str(warnings[0])


def test_unknown_keys_are_named_at_debug_level_only() -> None:
    """A newer memcached is noticed by who looks for it, and annoys nobody else."""
    with watched(stats(new_key="1"), stats(new_key="2")) as log:
        log.read()
        log.read()
    assert log.events == [("info", "server is up"), ("debug", "unknown statistics")]
    assert log.lines[1]["keys"] == ["new_key"]


def test_the_state_is_the_last_scrape() -> None:
    """What the status page shows is what the last scrape found, with what is known from before."""
    with watched(_leaving_out({"settings": "why"}), DOWN) as log:
        assert (log.member.state.address, log.member.state.up) == (ADDRESS, None)
        log.read()
        up = log.member.state
        assert (up.up, up.version, up.left_out) == (True, "1.6.18", {"settings": "why"})
        log.read()
        down = log.member.state
    assert (down.up, down.reason, down.detail) == (False, "refused", "connection refused")
    assert (down.version, down.left_out) == ("1.6.18", {"settings": "why"})
    assert down.scraped >= up.scraped > 0


@pytest.mark.parametrize("version", ["1.4.14 (Ubuntu)", "1.6.18", ""])
def test_the_state_has_the_version_as_it_was_sent(version: str) -> None:
    """The status page shows the whole version text."""
    with watched(stats(version=version)) as log:
        log.read()
        assert log.member.state.version == version


def test_the_timeout_of_the_module_caps_the_budget() -> None:
    """Whichever is shorter ends the scrape: the page's budget, or the server's own timeout."""
    server = Scripted(stats(), stats())
    member = Member(server)
    for budget in (0.5, 30.0):
        member.read(budget, OPEN, labelled=True, count_error=lambda _reason: None)
    assert server.module.timeout == 1.0
    # Both deadlines were counted from the same clock, moments apart.
    assert server.deadlines[1] - server.deadlines[0] >= 0.5
    assert server.deadlines[1] - server.deadlines[0] < 10


@pytest.mark.parametrize("count", [1, 3])
def test_real_servers_side_by_side(
    memcached: Callable[..., Memcached], tmp_path_factory: pytest.TempPathFactory, count: int
) -> None:
    """Members share a translator, and yet each has its own values under its own name."""
    path = tmp_path_factory.mktemp("s") / "m.sock"
    servers = [memcached("-m", str(64 + number)) for number in range(count)]
    with memcached_on_socket(path, "-m", "100"), contextlib.ExitStack() as stack:
        texts = [*(server.address for server in servers), str(path), f"127.0.0.1:{free_port()}"]
        members = [Member(Server(parse_address(text), module())) for text in texts]
        for member in members:
            stack.callback(member.server.close)
        outcomes = [
            member.read(5.0, OPEN, labelled=True, count_error=lambda _reason: None)
            for member in members
        ]
    text = page([(o.result.samples, o.suffix) for o in outcomes], Format.TEXT)
    found = parsed(text, Format.TEXT)
    ups = {
        dict(labels)["server"]: up for (name, labels), up in found.items() if name == "memcached_up"
    }
    assert ups == {address: float(address != texts[-1]) for address in texts}
    for number, server in enumerate(servers):
        limit = found[sample("memcached_limit_bytes", server=server.address)]
        assert limit == (64 + number) * 2**20
    assert found[sample("memcached_limit_bytes", server=str(path))] == 100 * 2**20
