"""Whatever stands in the file, it is a configuration or one clear line."""

import datetime as dt
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.configuration import ConfigFile, Configuration, build, json_schema, load
from exporter.errors import ConfigurationError

WORDS = [
    "servers",
    "modules",
    "scrape",
    "web",
    "log",
    "address",
    "module",
    "labels",
    "timeout",
    "sections",
    "allow",
    "listen",
    "telemetry_path",
    "level",
    "default",
    "a",
    "a:1",
    "[::1]:1",
    "1s",
    "/m",
    "debug",
    "10.0.0.0/8",
    "*",
    "",
    "server",
    "a.b",
    "a[0]",
    "a[...]",
    "$",
    "` - at `$.web`",
]

GOOD: dict[str, Any] = {
    "servers": [
        {"address": "a:1", "labels": {"cluster": "x", "rack": "y"}},
        {"address": "/run/m.sock", "module": "slow"},
    ],
    "modules": {"default": {"timeout": "1s"}, "slow": {"timeout": "5s", "sections": ["stats"]}},
    "scrape": {"allow": ["10.0.0.0/8", "*.example:11211"]},
    "web": {"listen": [":9150"], "telemetry_path": "/m", "scrape_path": "/s"},
    "log": {"level": "debug", "format": "json"},
}

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(st.characters(exclude_categories=())),
    st.dates(),
    st.datetimes(),
    st.binary(max_size=8),
)
_KEYS = st.one_of(st.sampled_from(WORDS), st.text(max_size=5), st.integers(), st.none())
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=3)),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the generated files go."""
    return tmp_path_factory.mktemp("fuzz") / "exporter.yml"


def read(path: Path, data: bytes) -> Configuration | ConfigurationError:
    """Write a file and read it; nothing but a ConfigurationError may be raised."""
    path.write_bytes(data)
    try:
        return build(*load(path))
    except ConfigurationError as error:
        return error


def assert_good_or_one_line(path: Path, text: str) -> None:
    """Read a file; all that may come out is a Configuration or one line that names the file."""
    found = read(path, text.encode("utf-8", "surrogatepass"))
    if isinstance(found, ConfigurationError):
        assert str(found).isprintable()
        assert str(found).startswith(f"{path}:")
        return
    for server in found.servers:
        assert server.address.endpoint.encode()
        assert "".join(value for _, value in server.labels).encode() is not None
    assert msgspec.json.encode(found.web)


@settings(deadline=None)
@given(_VALUES)
def test_random_structures(path: Path, value: Any) -> None:
    """Any structure that YAML can hold is read or refused in one line."""
    assert_good_or_one_line(path, yaml.safe_dump(value))


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS[:5]), _VALUES, max_size=3))
def test_random_structures_below_known_keys(path: Path, value: Any) -> None:
    """Known keys with anything below them are read or refused in one line."""
    assert_good_or_one_line(path, yaml.safe_dump(value))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), _VALUES)
def test_a_good_file_with_one_value_replaced(path: Path, choice: random.Random, value: Any) -> None:
    """A good file in which one value is anything else is read or refused in one line."""
    document = msgspec.convert(msgspec.to_builtins(GOOD), dict)
    node: Any = document
    while True:
        key = choice.choice(list(node) if isinstance(node, dict) else range(len(node)))
        inner = node[key]
        if not isinstance(inner, dict | list) or not inner or choice.random() < 0.3:
            node[key] = value
            break
        node = inner
    assert_good_or_one_line(path, yaml.safe_dump(document, sort_keys=False))


@settings(deadline=None)
@given(st.text(alphabet="ab:-[]{}\"'&*!|>%@`?,#\n\t 01~<.x/servers", max_size=80))
def test_random_texts(path: Path, text: str) -> None:
    """Any text at all is read or refused in one line."""
    assert_good_or_one_line(path, text)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_random_bytes(path: Path, data: bytes) -> None:
    """Any bytes at all are read or refused in one line."""
    found = read(path, data)
    if isinstance(found, ConfigurationError):
        assert str(found).isprintable()
        assert str(found).startswith(f"{path}:")


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_good_file_with_characters_changed(path: Path, choice: random.Random) -> None:
    """Typing errors in a good file leave it good, or are one line."""
    text = list(yaml.safe_dump(GOOD, sort_keys=False))
    for _ in range(choice.randint(1, 4)):
        at = choice.randrange(len(text))
        text[at : at + choice.randint(0, 1)] = choice.choice(" :-[]{}'\"#&*!%\n\tx0é")
    assert_good_or_one_line(path, "".join(text))


def test_the_good_file_is_good(path: Path) -> None:
    """What the tests above start from is a configuration."""
    path.write_text(yaml.safe_dump(GOOD))
    assert len(build(*load(path)).servers) == 2


def test_dates_in_the_tables_are_dates() -> None:
    """YAML reads unquoted dates as such, which the error texts of labels rely on."""
    assert yaml.safe_load("2026-01-01") == dt.date(2026, 1, 1)


def test_the_schema_covers_all_keys() -> None:
    """Each key of the good file is in the schema, so that editors know it."""
    schema = json_schema()
    assert set(schema["$defs"]["ConfigFile"]["properties"]) >= set(GOOD)
    assert msgspec.convert(GOOD, ConfigFile)
