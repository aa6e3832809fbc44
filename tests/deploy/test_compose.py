"""compose.yml and what it mounts fit together, and each program likes its configuration."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
KEYS = {
    *("build", "cap_drop", "command", "depends_on", "image", "mem_limit", "ports", "read_only"),
    *("restart", "security_opt", "volumes"),
}


def mounts() -> list[tuple[str, str, str]]:
    """Return service, source and place of all that is mounted."""
    return [
        (name, *volume.split(":")[:2])
        for name, service in SERVICES.items()
        for volume in service.get("volumes", ())
    ]


def test_the_services() -> None:
    """Two memcached servers and the whole stack, with known keys, each from one place."""
    assert set(SERVICES) == {
        *("memcached1", "memcached2", "exporter", "prometheus", "alertmanager", "grafana")
    }
    for service in SERVICES.values():
        assert service.keys() <= KEYS
        assert ("image" in service) != ("build" in service)
        assert not str(service.get("image", "")).endswith(":latest")


def test_what_is_mounted_is_there() -> None:
    """A file that does not exist would be mounted as an empty directory."""
    volumes = set(COMPOSE["volumes"])
    for name, source, _ in mounts():
        assert (ROOT / source).exists() if source.startswith(".") else source in volumes, name


def test_nothing_is_open_to_the_world() -> None:
    """Ports are on loopback, and memcached has none."""
    for name, service in SERVICES.items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        assert not (name.startswith("memcached") and "ports" in service)


def inside(tmp_path: Path, service: str, place: str) -> Path:
    """Lay out what a service sees below a place; return the copy of that place."""
    for name, source, target in mounts():
        if name == service and target.startswith(place) and source.startswith("."):
            copy = tmp_path / target.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, copy, dirs_exist_ok=True)
            else:
                shutil.copy(ROOT / source, copy)
    return tmp_path / place.lstrip("/")


def test_prometheus_likes_its_configuration(tmp_path: Path) -> None:
    """With the rules where the container has them: all of them are found."""
    directory = inside(tmp_path, "prometheus", "/etc/prometheus")
    done = subprocess.run(
        ["promtool", "check", "config", str(directory / "prometheus.yml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rules found") == len(list((ROOT / "alerts").glob("memcached-*.yml")))


def test_alertmanager_likes_its_configuration(tmp_path: Path) -> None:
    """The example of this repository."""
    directory = inside(tmp_path, "alertmanager", "/etc/alertmanager")
    done = subprocess.run(
        ["amtool", "check-config", str(directory / "alertmanager.yml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_who_is_asked_for_is_there() -> None:
    """Each host name in the configuration files is a service, on the port that it serves."""
    prometheus = yaml.safe_load((ROOT / "config/compose/prometheus.yml").read_text())
    exporter = yaml.safe_load((ROOT / "config/compose/exporter.yml").read_text())
    source = ROOT / "grafana/provisioning/datasources/prometheus.yml"
    data = yaml.safe_load(source.read_text())["datasources"][0]
    (job,) = prometheus["scrape_configs"]
    (manager,) = prometheus["alerting"]["alertmanagers"]
    named = [
        *(one["address"] for one in exporter["servers"]),
        *(job["static_configs"][0]["targets"]),
        *(manager["static_configs"][0]["targets"]),
        data["url"].removeprefix("http://"),
    ]
    served = {"exporter": "9150", "prometheus": "9090", "alertmanager": "9093"}
    for host, _, port in (name.partition(":") for name in named):
        assert host in SERVICES
        assert port == served.get(host, "11211")
    assert data["jsonData"]["timeInterval"] == prometheus["global"]["scrape_interval"]


@pytest.mark.parametrize("path", ["config/compose/exporter.yml", "config/exporter.yml"])
def test_the_exporter_likes_its_configuration(path: str) -> None:
    """`config check` says that it is good."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", "config", "check", str(ROOT / path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
