"""The manifests fit the API, each other, and the exporter."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from tests.processes import Exporter

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config" / "kubernetes").glob("*.yml"))
OBJECTS: list[tuple[str, dict[str, Any]]] = [
    (path.name, document)
    for path in FILES
    for document in yaml.safe_load_all(path.read_text())
    if document
]
WORKLOADS = [
    (name, document) for name, document in OBJECTS if "template" in document.get("spec", {})
]
OPERATOR = {"ServiceMonitor", "PodMonitor", "ScrapeConfig", "PrometheusRule"}
LABEL = "app.kubernetes.io/name"


def identity(value: object) -> str:
    """Return a readable name of a parameter."""
    return f"{value['kind']}-{value['metadata']['name']}" if isinstance(value, dict) else str(value)


def exporters() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return pod specification and container of each exporter."""
    found = []
    for _, document in WORKLOADS:
        pod = document["spec"]["template"]["spec"]
        found += [(pod, one) for one in pod["containers"] if one["name"] == "exporter"]
    return found


@pytest.mark.parametrize(
    ("file", "document"),
    [(f, d) for f, d in OBJECTS if d["kind"] not in OPERATOR],
    ids=identity,
)
def test_the_api_takes_it(file: str, document: dict[str, Any]) -> None:
    """Strictly: no field that it does not know."""
    kubernetes_validate.validate(document, "1.31", strict=True)


def test_the_kinds() -> None:
    """A sidecar, a central exporter, one a node, and who reads them."""
    kinds = {document["kind"] for _, document in OBJECTS}
    assert kinds == {
        *("Service", "StatefulSet", "ConfigMap", "Deployment", "DaemonSet", "NetworkPolicy"),
        *OPERATOR,
    }
    assert len(exporters()) == 3


def test_nobody_has_privileges() -> None:
    """No container runs as root, can become root, or writes to its own files."""
    for _, document in WORKLOADS:
        pod = document["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]
            assert "cpu" not in container["resources"]["limits"]
            assert not container["image"].endswith(":latest")


def test_labels_and_ports_meet() -> None:
    """Selectors find the pods, and services and monitors the ports, by name."""
    pods = {
        d["spec"]["template"]["metadata"]["labels"][LABEL]: d["spec"]["template"]["spec"]
        for _, d in WORKLOADS
    }
    services = {d["metadata"]["labels"][LABEL]: d for _, d in OBJECTS if d["kind"] == "Service"}
    for _, document in WORKLOADS:
        labels = document["spec"]["template"]["metadata"]["labels"]
        assert document["spec"]["selector"]["matchLabels"] == labels
    for name, service in services.items():
        assert service["spec"]["selector"] == {LABEL: name}
        ports = {p["name"] for c in pods[name]["containers"] for p in c["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for _, document in OBJECTS:
        if document["kind"] == "ServiceMonitor":
            name = document["spec"]["selector"]["matchLabels"][LABEL]
            ports = {port["name"] for port in services[name]["spec"]["ports"]}
            assert {one["port"] for one in document["spec"]["endpoints"]} <= ports
        if document["kind"] == "PodMonitor":
            assert document["spec"]["selector"]["matchLabels"][LABEL] in pods
        if document["kind"] == "NetworkPolicy":
            assert document["spec"]["podSelector"]["matchLabels"][LABEL] in pods
        for name in volumes(document):
            assert name in {d["metadata"]["name"] for _, d in OBJECTS if d["kind"] == "ConfigMap"}


def volumes(document: dict[str, Any]) -> list[str]:
    """Return the ConfigMaps that a workload mounts."""
    spec = document.get("spec", {}).get("template", {}).get("spec", {})
    return [one["configMap"]["name"] for one in spec.get("volumes", ()) if "configMap" in one]


def test_the_node_exporter_sees_the_node() -> None:
    """It has the node's processes and network, and reads its /proc and /sys where they are."""
    (pod,) = [pod for pod, _ in exporters() if pod.get("hostPID")]
    assert pod["hostNetwork"] is True
    (container,) = pod["containers"]
    places = {one["mountPath"]: one for one in container["volumeMounts"]}
    (text,) = [
        d["data"]["exporter.yml"]
        for _, d in OBJECTS
        if d["kind"] == "ConfigMap" and "procfs" in d["data"]["exporter.yml"]
    ]
    host = yaml.safe_load(text)["host"]
    for path in (host["procfs"], host["sysfs"]):
        assert places[path]["readOnly"] is True


def test_probes_ask_what_never_touches_memcached(exporter: Callable[..., Exporter]) -> None:
    """Their paths are answered by a daemon whose only server is not there."""
    daemon = exporter("--memcached.address=127.0.0.1:1")
    for _, container in exporters():
        for probe in ("livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]
            assert path.startswith("/-/")
            assert daemon.request(path).status == 200


@pytest.mark.parametrize(
    "text",
    [d["data"]["exporter.yml"] for _, d in OBJECTS if d["kind"] == "ConfigMap"],
)
def test_the_exporter_likes_its_configuration(text: str, tmp_path: Path) -> None:
    """`config check` says that it is good."""
    path = tmp_path / "exporter.yml"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "exporter", "config", "check", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_rules_are_those_of_the_command() -> None:
    """The PrometheusRule is what the command prints, and promtool likes the groups."""
    path = ROOT / "config" / "kubernetes" / "prometheusrule.yml"
    printed = subprocess.run(
        [sys.executable, "-m", "exporter", "rules", "--format", "operator"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=60,
    ).stdout
    assert path.read_text() == printed
    groups = yaml.safe_dump(yaml.safe_load(printed)["spec"])
    done = subprocess.run(
        ["promtool", "check", "rules", "/dev/stdin"],
        input=groups,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
