"""When to look: at a steady pace, which neither slow looks nor the system's clock shift."""

import contextlib
import math
import signal
import time
from collections.abc import Callable, Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What ends a watch: Ctrl-C, a service manager, a terminal that is closed."""
_TICK_SECONDS = 1.0

Wait = Callable[[float], bool]
"""Waits until a moment of ``time.monotonic``; returns False when the watch shall end."""


def ticks(interval: float, count: int | None, wait: Wait) -> Iterator[int]:
    """Yield 0 at once, and the number of each interval at its end, up to ``count`` if given.

    An interval whose end has passed when its turn comes, as the machine was asleep say, is left
    out: looks without time in between would say nothing.
    """
    began, number = time.monotonic(), 0
    yield number
    while number != count:
        passed = math.floor((time.monotonic() - began) / interval)
        number = max(number + 1, passed) if count is None else min(max(number + 1, passed), count)
        if not wait(began + number * interval):
            return
        yield number


class Waiting:
    """Waits for a moment or for a signal that ends the watch, which are blocked until then.

    ``tick`` is called once a second meanwhile.
    """

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        # What runs under nohup outlives its terminal.
        hang_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        self._signals = SIGNALS if hang_up else SIGNALS[:-1]
        self.signal: signal.Signals | None = None
        """What ended the watch."""

    def __call__(self, moment: float) -> bool:
        """Wait until a moment; return False upon a signal."""
        while True:
            self._tick()
            left = max(0.0, moment - time.monotonic())
            told = signal.sigtimedwait(self._signals, min(left, _TICK_SECONDS))
            if told:
                self.signal = signal.Signals(told.si_signo)
                return False
            if left <= _TICK_SECONDS:
                return True


@contextlib.contextmanager
def held_signals() -> Iterator[None]:
    """Block the signals that end a watch, in this thread and those that it starts."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        # Whoever was impatient has been heard.
        while signal.sigtimedwait(SIGNALS, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
