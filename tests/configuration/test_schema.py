"""The JSON Schema says what the loader says."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml
from jsonschema import Draft202012Validator

from exporter.configuration import Configuration, json_schema

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"
GOOD = [
    "{}",
    "servers: []",
    "servers: null",
    "servers: [{address: 'a:1', module: slow, labels: {x: y}}]\nmodules: {slow: {}}",
    "modules: {a: {timeout: 1m30s, sections: [], assume_no_napi_ids: true}}",
    "modules: {a: {max_reply_bytes: 65536}}",
    "scrape: {allow: ['10.0.0.0/8', '*.example:11211']}",
    "web: {listen: [':9150', '[::1]:9150'], telemetry_path: /m, scrape_path: /p/s}",
    "web: {config_file: web.yml}",
    "log: {level: warn, format: json}",
]

BAD = [
    "[]",
    "a: 1",
    "servers: {}",
    "servers: [a]",
    "servers: [{}]",
    "servers: [{address: 1}]",
    "servers: [{address: a, adress: b}]",
    "servers: [{address: a, labels: {x: 1}}]",
    "servers: [{address: a, labels: []}]",
    "modules: []",
    "modules: {a: null}",
    "modules: {a: {timeout: 5}}",
    "modules: {a: {timeout: 5 s}}",
    "modules: {a: {timout: 5s}}",
    "modules: {a: {sections: [foo]}}",
    "modules: {a: {assume_no_napi_ids: 'yes'}}",
    "modules: {a: {max_reply_bytes: 1}}",
    "scrape: {allow: '*'}",
    "web: {listen: []}",
    "web: {telemetry_path: metrics}",
    "log: {level: warning}",
    "log: {format: text}",
]


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    """The schema as the command prints it, itself checked."""
    printed = subprocess.run(
        [sys.executable, "-m", "exporter", "config", "schema"],
        capture_output=True,
        check=True,
        timeout=20,
    ).stdout
    document = msgspec.json.decode(printed)
    Draft202012Validator.check_schema(document)
    assert document == json_schema()
    return Draft202012Validator(document)


@pytest.mark.parametrize("text", GOOD)
def test_the_schema_accepts_what_the_loader_accepts(
    schema: Draft202012Validator, read: Callable[[str], Configuration], text: str
) -> None:
    """A good file is good for an editor too."""
    assert read(text)
    assert list(schema.iter_errors(yaml.safe_load(text))) == []


@pytest.mark.parametrize("text", BAD)
def test_the_schema_refuses_what_the_loader_refuses(
    schema: Draft202012Validator, refusal: Callable[[str], str], text: str
) -> None:
    """A bad shape is bad for an editor too."""
    assert refusal(text)
    assert not schema.is_valid(yaml.safe_load(text))


def test_texts_have_descriptions() -> None:
    """Editors show what to write for an address, a duration and the other texts of a kind."""
    entries = json_schema()["$defs"]
    for entry, key in [
        ("ServerEntry", "address"),
        ("ModuleEntry", "timeout"),
        ("WebEntry", "telemetry_path"),
    ]:
        assert entries[entry]["properties"][key]["description"].startswith("Write ")
        assert entries[entry]["description"]


def test_each_key_is_explained() -> None:
    """docs/configuration.md has all keys; those of the thresholds have a document of their own."""
    definitions = json_schema()["$defs"]
    entries = [name for name in definitions if name.endswith("Entry") or name == "ConfigFile"]
    keys = {key for name in entries for key in definitions[name]["properties"]}
    assert {"findings", "ignore", "top_clients", "systemd_socket"} <= keys
    explained = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`[^`]+`", DOCUMENT.read_text()))))
    assert keys - explained == set()
