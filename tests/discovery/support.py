"""What the tests of discovery share: files in a directory, and what a daemon says it has found."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from exporter.configuration import ConfigFile, FileDiscovery, Module, build
from exporter.discovery.files import FileFinder
from exporter.discovery.finding import Finding
from tests.processes import Exporter, sample


def modules(*names: str) -> dict[str, Module]:
    """Return the default module and others of these names."""
    file = {"servers": [], "modules": {name: {} for name in names}}
    return build(msgspec.convert(file, ConfigFile), str).modules


class Files:
    """A directory of files that list servers, and what looks at them."""

    def __init__(self, directory: Path, pattern: str = "*") -> None:
        self.directory = directory
        source = FileDiscovery(str(directory / pattern), modules("brief"))
        self.look = FileFinder(source)

    def put(self, name: str, text: str) -> Path:
        """Put a file in place at once, as those who list servers should."""
        return put(self.directory / name, text)

    def addresses(self) -> list[str]:
        """Look, and return the addresses."""
        return addresses(self.look())


def put(path: Path, text: str) -> Path:
    """Put a file in place at once."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    return new.rename(path)


def link(path: Path, target: str) -> None:
    """Let a symbolic link lead elsewhere, at once, as Kubernetes does it."""
    new = path.with_name(f"{path.name}.new")
    new.symlink_to(target)
    os.replace(new, path)  # noqa: PTH105, a Path would be followed


def listing(*targets: str, **labels: str) -> str:
    """Return a file that lists these servers with these labels."""
    return json.dumps([{"targets": targets, "labels": labels}])


def addresses(finding: Finding) -> list[str]:
    """Return the addresses that were found."""
    return [server.address.text for server in finding.servers]


def sources(daemon: Exporter, family: str = "servers") -> dict[str, float]:
    """Return a metric of each source: ``servers`` by default, or another ending."""
    name = f"memcached_exporter_discovery_{family}"
    return {
        dict(labels)["source"]: value
        for (found, labels), value in daemon.samples().items()
        if found == name
    }


def up(daemon: Exporter, address: str, **labels: str) -> float | None:
    """Scrape all, and return whether a server is up; None if it is not on the page."""
    return daemon.samples().get(sample("memcached_up", server=address, **labels))


def on_page(daemon: Exporter) -> dict[str, float]:
    """Scrape all, and return each server with whether it is up."""
    return {
        dict(labels)["server"]: value
        for (name, labels), value in daemon.samples().items()
        if name == "memcached_up"
    }


def sd(daemon: Exporter) -> list[dict[str, Any]]:
    """Return the groups that Prometheus would be told."""
    answer = daemon.request("/sd")
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = json.loads(answer.text)
    return found
