"""What the tests of the optional sections share: whole recordings, real servers, the daemon."""

import json
import socket
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from exporter.catalogue import SECTIONS
from exporter.exposition import Format
from exporter.memcached.aggregation import Limits
from exporter.memcached.translation import Result, Translator
from tests.memcached.support import RECORDINGS, Samples, parsed, reading, render
from tests.processes import Memcached

ALL = tuple(section.name for section in SECTIONS)
COMMANDS = {section.name: section.command for section in SECTIONS}
LABELS = (("server", "cache-1:11211"), ("cluster", "web"))
CASES = tuple(
    path.parent.name
    for path in sorted(RECORDINGS.glob("*/stats.txt"))
    if path.read_bytes().endswith(b"END\r\n")
)
"""Recordings that have a whole reply to `stats`."""
SPECIAL = {
    "deb1618-misc": {
        "stats": "stats_states",
        "settings": "stats_settings_detail_on",
        "slabs": "stats_slabs_before_reset",
        "items": "stats_items_before_reset",
        "conns": "stats_conns_states",
        "detail": "stats_detail_dump_detail_on",
    },
    "new-misc": {
        "stats": "stats_states",
        "settings": "stats_settings_detail_on",
        "slabs": "stats_slabs_before_reset",
        "items": "stats_items_before_reset",
        "conns": "stats_conns_states",
        "detail": "stats_detail_dump_detail_on",
    },
    "old1.4.39-modern": {"sizes": "stats_sizes_enabled"},
}
"""Files that replace those of the plain names, by case and section."""
WHOLE = tuple(sorted({*CASES, "deb1618-misc", "new-misc"}))
"""All cases from which a scrape of all sections can be put together."""

RECORDED_PROXY = {
    moment: (RECORDINGS / "new-proxy" / f"stats_proxy{moment}.txt").read_bytes()
    for moment in ("", "_after_reset")
}
"""The recorded replies to `stats proxy`."""

_TRANSLATORS = {
    (labelled, legacy): Translator(open_ended=labelled, legacy_names=legacy)
    for labelled in (False, True)
    for legacy in (False, True)
}


def raw(case: str, section: str) -> bytes | None:
    """Return the recorded reply to a section, None when there is none."""
    name = SPECIAL.get(case, {}).get(section, COMMANDS[section].replace(" ", "_"))
    path = RECORDINGS / case / f"{name}.txt"
    return path.read_bytes() if path.exists() else None


def replies(case: str, sections: Iterable[str] = ALL) -> dict[str, bytes]:
    """Return the recorded replies to all sections that a server of that release may be asked."""
    found = {section: raw(case, section) for section in sections}
    if case.startswith(("old1.2", "old1.4.5", "old1.4.15")):
        found["sizes"] = None  # stalls the server, which is why it is never sent there
    return {
        section: reply
        for section, reply in found.items()
        if reply is not None and not reply.startswith(b"ERROR")
    }


def arguments(case: str) -> list[str]:
    """Return the command line of a recorded server."""
    recording = json.loads((RECORDINGS / case / "case.json").read_text())
    return str(recording["argv"]).split()


def translate(
    given: Mapping[str, bytes],
    limits: Limits | None = None,
    *,
    labelled: bool = False,
    legacy: bool = False,
) -> Result:
    """Translate raw replies with the translators that live as long as the tests."""
    return _TRANSLATORS[labelled, legacy].success(reading(given), 0.0025, limits)


def samples(
    given: Mapping[str, bytes], limits: Limits | None = None, *, legacy: bool = False
) -> Samples:
    """Return the samples that a scrape with these raw replies gives, read back from its page."""
    return parsed(render(translate(given, limits, legacy=legacy), Format.TEXT), Format.TEXT)


def family(found: Samples, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of one name by its label values, in the order of the label names."""
    return {
        tuple(text for _, text in sorted(labels)): number
        for (own, labels), number in found.items()
        if own == name
    }


def body(*lines: str) -> bytes:
    """Return a reply of these lines."""
    return "".join(f"{line}\r\n" for line in (*lines, "END")).encode("latin-1")


def ask(server: Memcached, request: bytes, ends: bytes = b"END\r\n") -> bytes:
    """Send a request on a connection of its own and return what comes up to an end."""
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(request)
        answer = b""
        while not answer.endswith(ends):
            chunk = connection.recv(65536)
            assert chunk, answer
            answer += chunk
    return answer


def ask_in_binary(server: Memcached, *requests: bytes) -> list[int]:
    """Send requests of the binary protocol, and return the status of each answer."""
    head = struct.Struct(">BBHBBHIIQ")
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(b"".join(requests))
        answers = connection.makefile("rb")
        statuses = []
        for _ in requests:
            magic, _, _, _, _, status, length, _, _ = head.unpack(answers.read(head.size))
            assert magic == 0x81
            answers.read(length)
            statuses.append(status)
    return statuses


def configured(directory: Path, *, modules: Any, servers: Any, **more: Any) -> str:
    """Write a configuration file and return the flag that names it."""
    path = directory / "exporter.yml"
    path.write_text(json.dumps({"servers": servers, "modules": modules, **more}))
    return f"--config.file={path}"
