"""Processes for the tests to look at: a thread-starting one, readers without privileges."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exporter.configuration import HostSettings
from exporter.host.collector import Sample
from exporter.host.process import Evidence, Process, find
from exporter.memcached.connection import Connection
from tests.processes import START_SECONDS

NOBODY = 65534
FAKE = Path(__file__).parents[1] / "fakes" / "threads.py"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def settings(*collectors: str, procfs: Path = Path("/proc")) -> HostSettings:
    """Return settings that have some collectors switched on."""
    return HostSettings(procfs=procfs, sysfs=Path("/sys"), collectors=frozenset(collectors))


def process_of(pid: int) -> Process:
    """Return a process by its number."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Process(pid=pid, started=int(fields[19]), directory=Path(f"/proc/{pid}"))


def values(samples: list[Sample]) -> dict[tuple[str, ...], float]:
    """Return samples by key and labels, none of which may come twice."""
    found = {(key, *labels): value for key, labels, value in samples}
    assert len(found) == len(samples)
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextlib.contextmanager
def evidence_of(
    endpoint: tuple[str, int] | str, pid: int | None = None
) -> Iterator[tuple[Evidence, float]]:
    """Connect to a server; yield evidence of its process, and its age as it says."""
    connection = Connection(endpoint, connect_timeout=5)
    try:
        (reply,) = connection.exchange(["stats"], time.monotonic() + 5, 1 << 20)
        stats = dict(line.split(" ", 2)[1:] for line in reply.body.splitlines())
        yield connection.evidence(pid or int(stats["pid"])), int(stats["uptime"]) - 2
    finally:
        connection.close()


def found(endpoint: tuple[str, int] | str, procfs: Path = Path("/proc")) -> Process | None:
    """Return the process that is found of a server."""
    with evidence_of(endpoint) as (evidence, age):
        return find(evidence, age, "", settings(procfs=procfs))


def found_by_nobody(evidence: Evidence, age: float, procfs: str = "/proc") -> int | None:
    """Return the number of the process that a reader without privileges finds."""
    program = f"""
        from exporter.host.process import Evidence, find
        from tests.host.subjects import settings
        become_nobody()
        found = find({evidence!r}, {age!r}, "", settings(procfs=Path({procfs!r})))
        print(json.dumps(found and found.pid))
    """
    return run(program)  # type: ignore[no-any-return]


def run(program: str, *before: str) -> Any:
    """Run a program of Python that ends with printing JSON, after some command; return that."""
    lines = [line.removeprefix("        ") for line in program.splitlines()]
    head = (
        "import json, os, sys\nfrom pathlib import Path\n"
        f"def become_nobody():\n  os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    )
    done = subprocess.run(
        [*before, sys.executable, "-c", head + "\n".join(lines)],
        capture_output=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr.decode()
    # What is logged comes before.
    return json.loads(done.stdout.splitlines()[-1])


class Threads:
    """The program of ``tests/fakes/threads.py``, which says what the orders are."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(FAKE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tell("switch 0")

    def tell(self, order: str) -> str:
        """Give an order; return the answer, when it is done and no thread counts on."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if order != "churn":
            self._settle()
        return answer

    def _settle(self) -> None:
        """Wait until all threads sleep: after their answer they have but to go to sleep."""
        last: list[str] = []

        def unchanged() -> bool:
            before = last.copy()
            tasks = Path(f"/proc/{self.process.pid}/task")
            try:
                last[:] = [(task / "status").read_text() for task in tasks.iterdir()]
            except (FileNotFoundError, ProcessLookupError):
                return False
            return last == before and all("\nState:\tS" in status for status in last)

        wait_until(unchanged)

    def start(self, name: str) -> int:
        """Start a thread; return its number."""
        return int(self.tell(f"start {name}"))

    def end(self, thread: int) -> None:
        """End a thread, and wait until the kernel has forgotten it."""
        self.tell(f"end {thread}")
        wait_until(lambda: not Path(f"/proc/{self.process.pid}/task/{thread}").exists())
        self._settle()

    def switches(self, thread: int) -> tuple[int, int]:
        """Return the voluntary and involuntary context switches of a thread, from the kernel."""
        status = Path(f"/proc/{self.process.pid}/task/{thread}/status").read_text()
        lines = dict(line.split(":\t") for line in status.splitlines())
        return int(lines["voluntary_ctxt_switches"]), int(lines["nonvoluntary_ctxt_switches"])

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()
