"""What the tests of reading share: recordings, servers in this process, pages read back."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics

from exporter.addresses import parse_address
from exporter.catalogue import SECTIONS
from exporter.configuration import Module
from exporter.errors import ReadError, Reason
from exporter.exposition import OPENMETRICS_END, Format, page
from exporter.memcached.replies import Reply, receive
from exporter.memcached.server import Reading, Server
from exporter.memcached.translation import Result, Translator, suffix
from tests.processes import Memcached, parse

RECORDINGS = Path(__file__).parents[1] / "recordings"
COMMANDS = {
    section.name: section.command
    for section in SECTIONS
    if section.name in {"stats", "settings", "items", "slabs"}
}
"""The sections that every server has, and how they are asked for."""
LIMIT = 2**24

Sample = tuple[str, frozenset[tuple[str, str]]]
Samples = dict[Sample, float]


class Chunks:
    """A socket whose peer sends exactly these chunks and then closes."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def settimeout(self, seconds: float) -> None:
        """Take a time limit; nothing here waits."""

    def recv(self, size: int) -> bytes:
        """Return the next chunk, empty at the end."""
        return next(self._chunks, b"")


def cut(chunks: Iterable[bytes], count: int, limit: int = LIMIT) -> list[Reply]:
    """Return what the exporter makes of a byte stream that comes in these chunks."""
    peer: Any = Chunks(chunks)
    return receive(peer, count, time.monotonic() + 60, limit)


class Snapshot(NamedTuple):
    """The replies of a real server to the sections, at one moment of a recording."""

    case: str
    moment: str
    replies: dict[str, bytes]

    @property
    def name(self) -> str:
        """Case and moment."""
        return f"{self.case}{self.moment}"


_SNAPSHOT = re.compile(
    r"stats(?:_(settings|items|slabs|proxy|proxyfuncs|proxybe))?((?:_[a-z0-9]+)*)"
)


def _snapshots() -> Iterator[Snapshot]:
    for directory in sorted(RECORDINGS.glob("*/")):
        moments: dict[str, dict[str, bytes]] = {}
        for path in sorted(directory.glob("stats*.txt")):
            found = _SNAPSHOT.fullmatch(path.stem)
            raw = path.read_bytes()
            other = found and re.match(r"_(conns|detail|extstore|sizes|cachedump)", found[2])
            if found and not other and raw.endswith((b"END\r\n", b"ERROR\r\n")):
                moments.setdefault(found[2], {})[found[1] or "stats"] = raw
        for moment, replies in moments.items():
            if "stats" in replies:
                yield Snapshot(directory.name, moment, replies)


SNAPSHOTS = tuple(_snapshots())


def recorded(case: str) -> Reading:
    """Return the reading of a recording's first moment."""
    return reading(next(s.replies for s in SNAPSHOTS if (s.case, s.moment) == (case, "")))


def reading(replies: Mapping[str, bytes]) -> Reading:
    """Return a reading of raw replies; a section that is answered by an error was not known."""
    cuts = {section: cut([raw], 1)[0] for section, raw in replies.items()}
    return Reading(
        bodies={section: reply.body for section, reply in cuts.items() if not reply.error},
        success={section: True for section, reply in cuts.items() if not reply.error},
        left_out={},
        ping_seconds=0.000125,
        dialled="127.0.0.1:11211",
    )


def stats_reply(**values: str) -> bytes:
    """Return the reply to `stats` with these keys."""
    return "".join(f"STAT {key} {value}\r\n" for key, value in values.items()).encode() + b"END\r\n"


LABELS = (("server", "127.0.0.1:11211"), ("cluster", "web"))

_OPEN = Translator(open_ended=True)
_CLOSED = Translator(open_ended=False)


def translate(read: Reading, *, labelled: bool = False) -> Result:
    """Translate a reading with the translators that live as long as the tests."""
    return (_OPEN if labelled else _CLOSED).success(read, duration=0.0025)


