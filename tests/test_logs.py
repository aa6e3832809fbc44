"""Logs: one record is one line that programs can read, and only what changes is told."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.configuration import Log
from exporter.logs import configure
from tests.processes import Exporter, FakeMemcached, Memcached, free_port, sample, wait_for_port
from tests.web.clients import eventually

_PAIR = re.compile(r'([A-Za-z_]+)=("(?:[^"\\]|\\.)*"|[^\s"=]*)(?: |\Z)')

HOSTILE = [
    "a\nlevel=error event=forged",
    "a\r\n\r\nb",
    'say "hi"',
    "back\\slash",
    'both \\" ',
    "k=v",
    "tab\tbell\x07escape\x1b[31m",
    "line\u2028separator\x85",
    "nul\0",
    "\ud800 surrogate",
    "é漢",
    "",
    " ",
    "{}",
]


def logfmt(line: str) -> dict[str, str]:
    """Read a line of logfmt; a line that is none is a failure."""
    found: dict[str, str] = {}
    at = 0
    while at < len(line):
        pair = _PAIR.match(line, at)
        assert pair, f"no logfmt at column {at}: {line!r}"
        assert pair[1] not in found, line
        value = pair[2]
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        found[pair[1]] = value
        at = pair.end()
    return found


def records(text: str, style: str = "logfmt") -> list[dict[str, Any]]:
    """Read a whole log, in which each line is a record with time, level and event."""
    assert text == "" or text.endswith("\n")
    read = json.loads if style == "json" else logfmt
    found = [read(line) for line in text.split("\n")[:-1]]
    for record in found:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", record["timestamp"])
        assert record["level"] in {"debug", "info", "warning", "error"}
        assert record["event"]
    return found


def about_servers(daemon: Exporter, style: str = "logfmt") -> list[dict[str, Any]]:
    """Return the records that are about a memcached server."""
    return [record for record in records(daemon.log, style) if "server" in record]


@pytest.fixture
def written(
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Configure logging, log, and return the records that were written."""

    def write(level: str, style: str, log: Callable[[Any], None]) -> list[dict[str, Any]]:
        configure(Log(level=level, format=style))
        log(structlog.get_logger())
        captured = capsys.readouterr()
        assert captured.out == ""
        return records(captured.err, style)

    yield write
    structlog.reset_defaults()


@pytest.mark.parametrize("style", ["logfmt", "json"])
@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_stays_on_its_line(
    written: Callable[..., list[dict[str, Any]]], style: str, text: str
) -> None:
    """A value or event with anything in it is one record of one line."""
    (record,) = written("info", style, lambda log: log.info("x", server=text, number=5))
    assert record["event"] == "x"
    assert int(record["number"]) == 5
    if text.isprintable():
        assert record["server"] == text
    else:
        assert "forged" not in record.get("event", "")
    written("info", style, lambda log: log.info("x", several=[text, text], inner={text: text}))
    assert len(written("info", style, lambda log: log.info(text or "x"))) == 1


@pytest.mark.parametrize("style", ["logfmt", "json"])
def test_an_exception_is_one_line(written: Callable[..., list[dict[str, Any]]], style: str) -> None:
    """A traceback is a field of its record, not twenty lines (D11)."""

    def fail(log: Any) -> None:
        try:
            int("first\nsecond")
        except ValueError:
            log.exception("failed")

    (record,) = written("info", style, fail)
    assert record["level"] == "error"
    assert "first" in record["exception"]
    assert "test_logs.py" in record["exception"]


@pytest.mark.parametrize(
    ("level", "events"),
    [
        ("debug", ["d", "i", "w", "e"]),
        ("info", ["i", "w", "e"]),
        ("warn", ["w", "e"]),
        ("error", ["e"]),
    ],
)
def test_the_level_holds(
    written: Callable[..., list[dict[str, Any]]], level: str, events: list[str]
) -> None:
    """What is below the level is not written."""

    def say(log: Any) -> None:
        log.debug("d")
        log.info("i")
        log.warning("w")
        log.error("e")

    assert [record["event"] for record in written(level, "json", say)] == events


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)
@given(st.text(st.characters(exclude_categories=())), st.sampled_from(["logfmt", "json"]))
def test_random_texts_stay_on_their_line(
    written: Callable[..., list[dict[str, Any]]], text: str, style: str
) -> None:
    """No text at all breaks a record."""
    (record,) = written("info", style, lambda log: log.info("x", value=text, more=[text]))
    assert record["event"] == "x"


