"""/sd never says less than there is, also in the moment when a source has just been read."""

import json
from email.message import Message
from pathlib import Path

import pytest

from exporter.configuration import build, load
from exporter.service import Service
from exporter.web.messages import Request
from tests.web.clients import eventually


def test_until_found_servers_are_in_force_the_list_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the end of a source's first look and the list with its servers /sd is still 503."""
    config = tmp_path / "exporter.yml"
    config.write_text("servers: [{address: '127.0.0.1:1'}]\ndiscovery: {files: [targets.json]}\n")
    headers = Message()
    headers["Host"] = "exporter.example:9150"
    request = Request("GET", "/sd", "", headers)
    service = Service(lambda: build(*load(config)))
    service.start()
    put_in_force = service._put_in_force
    meanwhile = []

    def spy() -> None:
        meanwhile.append(service(request).status)
        put_in_force()

    try:
        assert service(request).status == 503
        monkeypatch.setattr(service, "_put_in_force", spy)
        new = tmp_path / "targets.new"
        new.write_text(json.dumps([{"targets": ["127.0.0.2:2", "127.0.0.3:3"]}]))
        new.rename(tmp_path / "targets.json")
        assert eventually(lambda: service(request).status == 200)
        assert meanwhile == [503]
        listed = json.loads(service(request).body)
        assert [group["labels"]["instance"] for group in listed] == [
            "127.0.0.1:1",
            "127.0.0.2:2",
            "127.0.0.3:3",
        ]
    finally:
        service.close()
