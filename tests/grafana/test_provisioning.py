"""What a Grafana container is given finds the dashboards, and Prometheus."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.grafana.boards import DASHBOARDS, ROOT, boards, variables

PROVISIONING = ROOT / "grafana" / "provisioning"
PROVIDER_KEYS = {
    *("name", "orgId", "folder", "folderUid", "type", "disableDeletion", "editable"),
    *("allowUiUpdates", "updateIntervalSeconds", "options"),
}
SOURCE_KEYS = {
    *("name", "uid", "orgId", "type", "access", "url", "isDefault", "editable", "version"),
    *("jsonData", "secureJsonData", "basicAuth", "basicAuthUser", "withCredentials"),
}
"""What Grafana takes; other keys it passes over in silence."""
SECONDS = {"s": 1, "m": 60, "h": 3600}


def only_file(directory: str) -> tuple[Path, Any]:
    """Return the one file of a directory and what it holds."""
    (path,) = (PROVISIONING / directory).iterdir()
    data = yaml.safe_load(path.read_text())
    assert path.suffix == ".yml"
    assert data["apiVersion"] == 1
    return path, data


def seconds(text: str) -> int:
    """Return how long a duration is."""
    return int(text[:-1]) * SECONDS[text[-1]]


def test_directories_are_those_of_grafana() -> None:
    """Grafana looks for other things in other directories."""
    names = {path.name for path in PROVISIONING.iterdir()}
    assert names == {"datasources", "dashboards"}


def test_dashboards_are_found() -> None:
    """The provider reads the directory that its own comment mounts the boards at."""
    path, data = only_file("dashboards")
    assert data.keys() == {"apiVersion", "providers"}
    (provider,) = data["providers"]
    assert provider.keys() <= PROVIDER_KEYS
    assert provider["type"] == "file"
    assert provider["allowUiUpdates"] is False
    mounts = dict(re.findall(r'-v "\$PWD/(\S+?):(\S+?):ro"', path.read_text()))
    assert mounts == {
        "grafana/provisioning": "/etc/grafana/provisioning",
        str(DASHBOARDS.relative_to(ROOT)): provider["options"]["path"],
    }
    assert all((ROOT / source).is_dir() for source in mounts)
    assert boards()


def test_the_directory_has_nothing_but_dashboards() -> None:
    """Grafana takes each JSON file below the directory for a dashboard."""
    assert {path.suffix for path in DASHBOARDS.rglob("*") if path.is_file()} == {".json"}


def test_prometheus_is_found() -> None:
    """There is one data source, of the type that the boards choose from, and the default."""
    _, data = only_file("datasources")
    assert data.keys() == {"apiVersion", "datasources"}
    (source,) = data["datasources"]
    assert source.keys() <= SOURCE_KEYS
    assert source["isDefault"] is True
    assert re.fullmatch(r"[\w-]{1,40}", source["uid"])
    for board in boards().values():
        for variable in variables(board, "datasource").values():
            assert variable["query"] == source["type"]
    url = urlsplit(source["url"])
    assert (url.scheme, url.port) == ("http", 9090)


def test_rates_have_data() -> None:
    """Grafana believes scrapes to be as far apart as they are in the example for Prometheus.

    It takes 15 seconds if nothing is said, Prometheus one minute.
    """
    _, data = only_file("datasources")
    example = yaml.safe_load((ROOT / "config" / "prometheus.yml").read_text())
    scraped = example.get("global", {}).get("scrape_interval", "1m")
    assert seconds(data["datasources"][0]["jsonData"]["timeInterval"]) >= seconds(scraped)
