"""Who is told of alerts: prints what Alertmanager sends to the webhooks of its example."""

import http.server
import json
import threading
from typing import Self

from bench.processes import HOST


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Print the alerts of one notification; the path says who would be told."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for alert in body["alerts"]:
            labels = alert["labels"]
            about = labels.get("server") or labels.get("instance", labels.get("job", ""))
            print(
                f"{self.path[1:]}: {alert['status']}, {labels['alertname']} of {about}:"
                f" {alert['annotations'].get('description', '')}",
                flush=True,
            )
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""


class Notices:
    """A webhook on loopback; as a context manager it is ended at the end."""

    def __init__(self, port: int) -> None:
        self._server = http.server.ThreadingHTTPServer((HOST, port), _Handler)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, name="notices", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
