"""`check` and `watch` read servers behind TLS and a login as the daemon does."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.check.runs import run as check
from tests.processes import Memcached
from tests.resilience.certificates import Authority
from tests.watch.support import run as watch

Start = Callable[..., Memcached]
PACE = ("--interval=200ms", "--duration=400ms")


@pytest.fixture
def locked(memcached: Start, authority: Authority, shared: Path) -> tuple[Memcached, Path]:
    """Start a memcached with TLS that wants a login, and write a configuration that has both."""
    (shared / "users").write_text("mon:s3cret\n")
    (shared / "password").write_text("s3cret\n")
    server = memcached(*authority.issue().serve(), "-Y", str(shared / "users"))
    config = shared / "exporter.yml"
    config.write_text(
        f"servers: [{{address: '{server.address}'}}]\n"
        "modules:\n"
        "  default:\n"
        f"    tls: {{ca_file: {authority.ca}}}\n"
        "    auth: {username: mon, password_file: password}\n"
    )
    return server, config


def test_a_check(locked: tuple[Memcached, Path]) -> None:
    """With the configuration it is well; without, the reason and its remedy are told."""
    server, config = locked
    well = check(f"--config.file={config}", "--window=1s", "--output=json")
    assert (well.status, well.err) == (0, "")
    found = well.json()["servers"][0]
    assert found["levels"]["version"].startswith("1.")
    assert found["pings"]["count"] > 0
    assert found["pings"]["failed"] == 0
    blind = check(server.address, "--window=0s")
    assert blind.status == 2
    assert f"{server.address}  CRITICAL  down: closed: " in blind.out
    assert "it may want TLS (--memcached.tls.enable)" in " ".join(blind.out.split())


def test_a_watch(locked: tuple[Memcached, Path], tmp_path: Path) -> None:
    """All round trips and figures are there; those of who may not log in are not."""
    server, config = locked
    record = tmp_path / "run.csv"
    done = watch(*PACE, f"--config.file={config}", f"--csv={record}")
    assert (done.returncode, done.stderr) == (0, "")
    with record.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["server"], row["state"]) for row in rows] == [(server.address, "up")] * 2
    assert all(float(row["ping_p50_seconds"]) > 0 for row in rows)
    assert all(float(row["connections"]) >= 1 for row in rows)
    (config.parent / "password").write_text("wrong\n")
    refused = watch(*PACE, f"--config.file={config}")
    assert refused.returncode == 1
    assert f"no server answered: {server.address}: auth" in refused.stderr
    assert "wrong" not in refused.stdout + refused.stderr
