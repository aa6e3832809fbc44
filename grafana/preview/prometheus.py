"""What panels ask Prometheus for."""

import json
import math
import urllib.error
import urllib.request
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

_SECONDS_TO_ANSWER = 30


class PreviewError(Exception):
    """Why there is no picture."""


class Series(NamedTuple):
    """One series of an answer."""

    labels: dict[str, str]
    points: list[tuple[float, float]]
    """Seconds since 1970 and values; only one of an instant query."""


class Source(Protocol):
    """Where numbers come from."""

    def instant(self, expr: str, at: float) -> list[Series]:
        """Return what an expression is at a time, in seconds since 1970."""

    def range(self, expr: str, start: float, end: float, step: float) -> list[Series]:
        """Return what an expression is from one time to another, each so many seconds."""


class Prometheus:
    """A Prometheus by its URL."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def instant(self, expr: str, at: float) -> list[Series]:
        """Return what an expression is at a time; PreviewError when Prometheus refuses."""
        return [
            _series(one["metric"], [one["value"]])
            for one in self._ask("query", query=expr, time=str(at))
        ]

    def range(self, expr: str, start: float, end: float, step: float) -> list[Series]:
        """Return what an expression is over time; PreviewError when Prometheus refuses."""
        times = {"start": str(start), "end": str(end), "step": str(step)}
        return [
            _series(one["metric"], one["values"])
            for one in self._ask("query_range", query=expr, **times)
        ]

    def _ask(self, path: str, **parameters: str) -> list[dict[str, Any]]:
        url = f"{self._url}/api/v1/{path}?{urlencode(parameters)}"
        try:
            # The URL is the operator's own.
            with urllib.request.urlopen(url, timeout=_SECONDS_TO_ANSWER) as answer:  # noqa: S310
                found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            reason = _reason(error)
            raise PreviewError(f"{self._url} refuses {parameters['query']}: {reason}") from None
        except (OSError, ValueError, LookupError) as error:
            raise PreviewError(f"no answer of a Prometheus at {self._url}: {error}") from None
        return found


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, LookupError):  # it is no Prometheus
        return f"HTTP {error.code}"


def _series(labels: dict[str, str], points: list[tuple[float, str]]) -> Series:
    # Nothing is drawn where there is no number, or one that no axis reaches.
    numbers = [(when, float(text)) for when, text in points]
    return Series(labels, [point for point in numbers if math.isfinite(point[1])])