def render(result: Result, form: Format, labels: tuple[tuple[str, str], ...] = ()) -> str:
    """Return the page of one server, whole."""
    text = page([(result.samples, suffix(labels))], form)
    return text + OPENMETRICS_END if form is Format.OPENMETRICS else text


def parsed(text: str, form: Format) -> Samples:
    """Read a page back with the client library's parser; no sample may stand twice."""
    if form is Format.TEXT:
        return parse(text)
    samples: Samples = {}
    for family in openmetrics(text):  # type: ignore[no-untyped-call]
        for found in family.samples:
            key = (found.name, frozenset(found.labels.items()))
            assert key not in samples, f"{key} stands twice"
            samples[key] = float(found.value)
    return samples


def promtool(text: str) -> str:
    """Return what `promtool check metrics` complains about; nothing when all is well."""
    binary = shutil.which("promtool")
    assert binary, "promtool is not installed: make test installs it"
    done = subprocess.run(
        [binary, "check", "metrics"], input=text.encode(), capture_output=True, check=False
    )
    complaint = (done.stdout + done.stderr).decode()
    assert done.returncode == 0 or complaint
    return complaint


def module(**changes: Any) -> Module:
    """Return a module that asks for everything."""
    given: dict[str, Any] = {
        "name": "default",
        "timeout": 1.0,
        "sections": tuple(COMMANDS),
        "assume_no_napi_ids": False,
        "max_reply_bytes": LIMIT,
    }
    return Module(**(given | changes))


@contextlib.contextmanager
def reader(address: str, **changes: Any) -> Iterator[Server]:
    """Read a server, and close the held connection at the end."""
    with contextlib.closing(Server(parse_address(address), module(**changes))) as server:
        yield server


def scrape(server: Server, seconds: float = 5.0) -> Reading:
    """Scrape once within some seconds."""
    return server.read(time.monotonic() + seconds)


def settled(server: Server) -> Reading:
    """Scrape until the server has counted all connections that were made before."""
    deadline = time.monotonic() + 5
    before, now = scrape(server), scrape(server)
    while value(before, "total_connections") != value(now, "total_connections"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
        before, now = now, scrape(server)
    time.sleep(0.05)
    return scrape(server)


def failure(server: Server, seconds: float = 5.0) -> tuple[Reason, str]:
    """Scrape once, which must fail, and return the reason and the text."""
    try:
        scrape(server, seconds)
    except ReadError as error:
        return error.reason, str(error)
    raise AssertionError("the scrape did not fail")


def value(read: Reading, key: str, section: str = "stats") -> str:
    """Return the text of one key of a reading."""
    found = re.search(rf"^STAT {re.escape(key)} (.*?)\r?$", read.bodies[section], re.MULTILINE)
    assert found, f"{key} is not in the reply to {COMMANDS[section]}"
    return found[1]


def store(server: Memcached, items: Mapping[str, bytes], expire: int = 0) -> None:
    """Store items in a real server."""
    with contextlib.closing(server.client()) as client:
        client.set_many(items, expire=expire, noreply=False)


def events(trace: Path) -> list[str]:
    """Return what a fake saw on the wire, without connection 1, the wait for its port."""
    return [line for line in trace.read_text().splitlines() if not line.startswith("1 ")]


def has_ipv6() -> bool:
    """Return whether this machine has an IPv6 loopback."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


def descriptors() -> int:
    """Return how many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@contextlib.contextmanager
def memcached_on_socket(path: Path, *arguments: str) -> Iterator[None]:
    """Run a real memcached that listens on a unix socket only."""
    binary = shutil.which("memcached")
    assert binary, "memcached is not installed: make test installs it"
    user = ["-u", "root"] if os.geteuid() == 0 else []
    process = subprocess.Popen([binary, "-s", str(path), "-a", "0777", *user, *arguments])
    try:
        deadline = time.monotonic() + 10
        while not path.exists():
            assert time.monotonic() < deadline, "memcached did not make its socket"
            time.sleep(0.01)
        yield
    finally:
        process.kill()
        process.wait()
