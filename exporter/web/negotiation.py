"""What a client can take: exposition format and compression, with their weights (RFC 9110)."""

import re
import zlib
from collections.abc import Iterable
from typing import Any

from exporter.exposition import Format

_zlib: Any = zlib
try:
    from isal import isal_zlib
except ImportError:  # the extra `fast` is not installed
    pass
else:
    _zlib = isal_zlib

_LEVEL = 1
_GZIP = zlib.MAX_WBITS | 16
_WEIGHT = re.compile(r"(0(\.[0-9]{0,3})?|1(\.0{0,3})?)\Z")


def choose_format(accept: str) -> Format:
    """Return the format for an ``Accept`` header: OpenMetrics when asked for at least as much."""
    openmetrics = text = 0.0
    for media, parameters, weight in _entries(accept):
        if media == "application/openmetrics-text":
            if parameters.get("version", "1.0.0") in {"1.0.0", "0.0.1"}:
                openmetrics = max(openmetrics, weight)
        elif media in {"text/plain", "text/*", "*/*"}:
            text = max(text, weight)
    return Format.OPENMETRICS if openmetrics > 0 and openmetrics >= text else Format.TEXT


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether an ``Accept-Encoding`` header allows gzip, by name or by ``*``."""
    weights = {coding: weight for coding, _, weight in _entries(accept_encoding)}
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def gzip(pieces: Iterable[bytes]) -> bytes:
    """Compress fast rather than small: Prometheus is near, and the processor is memcached's."""
    compressor = _compressor()
    compressed = [compressor.compress(piece) for piece in pieces]
    return b"".join([*compressed, compressor.flush()])


def _compressor() -> Any:
    return _zlib.compressobj(_LEVEL, _zlib.DEFLATED, _GZIP)


def _entries(header: str) -> list[tuple[str, dict[str, str], float]]:
    """Split a header into names (lower case), parameters and weights; a bad weight counts as 0."""
    entries = []
    for part in header.lower().split(","):
        name, *rest = (piece.strip() for piece in part.split(";"))
        parameters = {
            key.strip(): value.strip().strip('"')
            for key, equals, value in (piece.partition("=") for piece in rest)
            if equals
        }
        weight = parameters.pop("q", "1")
        if name:
            entries.append((name, parameters, float(weight) if _WEIGHT.match(weight) else 0.0))
    return entries
