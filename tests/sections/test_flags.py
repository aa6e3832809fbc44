"""--collector.slab and its opposite: over the file and the defaults, and what they leave alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.catalogue.sections import DEFAULT_SECTIONS
from exporter.cli import main
from tests.processes import Exporter
from tests.sections.support import COMMANDS
from tests.sections.wire import recorded_server

SLAB = {"slabs", "items"}
WITHOUT = set(DEFAULT_SECTIONS) - SLAB


def asked(
    exporter: Callable[..., Exporter], directory: Path, *flags: str, file: dict[str, Any] | None
) -> tuple[set[str], set[str]]:
    """Scrape a recorded proxy, which knows all sections; return what was asked for, and names."""
    with recorded_server("new-proxy") as server:
        server.replies["stats extstore"] = b"END\r\n"
        arguments = [f"--memcached.address={server.address}", *flags]
        if file is not None:
            path = directory / "flags.yml"
            path.write_text(json.dumps(file))
            arguments.append(f"--config.file={path}")
        names = {name for name, _ in exporter(*arguments).samples()}
        sections = {command: section for section, command in COMMANDS.items()}
        return {sections[line] for line in server.commands if line != "version"}, names


@pytest.mark.parametrize(
    ("flags", "sections", "right"),
    [
        ([], None, WITHOUT | SLAB),
        (["--collector.slab"], None, WITHOUT | SLAB),
        (["--no-collector.slab"], None, WITHOUT),
        ([], ["stats"], {"stats"}),
        (["--collector.slab"], ["stats"], {"stats"} | SLAB),
        (["--collector.slab"], [], {"stats"} | SLAB),
        (["--collector.slab"], ["conns", "items"], {"stats", "conns"} | SLAB),
        (["--no-collector.slab"], ["slabs", "conns", "items"], {"stats", "conns"}),
        (["--no-collector.slab"], ["items"], {"stats"}),
        (["--no-collector.slab"], ["sizes", "detail"], {"stats", "sizes", "detail"}),
        (["--collector.slab", "--no-collector.slab"], None, WITHOUT),
        (["--no-collector.slab", "--collector.slab"], None, WITHOUT | SLAB),
    ],
)
def test_the_flag_goes_over_the_file(
    exporter: Callable[..., Exporter],
    tmp_path: Path,
    flags: list[str],
    sections: list[str] | None,
    right: set[str],
) -> None:
    """The flag adds or takes the two sections of slab classes, whatever the file says of them."""
    file = None if sections is None else {"modules": {"default": {"sections": sections}}}
    assert asked(exporter, tmp_path, *flags, file=file)[0] == right


def test_the_flag_keeps_the_rest_of_the_module(
    exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """Other settings of the module, and other modules, are as the file has them."""
    modules = {
        "default": {"timeout": "3s", "sections": ["conns", "slabs"], "top_clients": 4},
        "other": {"sections": ["slabs"]},
    }
    with recorded_server("new-default") as server:
        path = tmp_path / "modules.yml"
        servers = [{"address": server.address}]
        path.write_text(json.dumps({"modules": modules, "servers": servers}))
        daemon = exporter(f"--config.file={path}", "--no-collector.slab")
        names = {name for name, _ in daemon.samples()}
        assert {"memcached_open_connections", "memcached_client_connections"} <= names
        assert "stats slabs" not in server.commands
        daemon.request(f"/scrape?target={server.address}&module=other")
        assert server.commands.count("stats slabs") == 1
        assert server.commands.count("stats conns") == 1


def test_no_series_per_class(exporter: Callable[..., Exporter], tmp_path: Path) -> None:
    """Without the sections no sample has the label `slab`, and totals of `stats` are there."""
    with recorded_server("new-default") as server:
        daemon = exporter(f"--memcached.address={server.address}", "--no-collector.slab")
        found = daemon.samples()
        names = {name for name, _ in found}
        assert not any("slab" in dict(labels) for _, labels in found)
        assert "memcached_malloced_bytes" not in names
        assert "memcached_slab_global_page_pool" in names
        assert "memcached_items_evicted_total" in names
        success = {
            dict(labels)["section"]
            for name, labels in found
            if name == "memcached_scrape_section_success"
        }
        assert success == {"stats", "settings"}


@pytest.mark.parametrize(
    "flag", ["--collector.slab=false", "--collector.slabs", "--no-metrics.legacy-names"]
)
def test_what_is_no_flag(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A flag that does not exist is an error in one line, not a guess."""
    with pytest.raises(SystemExit) as ended:
        main([flag])
    assert ended.value.code == 2
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    assert flag.partition("=")[0] in output.err


def test_the_flag_does_not_hide_where_an_error_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong section in the file is named with its place in the file, flag or not."""
    path = tmp_path / "wrong.yml"
    path.write_text("modules:\n  default:\n    sections: [stats, slab]\n")
    assert main(["--no-collector.slab", f"--config.file={path}"]) == 2
    assert f"{path}:3: modules.default.sections[1]" in capsys.readouterr().err
