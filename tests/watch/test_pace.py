"""Looks come at a steady pace, as many as were asked for, until a signal."""

import signal
from collections.abc import Callable

import pytest

from exporter.watch import pace
from exporter.watch.pace import Waiting, held_signals, ticks


class Clock:
    """The time as the pace sees it, which waiting moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Return seconds since anything."""
        return self.now

    def wait(self, moment: float) -> bool:
        """Be at a moment, unless it has passed."""
        self.now = max(self.now, moment)
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Set the time by hand."""
    clock = Clock()
    monkeypatch.setattr(pace, "time", clock)
    return clock


def looked_at(
    clock: Clock, count: int | None, took: Callable[[int], float]
) -> list[tuple[int, float]]:
    """Return number and time of each look, given how long each took."""
    found = []
    for number in ticks(5.0, count, clock.wait):
        found.append((number, clock.now - 1000.0))
        clock.now += took(number)
        if len(found) == 10:
            break
    return found


def test_the_number_of_intervals_is_exact(clock: Clock) -> None:
    """The first look is at the begin, then one comes at the end of each interval."""
    assert looked_at(clock, 3, lambda _: 0.0) == [(0, 0.0), (1, 5.0), (2, 10.0), (3, 15.0)]


def test_slow_looks_do_not_shift_the_next_ones(clock: Clock) -> None:
    """The time that a look takes is no part of the pause."""
    assert looked_at(clock, 3, lambda _: 4.9) == [(0, 0.0), (1, 5.0), (2, 10.0), (3, 15.0)]


def test_a_late_look_is_made_at_once(clock: Clock) -> None:
    """Its interval is longer and the next one shorter, but none is left out."""
    late = looked_at(clock, 3, lambda number: 6.0 if number == 1 else 0.0)
    assert late == [(0, 0.0), (1, 5.0), (2, 11.0), (3, 15.0)]


def test_intervals_that_were_slept_through_are_left_out(clock: Clock) -> None:
    """A machine that wakes up looks once, and then goes on in step."""
    slept = looked_at(clock, 6, lambda number: 18.0 if number == 1 else 0.0)
    assert slept == [(0, 0.0), (1, 5.0), (4, 23.0), (5, 25.0), (6, 30.0)]


def test_the_end_is_not_slept_through(clock: Clock) -> None:
    """The last look is made, however late."""
    assert looked_at(clock, 2, lambda _: 60.0) == [(0, 0.0), (2, 60.0)]


def test_without_a_count_there_is_no_end(clock: Clock) -> None:
    """It is for a signal to end the watch."""
    assert [number for number, _ in looked_at(clock, None, lambda _: 0.0)] == list(range(10))


def test_a_signal_ends_the_wait() -> None:
    """It is remembered, and no interval comes after it."""
    with held_signals():
        signal.raise_signal(signal.SIGTERM)
        waiting = Waiting(lambda: None)
        assert list(ticks(3600.0, None, waiting)) == [0]
    assert waiting.signal is signal.SIGTERM


def test_signals_that_came_too_late_do_no_harm() -> None:
    """A second Ctrl-C while the summary is printed does not end the program."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with held_signals():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert not {signal.SIGINT, signal.SIGTERM} & signal.sigpending()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_progress_is_told_while_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before each second of the wait, and the wait ends at its moment."""
    clock, told, waits = Clock(), [], []

    def sigtimedwait(_signals: object, seconds: float) -> None:
        waits.append(seconds)
        clock.now += seconds

    monkeypatch.setattr(pace, "time", clock)
    monkeypatch.setattr(signal, "sigtimedwait", sigtimedwait)
    assert Waiting(lambda: told.append(clock.now))(1002.5)
    assert told == [1000.0, 1001.0, 1002.0]
    assert waits == [1.0, 1.0, 0.5]
