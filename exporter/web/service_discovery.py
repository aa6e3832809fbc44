"""``/sd``: the servers as targets for Prometheus' http_sd, each read through ``/scrape``."""

import json
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from exporter.configuration import Server, Web
from exporter.web.messages import Request, Response, plain

SD_PATH = "/sd"
_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?\Z")


def targets(request: Request, servers: Iterable[Server], web: Web) -> Response:
    """Return one group of one target for each server.

    The target is this exporter, under ``web.external_url`` or as the client has called it.
    """
    if web.external_url:
        url = urlsplit(web.external_url)
        scheme, authority, prefix = url.scheme, url.netloc, url.path
    else:
        scheme, prefix = "https" if request.secure else "http", ""
        authority = request.headers.get("Host", "")
        if not _AUTHORITY.match(authority):
            return plain(400, "the Host header names no host: set --web.external-url")
    groups = [
        {
            "targets": [authority],
            "labels": {
                **dict(server.labels),
                "instance": server.address.text,
                "__scheme__": scheme,
                "__metrics_path__": prefix + web.scrape_path,
                "__param_target": server.address.text,
                "__param_module": server.module.name,
            },
        }
        for server in servers
    ]
    return Response(200, json.dumps(groups).encode(), "application/json; charset=utf-8")
