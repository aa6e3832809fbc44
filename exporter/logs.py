"""Logging: structlog to standard error, one line per event, as logfmt or JSON."""

import contextlib
import logging
import sys

import structlog

from exporter.configuration import Log
from exporter.health.words import visible

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}


def configure(log: Log) -> None:
    """Set the level and the format of all logging from here on."""
    renderer = (
        structlog.processors.JSONRenderer()
        if log.format == "json"
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _printable,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[log.level]),
        logger_factory=structlog.PrintLoggerFactory(_StandardError()),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )


class _StandardError:
    """Standard error, which may be a pipe whose reader is gone: that must not fail a scrape."""

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


def _printable(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Keep each event on one line: a server's text may hold anything."""
    return {
        key: visible(value) if isinstance(value, str) else value for key, value in event.items()
    }
