"""Small files of /proc and /sys."""

import os
from pathlib import Path

import pytest

from exporter.host.reading import numbers, read, read_if_there, read_present


def test_a_file_longer_than_one_read_is_whole(tmp_path: Path) -> None:
    """The kernel hands out long files in parts."""
    content = os.urandom(200_000)
    (tmp_path / "long").write_bytes(content)
    assert read(str(tmp_path / "long")) == content


def test_a_file_of_the_kernel_is_whole() -> None:
    """Such files have no size, and come a page at a time."""
    path = "/proc/self/mountinfo"
    assert read(path) == Path(path).read_bytes()


def test_a_file_below_an_open_directory() -> None:
    """All files of a process are read through one directory, so that they are of one process."""
    directory = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert read("comm", directory) == read("/proc/self/comm")
    finally:
        os.close(directory)


def descriptors() -> set[str]:
    """Return the numbers of this process's descriptors, the one for this list included."""
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """Neither by reading nor by failing to."""
    before = descriptors()
    read("/proc/self/stat")
    for path in (str(tmp_path), str(tmp_path / "none")):
        with pytest.raises(OSError, match=str(tmp_path)):
            read(path)
    assert descriptors() == before


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    """Also below a file that is no directory."""
    (tmp_path / "file").write_bytes(b"")
    assert read_if_there(str(tmp_path / "none")) is None
    assert read_if_there(str(tmp_path / "file" / "none")) is None
    assert read_if_there(str(tmp_path / "file")) == b""


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """It is there, so that to leave it out in silence would be wrong; the file is named."""
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        read_if_there(str(tmp_path))


def test_those_that_are_there_are_read(tmp_path: Path) -> None:
    """One absent file does not take the others away; when all are absent, that is said."""
    there, absent = str(tmp_path / "there"), str(tmp_path / "absent")
    Path(there).write_bytes(b"x")
    assert read_present([absent, there]) == {there: b"x"}
    with pytest.raises(FileNotFoundError, match=absent):
        read_present([absent])


@pytest.mark.parametrize(
    ("text", "members"),
    [
        (b"0\n", [0]),
        (b"0-3\n", [0, 1, 2, 3]),
        (b"0,2-3,8-8,255\n", [0, 2, 3, 8, 255]),
        (b"\n", []),
        (b"", []),
    ],
)
def test_lists_of_the_kernel(text: bytes, members: list[int]) -> None:
    """Ranges and single numbers; a list without members is an empty line."""
    assert numbers(text) == members
