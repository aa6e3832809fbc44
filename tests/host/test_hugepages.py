"""Modes of transparent huge pages."""

from pathlib import Path

import pytest

from exporter.configuration import HostSettings
from exporter.host.hugepages import hugepages


def read(root: Path, **settings: str) -> dict[tuple[str, str], float]:
    """Return what is read of a host with these settings."""
    directory = root / "kernel/mm/transparent_hugepage"
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in settings.items():
        (directory / name).write_text(f"{content}\n")
    found = hugepages(HostSettings(Path("/proc"), root))()
    return {(key, mode): value for key, (mode,), value in found}


def test_the_active_mode_is_1(tmp_path: Path) -> None:
    """Each mode that the kernel knows has a series, so that an alert sees it change."""
    found = read(
        tmp_path,
        enabled="always [madvise] never",
        defrag="always defer [defer+madvise] madvise never",
    )
    assert found == {
        ("enabled", "always"): 0,
        ("enabled", "madvise"): 1,
        ("enabled", "never"): 0,
        ("defrag", "always"): 0,
        ("defrag", "defer"): 0,
        ("defrag", "defer+madvise"): 1,
        ("defrag", "madvise"): 0,
        ("defrag", "never"): 0,
    }


def test_a_kernel_without_a_setting(tmp_path: Path) -> None:
    """The other one is told; a kernel without huge pages does not have the source."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path)
    assert read(tmp_path, enabled="[never]") == {("enabled", "never"): 1}


def test_this_host() -> None:
    """One mode of each setting is active in the running kernel."""
    directory = Path("/sys/kernel/mm/transparent_hugepage")
    if not directory.exists():
        pytest.skip("this kernel is without transparent huge pages")
    read_modes = hugepages(HostSettings(Path("/proc"), Path("/sys")))
    found = {(key, mode): value for key, (mode,), value in read_modes()}
    for setting in ("enabled", "defrag"):
        active = [mode for (key, mode), value in found.items() if key == setting and value]
        assert f"[{active[0]}]" in (directory / setting).read_text()
        assert len(active) == 1
