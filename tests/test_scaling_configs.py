"""The configurations in docs/scaling.md are good ones, by promtool and by the exporter itself."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

DOCUMENT = Path(__file__).parents[1] / "docs" / "scaling.md"
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
OF_PROMETHEUS = [block for block in BLOCKS if "scrape_configs:" in block]
OF_EXPORTER = [block for block in BLOCKS if "scrape_configs:" not in block]


def test_all_blocks_are_found() -> None:
    """Prometheus for (a), (b), (c) and the exporter itself, and the replicas."""
    assert (len(OF_PROMETHEUS), len(OF_EXPORTER)) == (4, 1)


@pytest.mark.parametrize("block", OF_PROMETHEUS, ids=["a", "own", "b", "c"])
def test_promtool_accepts_it(block: str, tmp_path: Path) -> None:
    """Prometheus would start with it, word for word."""
    config = tmp_path / "prometheus.yml"
    config.write_text(block)
    done = subprocess.run(
        ["promtool", "check", "config", str(config)], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"SUCCESS" in done.stdout


@pytest.mark.parametrize("block", OF_EXPORTER)
def test_the_exporter_accepts_it(block: str, tmp_path: Path) -> None:
    """A replica would start with it, word for word."""
    config = tmp_path / "exporter.yml"
    config.write_text(block)
    (tmp_path / "servers.d").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "exporter", "config", "check", str(config)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_shards_are_told_apart_by_the_server() -> None:
    """All targets have the same address, so a hash of that would give all to one Prometheus."""
    (job,) = yaml.safe_load(OF_PROMETHEUS[-1])["scrape_configs"]
    (hashing,) = [rule for rule in job["relabel_configs"] if rule["action"] == "hashmod"]
    (keeping,) = [rule for rule in job["relabel_configs"] if rule["action"] == "keep"]
    assert hashing["source_labels"] == ["__param_target"]
    assert keeping["source_labels"] == [hashing["target_label"]]
    assert 0 <= int(keeping["regex"]) < hashing["modulus"]


@pytest.mark.parametrize(
    "block", [block for block in OF_PROMETHEUS if "params" not in block], ids="abc"
)
def test_it_asks_for_the_list_at_sd(block: str) -> None:
    """Every source of targets is /sd of an exporter."""
    (job,) = yaml.safe_load(block)["scrape_configs"]
    sources: list[dict[str, Any]] = job["http_sd_configs"]
    assert all(source["url"].endswith(":9150/sd") for source in sources)
