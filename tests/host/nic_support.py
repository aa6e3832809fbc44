"""Network namespaces with devices of their own, and trees of files that look like /sys."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from exporter.configuration import HostSettings
from exporter.host.collector import Read, Sample

READER = Path(__file__).parent / "reader.py"
ROOT = Path(__file__).parents[2]

Values = dict[tuple[str, tuple[str, ...]], float]
"""Numbers by row and labels."""


class Answer(msgspec.Struct, frozen=True):
    """What a collector brought."""

    success: bool | None
    values: Values
    descriptors: int
    """Files that its process has open afterwards."""


class Reader:
    """A process that reads collectors; what goes wrong with itself goes to ``log``."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        self.log = log
        self.logged: list[str] = []
        """Lines that the exporter logged."""
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                text=True,
            )

    def read(self, collector: str) -> Answer:
        """Return what a collector brings now."""
        assert self._process.stdin
        assert self._process.stdout
        print(collector, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        # Lines of the log go to the same place.
        while line and not line.startswith("["):
            self.logged.append(line)
            line = self._process.stdout.readline()
        assert line, self.log.read_text()
        success, samples, descriptors = json.loads(line)
        values = {(key, tuple(labels)): number for key, labels, number in samples}
        assert len(values) == len(samples)
        return Answer(success, values, descriptors)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Namespace:
    """A network namespace."""

    def __init__(self, log: Path) -> None:
        self.name = f"nic-{uuid.uuid4().hex[:8]}"
        self._log = log
        self._readers: list[Reader] = []

    def ip(self, *arguments: str) -> None:
        """Change devices of the namespace."""
        run("ip", "-n", self.name, *arguments)

    def run(self, *arguments: str) -> str:
        """Run a program in the namespace, with its /sys."""
        return run("ip", "netns", "exec", self.name, *arguments)

    def reader(self, include: str = "", exclude: str = "", sysfs: str = "/sys") -> Reader:
        """Start what reads collectors in the namespace."""
        inside = ["ip", "netns", "exec", self.name, sys.executable, str(READER)]
        reader = Reader([*inside, "/proc", sysfs, include, exclude], self._log)
        self._readers.append(reader)
        return reader

    def close(self) -> None:
        """End what runs in the namespace, and remove it with its devices."""
        for reader in self._readers:
            reader.close()
        run("ip", "netns", "del", self.name)


@contextlib.contextmanager
def namespace(directory: Path) -> Iterator[Namespace]:
    """Make a network namespace; the test is skipped where that is not possible."""
    if not shutil.which("ip"):
        pytest.skip("iproute2 is not installed")
    made = Namespace(directory / f"log-{uuid.uuid4().hex[:8]}")
    try:
        run("ip", "netns", "add", made.name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace can be made here: {error.stderr}")
    try:
        yield made
    finally:
        made.close()


def run(*arguments: str) -> str:
    """Run a program and return its output."""
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def settings(directory: Path, include: str = "", exclude: str = "") -> HostSettings:
    """Return the settings for a host whose files are below a directory."""
    return HostSettings(
        procfs=directory / "proc",
        sysfs=directory / "sys",
        include=re.compile(include) if include else None,
        exclude=re.compile(exclude) if exclude else None,
    )


REAL = HostSettings(procfs=Path("/proc"), sysfs=Path("/sys"))


def values(read: Read) -> Values:
    """Return what a source brings, each series of which is there once."""
    return as_values(list(read()))


def as_values(samples: list[Sample]) -> Values:
    """Return samples by row and labels."""
    found = {(key, labels): number for key, labels, number in samples}
    assert len(found) == len(samples)
    return found


def of(found: Values, key: str) -> dict[tuple[str, ...], float]:
    """Return the numbers of one row, by labels."""
    return {labels: number for (row, labels), number in found.items() if row == key}


def write(path: Path, content: str) -> None:
    """Write a file and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def add_device(host: Path, name: str, hardware: str = "") -> Path:
    """Make a network device below ``sys``; ``hardware`` is its directory in /sys/devices."""
    place = host / "sys/devices" / (hardware or "virtual") / "net" / name
    write(place / "ifindex", "7\n")
    write(place / "address", "02:00:00:00:00:07\n")
    if hardware:
        (place / "device").symlink_to(host / "sys/devices" / hardware)
    link = host / "sys/class/net" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(place)
    return place
