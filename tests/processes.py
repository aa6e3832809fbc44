"""Processes that tests talk to: real memcached servers, the scriptable fake, and the daemon."""

import contextlib
import gzip
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pymemcache  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

FAKE = Path(__file__).parent / "fakes" / "fakemc.py"
START_SECONDS = 10.0


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that nobody listens on now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, host: str = "127.0.0.1") -> None:
    """Wait until something accepts connections."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((host, port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, f"nothing listens on {host}:{port}"
            time.sleep(0.01)
        else:
            return


def wait_or_end(process: subprocess.Popen[bytes], port: int, host: str = "127.0.0.1") -> None:
    """Wait until a process accepts connections; end it when it does not."""
    try:
        wait_for_port(port, host)
    except BaseException:
        process.kill()
        process.wait()
        raise


class Memcached:
    """A real memcached on a loopback port of its own, stopped at the end of the test."""

    def __init__(self, *arguments: str, port: int | None = None, host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = free_port(host) if port is None else port
        self.arguments = arguments
        self.address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        binary = shutil.which("memcached")
        assert binary, "memcached is not installed: make test installs it"
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        process = subprocess.Popen(
            [binary, "-l", self.host, "-p", str(self.port), *user, *self.arguments],
            stderr=subprocess.DEVNULL,
        )
        wait_or_end(process, self.port, self.host)
        return process

    def stats(self, *section: str) -> dict[str, str]:
        """Return what the server itself says, as text, read without the exporter's code."""
        command = " ".join(("stats", *section)).encode()
        with socket.create_connection((self.host, self.port), timeout=5) as connection:
            connection.sendall(command + b"\r\n")
            data = b""
            while not data.endswith(b"END\r\n"):
                data += connection.recv(65536)
        lines = (line.split(" ", 2) for line in data.decode().split("\r\n")[:-2])
        return {line[1]: line[2] for line in lines}

    def client(self) -> pymemcache.Client:
        """Return a client to make traffic with."""
        return pymemcache.Client((self.host, self.port), timeout=5, connect_timeout=5)

    def freeze(self) -> None:
        """Stop the server as a debugger would, and wait until it stands still."""
        self.process.send_signal(signal.SIGSTOP)
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.005)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the server, whatever its state."""
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        """Kill the server and start it again on the same port."""
        self.stop()
        self.process = self._start()


class FakeMemcached:
    """The scriptable server of ``tests/fakes``, for faults that a real one cannot show."""

    def __init__(self, *arguments: str) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._process = subprocess.Popen([sys.executable, str(FAKE), str(self.port), *arguments])
        wait_or_end(self._process, self.port)

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()


class Answer:
    """An HTTP answer: status, headers and the body as it came."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self) -> str:
        """The body as text, uncompressed."""
        compressed = self.headers.get("Content-Encoding") == "gzip"
        return (gzip.decompress(self.body) if compressed else self.body).decode()


class Exporter:
    """The daemon as its users run it, on a loopback port that the system chooses."""

    def __init__(self, log: Path, *arguments: str, listen: str = "127.0.0.1:0") -> None:
        self._log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "exporter", f"--web.listen-address={listen}", *arguments],
                stderr=errors,
            )
        try:
            self.host, self.port = self._wait_until_listening()
        except BaseException:
            self.stop()
            raise

    def _wait_until_listening(self) -> tuple[str, int]:
        deadline = time.monotonic() + START_SECONDS
        while not (found := re.search(r'address"?[=:] ?"?(\S+?):(\d+)"?[ ,]', self.log)):
            assert self.process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.02)
        host = found[1].strip("[]")
        return {"::": "::1", "0.0.0.0": "127.0.0.1"}.get(host, host), int(found[2])

    @property
    def log(self) -> str:
        """All that the daemon has logged."""
        return self._log.read_text()

    def request(
        self, path: str, method: str = "GET", timeout: float = 30, **headers: str
    ) -> Answer:
        """Send one request on a connection of its own; ``_`` in header names stands for ``-``."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        with contextlib.closing(connection):
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=names)
            return Answer(connection.getresponse())

    def samples(
        self, path: str = "/metrics"
    ) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """Scrape, and return name and labels to value; equal samples twice are a failure."""
        answer = self.request(path)
        assert answer.status == 200, answer.text
        return parse(answer.text)

    def threads(self) -> int:
        """Return how many threads the daemon has."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def descriptors(self) -> int:
        """Return how many files and sockets the daemon has open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def stop(self) -> None:
        """End the daemon, whatever its state."""
        self.process.kill()
        self.process.wait()


def parse(page: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Parse a page in the text format into name and labels to value."""
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in samples, f"{key} stands twice"
            samples[key] = sample.value
    return samples


def sample(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the key of a sample in a parsed page."""
    return name, frozenset(labels.items())
