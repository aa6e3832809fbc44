"""What the tests of the configuration share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.configuration import Configuration, build, load
from exporter.errors import ConfigurationError


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Configuration]:
    """Read a text as the configuration file."""
    path = tmp_path / "exporter.yml"

    def read_here(text: str) -> Configuration:
        path.write_text(text)
        return build(*load(path))

    return read_here


@pytest.fixture
def refusal(tmp_path: Path) -> Callable[[str | bytes], str]:
    """Read a bad text as the configuration file, and return the error after the file's name."""
    path = tmp_path / "exporter.yml"

    def read_here(text: str | bytes) -> str:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ConfigurationError) as caught:
            build(*load(path))
        message = str(caught.value)
        assert message.isprintable(), repr(message)
        assert message.startswith(f"{path}:")
        return message.removeprefix(f"{path}:")

    return read_here
