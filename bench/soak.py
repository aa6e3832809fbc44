"""Whether every page is right while everything around misbehaves: ``python -m bench.soak``.

One daemon reads four memcached servers that are killed, frozen and filled, is told to reload, and
has clients that misbehave. Each page is checked; memory, threads and descriptors must not grow.
Exit status 1 when a page was wrong or something grew, 2 when it could not run.
"""

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from bench.processes import (
    HOST,
    CannotMeasureError,
    cpu_seconds,
    first_line,
    resident_bytes,
)
from bench.soak_chaos import Chaos, Diary
from bench.soak_clients import ask_at_once
from bench.soak_pages import DEADLINE, OPENMETRICS, TEXT, Stream
from bench.soak_servers import Cache, Child, Load, end, low_port, start

_INTERVAL = 1.0
_TEXT_EVERY = 10
_CALM_SECONDS = 13.0
"""Longer than the exporter waits for the headers of a silent client."""
_LEAST_CHAOS_SECONDS = 3.0
_MARKS = (0.1, 0.5, 1.0)
_CROWD = 40
"""Pages at once that need all threads the exporter ever has for its four servers."""
_WARM_UP_SECONDS = 10.0
_MOST_ROUNDS = 8
_MOST_GROWTH = 5e6
_CONFIGURATION = """\
servers:
  - address: {default}
  - address: {small}
  - address: {idle}
    module: probed
  - address: {unix}
modules:
  default: {{timeout: 1s}}
  probed: {{timeout: 1s, probe: {{interval: 3s, canary_key: "soak:canary"}}}}
web: {{listen: ["{listen}"]}}
"""


class Mark(msgspec.Struct, frozen=True):
    """What the daemon uses when all is healed and idle."""

    share: float
    resident: int
    threads: int
    descriptors: int


class Soak:
    """A daemon under observation."""

    def __init__(
        self, daemon: Child, place: tuple[str, int], caches: Sequence[Cache], chance: random.Random
    ) -> None:
        self.daemon = daemon
        self.place = place
        self.caches = caches
        self.chance = chance
        self.diary = Diary()
        self.pages = self.wrong = 0
        self.worst = 0.0
        self._streams = [
            Stream(place, caches, OPENMETRICS, ""),
            Stream(place, caches, OPENMETRICS, caches[0].address),
        ]
        self._text = Stream(place, caches, TEXT, "")
        self._ticks = 0

    def run(self, seconds: float) -> list[Mark]:
        """Soak; return the marks."""
        began = time.monotonic()
        marks = []
        for share in _MARKS:
            calm_from = began + share * seconds - _CALM_SECONDS
            calm_from = max(calm_from, time.monotonic() + _LEAST_CHAOS_SECONDS)
            with Chaos(self.caches, self.daemon, self.place, self.chance, self.diary) as chaos:
                self._scrape_until(calm_from, chaos)
            self._scrape_until(time.monotonic() + _CALM_SECONDS)
            marks.append(self._mark(share))
        return marks

    def _mark(self, share: float) -> Mark:
        proc = Path(f"/proc/{self.daemon.pid}")
        threads, descriptors = (len(list((proc / kind).iterdir())) for kind in ("task", "fd"))
        return Mark(share, resident_bytes(self.daemon.pid), threads, descriptors)

    def _scrape_until(self, until: float, chaos: Chaos | None = None) -> None:
        with ThreadPoolExecutor(3, thread_name_prefix="scrape") as pool:
            following = time.monotonic()
            while following < until:
                if self.daemon.poll() is not None:
                    raise CannotMeasureError(f"the daemon ended with {self.daemon.returncode}")
                self._tick(pool)
                following = max(following + _INTERVAL, time.monotonic())
                if chaos:
                    following = max(following, chaos.nap_until)
                time.sleep(max(0.0, following - time.monotonic()))

    def _tick(self, pool: ThreadPoolExecutor) -> None:
        """Scrape as Prometheus does, all pages at once, and check them."""
        self._ticks += 1
        streams = [*self._streams, *([self._text] if self._ticks % _TEXT_EVERY == 0 else [])]
        tasks = [pool.submit(stream.fetch) for stream in streams]
        answers = [task.result() for task in tasks]
        for stream, answer in zip(streams, answers, strict=True):
            faults = stream.faults(answer)
            self.pages += 1
            self.wrong += bool(faults)
            self.worst = max(self.worst, answer.seconds)
            for fault in faults:
                self.diary.fault(fault)

    def warm_up(self) -> None:
        """Let the exporter make its largest pages, and start all the threads that it keeps.

        It has threads for healthy servers and others for those that failed; how many start is
        also a matter of chance, so rounds follow until one of them starts none.
        """
        before = -1
        for _ in range(_MOST_ROUNDS):
            self._warm_up_once()
            threads = self._mark(0.0).threads
            if threads == before:
                return
            before = threads

    def _warm_up_once(self) -> None:
        ask_at_once(self.place, [b"/metrics"] * _CROWD, _WARM_UP_SECONDS)
        for cache in self.caches:
            cache.freeze()
        for _ in range(2):  # the second time they are known to fail
            ask_at_once(self.place, [b"/metrics"] * _CROWD, _WARM_UP_SECONDS)
        for cache in self.caches[:-1]:
            cache.thaw()
        ask_at_once(self.place, [b"/metrics"], _WARM_UP_SECONDS)
        for _ in range(2):  # what the others said is kept until the frozen one's time is over
            ask_at_once(self.place, [b"/metrics"] * _CROWD, _WARM_UP_SECONDS)
        self.caches[-1].thaw()
        ask_at_once(self.place, [b"/metrics"], _WARM_UP_SECONDS)

    def close(self) -> None:
        """Close the connections to the daemon."""
        for stream in (*self._streams, self._text):
            stream.close()


