"""``/scrape?debug=true``: how a scrape went, in words, before its metrics."""

from collections.abc import Iterator
from typing import Any

import msgspec

from exporter.memcached.member import Outcome


def report(outcome: Outcome, seconds: float, limit: float) -> str:
    """Return the report; ``seconds`` is how long the scrape took, ``limit`` what it was given."""
    return "\n".join((*_result(outcome, seconds, limit), "", *_module(outcome), "", "metrics", ""))


def _result(outcome: Outcome, seconds: float, limit: float) -> Iterator[str]:
    error, reading = outcome.error, outcome.reading
    yield f"server      {outcome.subject.server}"
    yield f"result      {f'down: {error.reason}: {error}' if error else 'up'}"
    limit = min(limit, outcome.module.timeout)
    yield f"took        {seconds * 1e3:.1f} ms of {limit * 1e3:g} ms"
    if not reading:
        return
    connected = reading.connect_seconds
    how = f"connected in {connected * 1e3:.1f} ms" if connected is not None else "held since before"
    yield f"dialled     {reading.dialled} ({how})"
    yield f"statistics  {reading.statistics_seconds * 1e3:.1f} ms"
    yield f"ping        {reading.ping_seconds * 1e3:.2f} ms"
    process = f"{reading.process.pid}, on this host" if reading.process else "not on this host"
    yield f"process     {process}"
    yield "sections"
    for section, body in reading.bodies.items():
        yield f"  {section}: read, {len(body)} bytes"
    for section, text in reading.failures.items():
        yield f"  {section}: failed: {text}"
    for section, why in reading.left_out.items():
        yield f"  {section}: left out: {why}"


def _module(outcome: Outcome) -> Iterator[str]:
    """Yield the module's settings; of secrets the configuration has but the places."""
    yield f"module {outcome.module.name}"
    yield from _settings(msgspec.to_builtins(outcome.module), "  ")


def _settings(settings: dict[str, Any], indent: str) -> Iterator[str]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield f"{indent}{key}"
            yield from _settings(value, indent + "  ")
        elif key != "name":
            text = ", ".join(value) if isinstance(value, (list, tuple)) else value
            yield f"{indent}{key}: {text}"
