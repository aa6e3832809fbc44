"""What is built for others to install has all that it needs, and nothing else."""

import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from email import message_from_string
from pathlib import Path

import pytest

from exporter import __version__
from tests.processes import Memcached, free_port, parse, sample, wait_for_port
from tests.web.clients import fetched

ROOT = Path(__file__).parents[2]
NAME = f"memcached_exporter-{__version__}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the source distribution, and the wheel that is built from it."""
    directory = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "build", "--no-isolation", "--outdir", directory],
        check=True,
        cwd=ROOT,
        capture_output=True,
        timeout=110,
    )
    return directory


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


def test_the_wheel_has_the_package_alone(wheel: Path) -> None:
    """Every file of it, the mark that it has types, and no test, board or cache."""
    assert wheel.name == f"{NAME}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    about = f"{NAME}.dist-info/"
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "exporter").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if not name.startswith(about)} == files
    assert "exporter/py.typed" in files
    assert f"{about}licenses/LICENSE" in names


def test_the_metadata(wheel: Path) -> None:
    """Version, Python, license and the command; the version stands in one place."""
    archive = zipfile.ZipFile(wheel)
    about = message_from_string(archive.read(f"{NAME}.dist-info/METADATA").decode())
    assert about["Name"] == "memcached-exporter"
    assert about["Version"] == __version__
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Description-Content-Type"] == "text/markdown"
    entries = archive.read(f"{NAME}.dist-info/entry_points.txt").decode()
    assert "memcached-exporter = exporter.cli:main" in entries
    places = [
        path
        for path in (ROOT / "pyproject.toml", *(ROOT / "exporter").rglob("*.py"))
        if re.search(rf'"{re.escape(__version__)}"', path.read_text())
    ]
    assert places == [ROOT / "exporter" / "__init__.py"]


def test_the_source_can_be_built_again(built: Path) -> None:
    """It has the package, its description and its license, and no cache."""
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "exporter/cli.py"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".git", ".v"))]


def test_it_runs_where_it_is_installed(
    wheel: Path, tmp_path: Path, memcached: Callable[..., Memcached]
) -> None:
    """In a fresh virtual environment, with the libraries of this one and none of these sources."""
    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    subprocess.run(
        [*(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index"), wheel],
        check=True,
        capture_output=True,
        timeout=60,
    )
    libraries = next(place.glob("lib/python*/site-packages"))
    (libraries / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    program = place / "bin" / "memcached-exporter"
    version = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=30
    )
    assert version.stdout.startswith(f"memcached-exporter, version {__version__} (Python ")
    where = subprocess.run(
        [python, "-c", "import exporter; print(exporter.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        timeout=30,
    )
    assert where.stdout.strip() == str(libraries / "exporter" / "__init__.py")
    server, port = memcached("-t", "1"), free_port()
    process = subprocess.Popen(
        [
            *(program, f"--memcached.address={server.address}"),
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        found = parse(fetched(f"http://127.0.0.1:{port}/metrics"))
    finally:
        process.kill()
        process.wait()
    assert found[sample("memcached_up", server=server.address)] == 1