def soak(minutes: float, seed: int) -> bool:
    """Run the soak and print what it found; return whether all was well.

    Raises CannotMeasureError.
    """
    chance = random.Random(seed)
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak")))
        directory.chmod(0o777)  # memcached makes its socket there as another user
        caches = [
            Cache("default", (HOST, low_port(chance))),
            Cache("small", (HOST, low_port(chance)), "-c", "64"),
            Cache("idle", (HOST, low_port(chance)), "-o", "idle_timeout=2"),
            Cache("unix", str(directory / "memcached.sock")),
        ]
        for cache in caches:
            stack.callback(cache.kill)
            cache.start()
        load = Load(caches, random.Random(seed))
        load.fill()
        load.start()
        stack.callback(load.end)
        place = HOST, low_port(chance)
        configuration = directory / "exporter.yml"
        addresses = {cache.name: f'"{cache.address}"' for cache in caches}
        listen = f"{place[0]}:{place[1]}"
        configuration.write_text(_CONFIGURATION.format(listen=listen, **addresses))
        log = directory / "log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "exporter", f"--config.file={configuration}"]
            daemon = start(command, place, output)
        stack.callback(end, daemon)
        found = Soak(daemon, place, caches, chance)
        stack.callback(found.close)
        began, started = time.monotonic(), resident_bytes(daemon.pid)
        print(f"{minutes:g} minutes, seed {seed}, {first_line('memcached', '-V')}", flush=True)
        found.warm_up()
        marks = found.run(minutes * 60)
        cpu = cpu_seconds(daemon.pid) / (time.monotonic() - began)
        _stop(daemon, log, found.diary)
        return _report(found, marks, started, cpu)


def _stop(daemon: Child, log: Path, diary: Diary) -> None:
    """End the daemon as an operator does, and look for what it should not have logged."""
    daemon.terminate()
    try:
        status = daemon.wait(10)
    except subprocess.TimeoutExpired:
        status = None
    if status != 0:
        diary.fault(f"the daemon ended with {status} upon SIGTERM")
    text = log.read_text()
    for word in ("Traceback", "level=error", "inside the exporter"):
        if word in text:
            place = text.index(word)
            diary.fault(f"the log says {word}: {text[max(0, place - 300) : place + 1500]}")


def _report(found: Soak, marks: list[Mark], started: int, cpu: float) -> bool:
    counts = ", ".join(f"{count} {what}" for what, count in sorted(found.diary.counts.items()))
    print(f"mischief      {counts}")
    print(f"pages         {found.pages}, wrong {found.wrong}")
    print(f"faults        {len(found.diary.faults)}, on pages and elsewhere")
    print(f"worst page    {found.worst:.2f} s of {DEADLINE:g} s")
    print(f"CPU           {cpu:.1%} of one core")
    print(f"{'at':14}{'RSS MB':>8}{'threads':>9}{'descriptors':>13}")
    print(f"{'start':14}{started / 1e6:8.1f}")
    for mark in marks:
        sizes = f"{mark.resident / 1e6:8.1f}{mark.threads:9}{mark.descriptors:13}"
        print(f"{mark.share:<14.0%}{sizes}")
    first, last = marks[0], marks[-1]
    grown = [
        what
        for what, most, growth in (
            ("RSS", _MOST_GROWTH, last.resident - first.resident),
            ("threads", 0, last.threads - first.threads),
            ("descriptors", 0, last.descriptors - first.descriptors),
        )
        if growth > most
    ]
    if grown:
        print(f"GROWN         {', '.join(grown)}")
    return not (grown or found.diary.faults)


def _minutes(text: str) -> float:
    number = float(text)
    if not 0 < number <= 24 * 60:
        raise ValueError(text)
    return number


def main() -> int:
    """Soak and print."""
    parser = argparse.ArgumentParser("python -m bench.soak", description=__doc__)
    parser.add_argument(
        "--minutes", type=_minutes, default=5, metavar="N", help="(default 5, sensible from 2)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="repeat a sequence (default: random)")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**16) if options.seed is None else options.seed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("soak: ended by SIGTERM"))
    try:
        return 0 if soak(options.minutes, seed) else 1
    except CannotMeasureError as error:
        print(f"soak: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