@pytest.mark.parametrize("style", ["logfmt", "json"])
def test_a_server_that_stays_down_is_told_once(
    exporter: Callable[..., Exporter], style: str
) -> None:
    """Two hundred scrapes of a dead server are one line, and its return is one more (D11)."""
    port = free_port()
    daemon = exporter(f"--memcached.address=127.0.0.1:{port}", f"--log.format={style}")
    for _ in range(200):
        assert daemon.request("/metrics").status == 200
    (down,) = about_servers(daemon, style)
    assert (down["level"], down["reason"]) == ("warning", "refused")
    assert down["server"] == f"127.0.0.1:{port}"
    assert "refused" in down["error"]
    server = Memcached(port=port)
    try:
        for _ in range(50):
            daemon.request("/metrics")
    finally:
        server.stop()
    back = about_servers(daemon, style)[1:]
    assert [(r["level"], r["event"]) for r in back if "up" in r["event"]] == [
        ("info", "server is up")
    ]
    assert len(back) <= 2
    for _ in range(50):
        daemon.request("/metrics")
    assert len(about_servers(daemon, style)) == len(back) + 2
    samples = daemon.samples()
    assert samples[sample("memcached_exporter_scrape_errors_total", reason="refused")] > 200


def test_another_reason_is_told(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """A server that fails in another way than before has a line of its own."""
    server = memcached()
    daemon = exporter(f"--memcached.address={server.address}", "--memcached.timeout=200ms")
    daemon.samples()
    server.freeze()
    for _ in range(3):
        daemon.samples()
    server.stop()
    for _ in range(3):
        daemon.samples()
    reasons = [
        r["reason"] for r in about_servers(daemon) if r["level"] == "warning" and "reason" in r
    ]
    assert reasons == ["timeout", "refused"]


@pytest.mark.parametrize("style", ["logfmt", "json"])
def test_a_servers_text_cannot_forge_records(
    fake: Callable[..., FakeMemcached], exporter: Callable[..., Exporter], style: str
) -> None:
    """Line ends in keys, values and errors of a server are not line ends of the log."""
    forged = "\n2026-01-01T00:00:00Z level=error event=forged"
    odd = fake(
        *("--set", f"curr_items 1{forged}"),
        *("--set", f"new{forged} 1"),
        *("--set", f"version 1.6.18{forged}"),
        *("--set", 'bytes 1"\\'),
    )
    failing = fake("--err", f"stats=SERVER_ERROR{forged}")
    daemon = exporter(
        f"--memcached.address={odd.address}",
        f"--memcached.address={failing.address}",
        "--log.level=debug",
        f"--log.format={style}",
    )
    for _ in range(3):
        daemon.request("/metrics")
    found = records(daemon.log, style)
    assert {record["event"] for record in found} >= {"listening", "request"}
    assert "forged" not in {record["event"] for record in found}
    assert {record["server"] for record in found if "server" in record} == {
        odd.address,
        failing.address,
    }


def test_a_clients_text_cannot_forge_records(exporter: Callable[..., Exporter]) -> None:
    """Paths and targets of requests are escaped in the log."""
    daemon = exporter("--log.level=debug")
    daemon.request("/x%0alevel=error%20event=forged")
    daemon.request("/scrape?target=a%0aevent=forged&module=%0aevent=forged")
    assert "forged" not in {record["event"] for record in records(daemon.log)}


def test_requests_are_logged_at_debug_only(exporter: Callable[..., Exporter]) -> None:
    """There is no access log unless it is asked for (D11)."""
    quiet, loud = exporter(), exporter("--log.level=debug")
    for daemon in (quiet, loud):
        daemon.request("/-/healthy")
        daemon.request("/nope")
    assert [record["event"] for record in records(quiet.log)] == ["listening"]
    # A request is logged after its answer has gone out, by a thread of its own.
    assert eventually(lambda: loud.log.count("event=request") == 2)
    asked = [record for record in records(loud.log) if record["event"] == "request"]
    assert sorted((r["method"], r["path"], r["status"]) for r in asked) == [
        ("GET", "/-/healthy", "200"),
        ("GET", "/nope", "404"),
    ]


def test_the_error_level_is_silent(tmp_path: Path) -> None:
    """A server that is down, and the daemon's own start and end, are no errors."""
    port, log = free_port(), tmp_path / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "exporter", "--memcached.address=127.0.0.1:1"),
                *(f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"),
            ],
            stderr=errors,
        )
    try:
        wait_for_port(port)
        daemon = Exporter.__new__(Exporter)
        daemon.host, daemon.port = "127.0.0.1", port
        assert daemon.samples()[sample("memcached_up", server="127.0.0.1:1")] == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.wait()
    assert log.read_text() == ""
