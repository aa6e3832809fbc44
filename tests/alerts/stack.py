"""What alerts pass through: a real Alertmanager, and somebody who is told."""

import http.server
import json
import re
import shutil
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError

from tests.processes import free_port
from tests.web.clients import eventually

CONFIG = Path(__file__).parents[2] / "config" / "alertmanager.yml"
RECEIVERS = "127.0.0.1:9900"
"""Where the example has its webhooks."""


class Notice(NamedTuple):
    """One alert as a receiver was told of it."""

    receiver: str
    """The last part of the webhook's URL."""
    status: str
    labels: dict[str, str]
    annotations: dict[str, str]


class Receiver:
    """A webhook that keeps what it is told."""

    def __init__(self) -> None:
        notices: list[Notice] = []
        self.notices = notices

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                """Keep the alerts of one notification."""
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                notices.extend(
                    Notice(self.path[1:], alert["status"], alert["labels"], alert["annotations"])
                    for alert in body["alerts"]
                )
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def find(self, status: str, alert: str, **labels: str) -> list[Notice]:
        """Return what was told of an alert with these labels among its own."""
        wanted = {"alertname": alert, **labels}.items()
        told = list(self.notices)
        return [n for n in told if n.status == status and wanted <= n.labels.items()]

    def wait(self, status: str, alert: str, seconds: float, **labels: str) -> Notice:
        """Wait until it was told of an alert, and return the last such notice."""
        assert eventually(lambda: bool(self.find(status, alert, **labels)), seconds), (
            f"not told within {seconds} s: {alert} {status} {labels}; told: {self.notices}"
        )
        return self.find(status, alert, **labels)[-1]

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


class Alertmanager:
    """An Alertmanager of our own on a loopback port, with the shipped configuration.

    ``waits`` replaces its times for grouping; notifications go to the receiver.
    """

    def __init__(self, directory: Path, receiver: str, waits: dict[str, str] | None = None) -> None:
        text = CONFIG.read_text(encoding="utf-8")
        assert RECEIVERS in text
        text = text.replace(RECEIVERS, receiver)
        for name, value in (waits or {}).items():
            text = re.sub(rf"\b{name}: \w+", f"{name}: {value}", text)
        config = directory / "alertmanager.yml"
        config.write_text(text)
        self.address = f"127.0.0.1:{free_port()}"
        # Debian's binary has a name of its own.
        binary = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
        assert binary, "alertmanager is not installed: make test installs it"
        with (directory / "alertmanager.log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    binary,
                    f"--config.file={config}",
                    f"--storage.path={directory / 'alertmanager'}",
                    f"--web.listen-address={self.address}",
                    "--cluster.listen-address=",
                ],
                stderr=log,
                stdout=log,
                cwd=directory,
            )
        try:
            assert eventually(self._ready, 30), (directory / "alertmanager.log").read_text()
        except BaseException:
            self.stop()
            raise

    def _ready(self) -> bool:
        try:
            return bool(self._ask("status"))
        except URLError:
            return False

    def _ask(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://{self.address}/api/v2/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def fire(self, *alerts: dict[str, str]) -> None:
        """Tell it of alerts by their labels, as Prometheus would."""
        self._ask("alerts", [{"labels": labels} for labels in alerts])

    def resolve_all(self) -> None:
        """Tell it that all alerts are over, and wait until it has none."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        over = [{"labels": dict(labels), "endsAt": now} for labels in self.suppressed()]
        self._ask("alerts", over)
        assert eventually(lambda: not self.suppressed())

    def suppressed(self) -> dict[frozenset[tuple[str, str]], bool]:
        """Return the labels of each alert that it has, and whether another one holds it back."""
        return {
            frozenset(alert["labels"].items()): bool(alert["status"]["inhibitedBy"])
            for alert in self._ask("alerts")
        }

    def stop(self) -> None:
        """End it, whatever its state."""
        self.process.kill()
        self.process.wait()
