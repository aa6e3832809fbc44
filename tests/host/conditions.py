"""Waiting for what must come true soon."""

import time
from collections.abc import Callable

_PATIENCE = 10.0
"""Seconds."""


def wait_for_value(read: Callable[[], object], expected: object) -> None:
    """Wait until what is read is what is expected."""
    deadline = time.monotonic() + _PATIENCE
    while (found := read()) != expected:
        assert time.monotonic() < deadline, f"{found} is not {expected}"
        time.sleep(0.01)
