"""``/sd``: the servers as targets for Prometheus' http_sd, each read through ``/scrape``."""

import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from exporter.addresses import is_authority
from exporter.configuration import Server, Web
from exporter.web.messages import Request, Response, plain

SD_PATH = "/sd"


def targets(request: Request, servers: Iterable[Server], web: Web) -> Response:
    """Return one group of one target for each server.

    The target is this exporter, under ``web.external_url`` or as the client has called it.
    """
    if web.external_url:
        url = urlsplit(web.external_url)
        scheme, authority, prefix = url.scheme, url.netloc, url.path
    else:
        scheme, prefix = "https" if request.secure else "http", ""
        hosts = request.headers.get_all("Host", [])
        if len(hosts) != 1 or not is_authority(hosts[0]):
            return plain(400, "the Host header names no host: set --web.external-url")
        authority = hosts[0]
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
