"""Secrets appear nowhere: a marker is planted in each of them and searched for everywhere."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import Memcached
from tests.resilience.certificates import Authority
from tests.resilience.support import Daemon
from tests.web.clients import eventually, talk

IN_FILE, IN_ENVIRONMENT = "marker-0f-the-file", "marker-0f-the-environment"
VARIABLE = "SECRET_OF_THE_TEST"


def words_of(key: Path) -> list[str]:
    """Return the lines of a key that are secret."""
    return [line for line in key.read_text().splitlines() if "-----" not in line]


class Parrot:
    """A server that answers with what it was sent, as a careless one may."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer = self._listener.accept()[0]
                with peer, contextlib.suppress(OSError):
                    while data := peer.recv(4096):
                        if data.startswith(b"version"):
                            peer.sendall(b"CLIENT_ERROR unauthenticated\r\n")
                        else:
                            words = data.split(b"\r\n")[1] if b"\r\n" in data else data
                            peer.sendall(self._answer % words)

    def close(self) -> None:
        """Listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def parrots() -> Iterator[list[Parrot]]:
    """Servers that repeat a password in each place of an answer."""
    answers = (b"%s\r\n", b"ERROR %s\r\n", b"CLIENT_ERROR bad data %s\r\n", b"SERVER_ERROR %s\r\n")
    made = [Parrot(answer) for answer in answers]
    yield made
    for parrot in made:
        parrot.close()


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_markers_are_nowhere(
    memcached: Callable[..., Memcached],
    configured: Callable[..., Daemon],
    authority: Authority,
    parrots: list[Parrot],
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    """Neither log nor page nor error nor command line has a password or a key, whatever happens."""
    monkeypatch.setenv(VARIABLE, IN_ENVIRONMENT)
    (shared / "users").write_text(f"mon:{IN_FILE}\n")
    (shared / "password").write_text(f"{IN_FILE}\n")
    mine = authority.issue()
    key = shared / "me.key"
    key.write_bytes(mine.key.read_bytes())
    guarded = memcached("-Y", str(shared / "users"))
    secure = memcached(*mine.serve())
    modules = {
        "file": "{auth: {username: mon, password_file: password}, probe: {interval: 50ms}}",
        "env": f"{{auth: {{username: mon, password_env: {VARIABLE}}}, probe: {{interval: 50ms}}}}",
        "tls": f"{{tls: {{ca_file: {authority.ca}, cert_file: {mine.cert}, key_file: me.key}}}}",
    }
    servers = [
        (guarded.address, "file"),
        (f"localhost:{guarded.port}", "env"),
        (secure.address, "tls"),
        *((parrot.address, "file") for parrot in parrots),
    ]
    text = (
        "servers:\n"
        + "".join(f'  - {{address: "{a}", module: {m}}}\n' for a, m in servers)
        + "modules:\n"
        + "".join(f"  {name}: {module}\n" for name, module in modules.items())
        + "scrape: {allow: [127.0.0.1]}\n"
    )
    running = configured(
        text, "--log.level=debug", f"--log.format={form}", "--web.enable-lifecycle"
    )
    seen: list[str] = []

    def ask(path: str, method: str = "GET") -> None:
        answer = running.request(path, method=method)
        seen.append(f"{answer.status} {answer.headers} {answer.text}")

    def look_around() -> None:
        for path in ("/metrics", "/metrics", "/", "/-/healthy", "/config", "/nope", "/debug"):
            ask(path)
        for module in (*modules, "nope", ""):
            for target in (guarded.address, secure.address, parrots[0].address, "127.0.0.1:1", "?"):
                ask(f"/scrape?target={target}&module={module}&debug=true")
        ask("/-/reload", method="POST")
        seen.append(talk((running.host, running.port), b"\x16\x03\x01 nonsense\r\n\r\n").decode())

    look_around()
    pages = "".join(seen)
    assert f'memcached_up{{server="{guarded.address}"}} 1' in pages
    assert f'memcached_up{{server="localhost:{guarded.port}"}} 0' in pages
    (shared / "password").write_text(f"{IN_FILE} and more\n")
    key.write_text(key.read_text().replace("BEGIN", "BROKEN"))
    guarded.restart()
    secure.restart()
    look_around()
    (shared / "password").write_text(f"{IN_FILE}-wrong\n")
    look_around()
    path = shared / "exporter.yml"
    for broken in (
        text.replace("password_file: password", f"password: {IN_FILE}"),
        text.replace("password_file: password", f"password_file: {{x: {IN_FILE}}}"),
        text + f"auth: {IN_FILE}\n",
        text.replace(f"password_env: {VARIABLE}", f"password_env: [{IN_ENVIRONMENT}]"),
        text + f'x: "{IN_FILE}\n',
    ):
        path.write_text(broken)
        running.process.send_signal(signal.SIGHUP)
        ask("/-/reload", method="POST")
        assert seen[-1].startswith("500")
        check = subprocess.run(
            [sys.executable, "-m", "exporter", "config", "check", str(path)],
            capture_output=True,
            check=False,
        )
        assert check.returncode == 2
        seen.append((check.stdout + check.stderr).decode())
    assert eventually(lambda: "probe failed" in running.log)
    with contextlib.suppress(ProcessLookupError):
        os.kill(running.process.pid, signal.SIGTERM)
    command = Path(f"/proc/{running.process.pid}/cmdline").read_bytes().decode()
    running.process.wait(timeout=10)
    everything = {"pages": "".join(seen), "log": running.log, "command line": command}
    for where, found in everything.items():
        for marker in (IN_FILE, IN_ENVIRONMENT, *words_of(mine.key)):
            assert marker not in found, re.findall(rf".*{re.escape(marker)}.*", found)[:3] + [where]
