"""The processes of the demo, and what they are configured with."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from bench.processes import HOST, ROOT, Process, free_port
from demo.load import SHAPES, Load
from demo.notices import Notices

_SECONDS_TO_END = 5.0
_JOB = "memcached"
_EXAMPLE = ROOT / "config" / "alertmanager.yml"
_RECEIVERS = "127.0.0.1:9900"
"""Where the example has its webhooks."""
_WAITS = re.compile(r"\b(for|keep_firing_for|group_wait|group_interval): \w+")


class DemoError(Exception):
    """Why there is no demo."""


class Ports(msgspec.Struct, frozen=True):
    """Where each part listens on loopback."""

    exporter: int
    prometheus: int
    alertmanager: int
    notices: int
    servers: tuple[int, ...]


def ports(first: int) -> Ports:
    """Return ports from one on, or any free ones for 0; DemoError when one is taken."""
    fields = ("exporter", "prometheus", "alertmanager", "notices")
    names = [*fields, *(f"memcached ({shape.name})" for shape in SHAPES)]
    numbers = [first + place if first else free_port() for place in range(len(names))]
    for name, number in zip(names, numbers, strict=True):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, number))
            except OSError as error:
                raise DemoError(
                    f"port {number} of {HOST}, for {name}, cannot be had ({error.strerror}):"
                    " choose others with --port, or any free ones with --port 0"
                ) from None
    named = dict(zip(fields, numbers, strict=False))
    return Ports(**named, servers=tuple(numbers[len(fields) :]))


def wish_to_stop() -> threading.Event:
    """Return what is set by Ctrl-C, SIGTERM and the end of the terminal from now on.

    The signals do nothing else: so whatever is about to start is known when all are ended.
    """
    stopped = threading.Event()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup has it
        numbers.append(signal.SIGHUP)
    for number in numbers:
        signal.signal(number, lambda *_: stopped.set())
    return stopped


class Part(Process):
    """A process of the demo, which is asked to end before it is killed."""

    def __init__(self, name: str, command: Sequence[str], port: int) -> None:
        self.name = name
        super().__init__(command, port)

    @property
    def has_ended(self) -> bool:
        """Whether it runs no longer, though nobody here has stopped it."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        super().stop()


class Stack:
    """All parts, on loopback ports.

    ``interval`` is in seconds, from scrape to scrape; ``at_once`` takes the waits of alerts away.
    """

    def __init__(self, where: Ports, interval: int, *, at_once: bool) -> None:
        self._ports = where
        self._interval = f"{interval}s"
        self._at_once = at_once
        self._exits = contextlib.ExitStack()
        self._place = Path()
        self.servers: list[Part] = []
        """The memcached servers, which somebody may kill to see what happens."""
        self._others: list[Part] = []

    @contextlib.contextmanager
    def ended(self) -> Iterator[None]:
        """End all that was started, and remove what it has stored."""
        with self._exits:
            yield

    def start(self) -> Iterator[Part]:
        """Start the parts and yield each, so that one may leave off after any of them."""
        directory = tempfile.TemporaryDirectory(prefix="memcached-demo-")
        self._place = Path(self._exits.enter_context(directory))
        for shape, port in zip(SHAPES, self._ports.servers, strict=True):
            command = _memcached(port, shape.options)
            self.servers.append(self._run(f"memcached ({shape.name})", port, command))
            yield self.servers[-1]
            self._exits.enter_context(Load(shape, port))
        self._exits.enter_context(Notices(self._ports.notices))
        for run in (self._run_exporter, self._run_alertmanager, self._run_prometheus):
            self._others.append(run())
            yield self._others[-1]

    def check(self) -> None:
        """Raise DemoError when a part has ended that nothing goes on without."""
        for part in self._others:
            if part.has_ended:
                raise DemoError(f"{part.name} has ended: {part.output()}")

    def _run(self, name: str, port: int, command: Sequence[str]) -> Part:
        return self._exits.enter_context(Part(name, command, port))

    def _run_exporter(self) -> Part:
        config = self._write("exporter.yml", _yaml(self._exporter()))
        command = [sys.executable, "-m", "exporter", f"--config.file={config}"]
        return self._run("exporter", self._ports.exporter, command)

    def _run_alertmanager(self) -> Part:
        text = _EXAMPLE.read_text(encoding="utf-8")
        text = text.replace(_RECEIVERS, f"{HOST}:{self._ports.notices}")
        command = [
            _installed("prometheus-alertmanager", "alertmanager"),
            f"--config.file={self._write('alertmanager.yml', self._hurried(text, '1s'))}",
            f"--storage.path={self._place / 'alertmanager'}",
            f"--web.listen-address={HOST}:{self._ports.alertmanager}",
            "--cluster.listen-address=",
        ]
        return self._run("Alertmanager", self._ports.alertmanager, command)

    def _run_prometheus(self) -> Part:
        self._write("rules.yml", self._hurried(_rules(self._place / "exporter.yml"), "0s"))
        command = [
            _installed("prometheus"),
            f"--config.file={self._write('prometheus.yml', _yaml(self._prometheus()))}",
            f"--storage.tsdb.path={self._place / 'prometheus'}",
            f"--web.listen-address={HOST}:{self._ports.prometheus}",
        ]
        return self._run("Prometheus", self._ports.prometheus, command)

    def _write(self, name: str, text: str) -> Path:
        path = self._place / name
        path.write_text(text, encoding="utf-8")
        return path

    def _hurried(self, text: str, wait: str) -> str:
        return _WAITS.sub(rf"\1: {wait}", text) if self._at_once else text

    def _exporter(self) -> dict[str, Any]:
        return {
            "servers": [{"address": f"{HOST}:{port}"} for port in self._ports.servers],
            "modules": {"default": {"probe": {"interval": "500ms"}}},
            "web": {"listen": [f"{HOST}:{self._ports.exporter}"]},
        }

    def _prometheus(self) -> dict[str, Any]:
        def at(port: int) -> list[dict[str, list[str]]]:
            return [{"targets": [f"{HOST}:{port}"]}]

        return {
            "global": {
                "scrape_interval": self._interval,
                "scrape_timeout": self._interval,
                "evaluation_interval": self._interval,
            },
            "rule_files": ["rules.yml"],
            "alerting": {"alertmanagers": [{"static_configs": at(self._ports.alertmanager)}]},
            "scrape_configs": [{"job_name": _JOB, "static_configs": at(self._ports.exporter)}],
        }


def _yaml(data: dict[str, Any]) -> str:
    return yaml.safe_dump(data, sort_keys=False)


def _memcached(port: int, options: Sequence[str]) -> list[str]:
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    return [_installed("memcached"), "-l", HOST, "-p", str(port), *user, *options]


def _rules(config: Path) -> str:
    command = [sys.executable, "-m", "exporter", "rules", f"--config.file={config}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _installed(*names: str) -> str:
    """Return the path of a program, which has another name where Debian packs it."""
    for name in names:
        if found := shutil.which(name):
            return found
    raise DemoError(f"{names[-1]} is not installed: make demo installs it")
