"""The Dockerfile keeps what it promises; `make image-test` builds and runs the image itself."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dockerfile_parse import DockerfileParser  # type: ignore[import-untyped]

from tests.processes import Exporter, free_port

ROOT = Path(__file__).parents[2]
VENV = "/opt/memcached-exporter"


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """The instructions with what they are told, in their order."""
    directory = tmp_path_factory.mktemp("image")
    (directory / "Dockerfile").write_text((ROOT / "Dockerfile").read_text())
    parser = DockerfileParser(path=str(directory))
    found: Any = parser.structure
    return [(one["instruction"], one["value"]) for one in found if one["instruction"] != "COMMENT"]


@pytest.fixture(scope="module")
def final(steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the last stage."""
    begins = [number for number, (name, _) in enumerate(steps) if name == "FROM"]
    assert len(begins) == 2
    return steps[begins[-1] :]


def test_both_stages_have_one_python(steps: list[tuple[str, str]]) -> None:
    """Compiled packages belong to one version of Python."""
    assert [value for name, value in steps if name == "FROM"] == ["${BASE} AS build", "${BASE}"]
    assert steps[0] == ("ARG", "BASE=debian:trixie-slim")


def test_packages_come_from_the_lock(steps: list[tuple[str, str]]) -> None:
    """With their hashes, as wheels; the project itself without anything besides."""
    installs = [value for name, value in steps if name == "RUN" and "pip install" in value]
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert "-r requirements.lock" in installs[0]
    assert "--no-deps --no-build-isolation ." in installs[1]
    assert f"{VENV}/bin/pip uninstall -y setuptools pip" in installs[1]


def test_the_result_has_no_tools(final: list[tuple[str, str]]) -> None:
    """Python without pip, and what the first stage made."""
    (install,) = [value for name, value in final if name == "RUN"]
    packages = shlex.split(install.partition("--no-install-recommends")[2].partition("&&")[0])
    assert packages == ["python3-minimal", "libpython3-stdlib"]
    assert [value for name, value in final if name in {"COPY", "ADD"}] == [
        f"--from=build {VENV} {VENV}"
    ]


def test_it_runs_as_nobody(final: list[tuple[str, str]]) -> None:
    """By number, as Kubernetes asks for with runAsNonRoot."""
    told = dict(final)
    assert told["USER"] == "65534:65534"
    assert json.loads(told["ENTRYPOINT"]) == ["memcached-exporter"]
    assert told["EXPOSE"] == "9150"
    assert "org.opencontainers.image.licenses" in told["LABEL"]


def test_what_is_copied_is_there(steps: list[tuple[str, str]]) -> None:
    """And nothing else is sent to the builder."""
    sources = {
        source
        for name, value in steps
        if name == "COPY" and not value.startswith("--from")
        for source in shlex.split(value)[:-1]
    }
    assert all((ROOT / source).exists() for source in sources)
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in lines if line.startswith("!")} == sources
    assert "*" in lines


@pytest.fixture
def health(final: list[tuple[str, str]]) -> Callable[[str], int]:
    """Run the health check as the image does, with this Python."""
    command = json.loads(dict(final)["HEALTHCHECK"].partition("CMD ")[2])
    assert command[0] == f"{VENV}/bin/python"

    def check(url: str) -> int:
        done = subprocess.run(
            [sys.executable, *command[1:]],
            env={"HEALTH_URL": url},
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=20,
        )
        return done.returncode

    return check


def test_the_health_check(
    exporter: Callable[..., Exporter], health: Callable[[str], int], final: list[tuple[str, str]]
) -> None:
    """It is well with a daemon, and not without one, nor where something else answers."""
    daemon = exporter("--memcached.address=127.0.0.1:1")
    base = f"http://127.0.0.1:{daemon.port}"
    assert health(f"{base}/-/healthy") == 0
    assert health(f"{base}/nowhere") == 1
    assert health(f"http://127.0.0.1:{free_port()}/-/healthy") == 1
    assert "HEALTH_URL=http://127.0.0.1:9150/-/healthy" in dict(final)["ENV"]
