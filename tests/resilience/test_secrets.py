"""Secrets appear nowhere: a marker is planted in each of them and searched for everywhere."""

import contextlib
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import Memcached
from tests.resilience.certificates import Authority
from tests.resilience.support import Daemon, refused_start
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


class Scene(NamedTuple):
    """Servers with secrets, and a configuration that knows them."""

    guarded: Memcached
    secure: Memcached
    parrot: str
    key: Path
    """The exporter's own key."""
    text: str
    shared: Path


@pytest.fixture
def scene(
    memcached: Callable[..., Memcached],
    authority: Authority,
    parrots: list[Parrot],
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Scene:
    """Plant the markers."""
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
    lines = [
        "servers:",
        *(f'  - {{address: "{address}", module: {module}}}' for address, module in servers),
        "modules:",
        *(f"  {name}: {module}" for name, module in modules.items()),
        "scrape: {allow: [127.0.0.1]}",
    ]
    text = "\n".join(lines) + "\n"
    return Scene(guarded, secure, parrots[0].address, key, text, shared)


class Witness:
    """Remembers all that a daemon says to whoever asks."""

    def __init__(self, running: Daemon, scene: Scene) -> None:
        self.running = running
        self.scene = scene
        self.seen: list[str] = []

    def ask(self, path: str, method: str = "GET") -> None:
        """Send one request."""
        answer = self.running.request(path, method=method)
        self.seen.append(f"{answer.status} {answer.headers} {answer.text}")

    def look_around(self) -> None:
        """Ask for everything."""
        for path in ("/metrics", "/metrics", "/", "/-/healthy", "/config", "/nope", "/debug"):
            self.ask(path)
        addresses = (self.scene.guarded.address, self.scene.secure.address, self.scene.parrot)
        for module in ("file", "env", "tls", "nope", ""):
            for target in (*addresses, "127.0.0.1:1", "?"):
                self.ask(f"/scrape?target={target}&module={module}&debug=true")
        self.ask("/-/reload", method="POST")
        place = (self.running.host, self.running.port)
        self.seen.append(talk(place, b"\x16\x03\x01 nonsense\r\n\r\n").decode())


def broken(text: str) -> tuple[str, ...]:
    """Return configurations in which a secret stands where it must not."""
    file = "password_file: password"
    return (
        text.replace(file, f"password: {IN_FILE}"),
        text.replace(file, f"password_file: {{x: {IN_FILE}}}"),
        text + f"auth: {IN_FILE}\n",
        text.replace(f"password_env: {VARIABLE}", f"password_env: [{IN_ENVIRONMENT}]"),
        text + f'x: "{IN_FILE}\n',
    )


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_markers_are_nowhere(scene: Scene, configured: Callable[..., Daemon], form: str) -> None:
    """Neither log nor page nor error nor command line has a password or a key, whatever happens."""
    secrets = (IN_FILE, IN_ENVIRONMENT, *words_of(scene.key))
    flags = ("--log.level=debug", f"--log.format={form}", "--web.enable-lifecycle")
    running = configured(scene.text, *flags)
    witness = Witness(running, scene)
    witness.look_around()
    pages = "".join(witness.seen)
    assert f'memcached_up{{server="{scene.guarded.address}"}} 1' in pages
    assert f'memcached_up{{server="localhost:{scene.guarded.port}"}} 0' in pages
    (scene.shared / "password").write_text(f"{IN_FILE} and more\n")
    scene.key.write_text(scene.key.read_text().replace("BEGIN", "BROKEN"))
    scene.guarded.restart()
    scene.secure.restart()
    witness.look_around()
    (scene.shared / "password").write_text(f"{IN_FILE}-wrong\n")
    witness.look_around()
    path = scene.shared / "exporter.yml"
    for text in broken(scene.text):
        path.write_text(text)
        running.process.send_signal(signal.SIGHUP)
        witness.ask("/-/reload", method="POST")
        assert witness.seen[-1].startswith("500")
        witness.seen.append(refused_start(f"--config.file={path}"))
        check = subprocess.run(
            [sys.executable, "-m", "exporter", "config", "check", str(path)],
            capture_output=True,
            check=False,
        )
        assert check.returncode == 2
        witness.seen.append((check.stdout + check.stderr).decode())
    assert eventually(lambda: "probe failed" in running.log)
    command = Path(f"/proc/{running.process.pid}/cmdline").read_bytes().decode()
    running.process.terminate()
    running.process.wait(timeout=10)
    everything = {"pages": "".join(witness.seen), "log": running.log, "command line": command}
    for where, found in everything.items():
        for secret in secrets:
            hits = [match.start() for match in re.finditer(re.escape(secret), found)]
            assert not hits, (where, found[max(0, hits[0] - 80) : hits[0] + 40])
