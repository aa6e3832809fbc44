"""The YAML file: its strict shape, and errors that name the file, the line, the key and the remedy.

Data only: what the values mean is settled in ``build``.
"""

import difflib
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml

from exporter.durations import PATTERN as DURATION_PATTERN
from exporter.durations import REMEDY as DURATION_REMEDY
from exporter.errors import ConfigurationError

type_info = msgspec.inspect.type_info


def _text(remedy: str, pattern: str | None = None) -> msgspec.Meta:
    """Describe a text field: the remedy is both its schema description and its error text."""
    return msgspec.Meta(pattern=pattern, description=remedy[0].upper() + remedy[1:] + ".")


AddressText = Annotated[
    str, _text('write host:port, "[IPv6]:port" in quotes, /path/of/socket or unix:/path/of/socket')
]
ListenText = Annotated[str, _text('write ":9150", "127.0.0.1:9150" or "[::1]:9150", in quotes')]
DurationText = Annotated[str, _text(DURATION_REMEDY, DURATION_PATTERN)]
PathText = Annotated[
    str, _text("write an absolute URL path such as /metrics", r"^/[A-Za-z0-9._~/-]*$")
]
AllowText = Annotated[
    str,
    _text(
        'write an address or range such as "10.0.0.0/8",'
        ' or a pattern such as "*.cache.example:11211"'
    ),
]
SectionName = Literal["stats", "settings", "items", "slabs"]
LogLevel = Literal["debug", "info", "warn", "error"]
LogFormat = Literal["logfmt", "json"]


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class ServerEntry(_Strict, frozen=True, kw_only=True):
    """One memcached server that ``/metrics`` reads."""

    address: AddressText
    module: str = "default"
    labels: dict[str, str] = {}


class ModuleEntry(_Strict, frozen=True, kw_only=True):
    """How servers are read."""

    timeout: DurationText = "1s"
    sections: list[SectionName] = msgspec.field(
        default_factory=lambda: ["stats", "settings", "items", "slabs"]
    )
    assume_no_napi_ids: bool = False
    max_reply_bytes: Annotated[int, msgspec.Meta(ge=65536, le=2**30)] = 16 * 2**20


class ScrapeEntry(_Strict, frozen=True, kw_only=True):
    """Which targets ``/scrape`` may read."""

    allow: list[AllowText] = []


class WebEntry(_Strict, frozen=True, kw_only=True):
    """Where the exporter serves."""

    listen: Annotated[list[ListenText], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: [":9150"]
    )
    telemetry_path: PathText = "/metrics"
    scrape_path: PathText = "/scrape"


class LogEntry(_Strict, frozen=True, kw_only=True):
    """What is logged and how."""

    level: LogLevel = "info"
    format: LogFormat = "logfmt"


class ConfigFile(_Strict, frozen=True, kw_only=True):
    """Configuration of memcached-exporter."""

    servers: list[ServerEntry] | None = None
    modules: dict[str, ModuleEntry] = {}
    scrape: ScrapeEntry = ScrapeEntry()
    web: WebEntry = WebEntry()
    log: LogEntry = LogEntry()


Place = Callable[[str], str]
"""Turns a key path such as ``servers[0].address`` into what an error message shows."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, for editors."""
    return msgspec.json.schema(ConfigFile)


def load(path: Path) -> tuple[ConfigFile, Place]:
    """Read the file strictly.

    Returns its data and a function that names a key's place in it. Raises ConfigurationError with
    one line that names the file, the line, the key and the remedy.
    """
    try:
        source = path.read_text(encoding="utf-8")
        root = yaml.compose(source, Loader=_UniqueKeyLoader)
        document = yaml.load(source, Loader=_UniqueKeyLoader)  # noqa: S506, a SafeLoader
    except OSError as error:
        raise ConfigurationError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 text at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(_yaml_error(path, error)) from error

    def place(key_path: str) -> str:
        line = _line(root, key_path)
        where = f"{path}:{line}" if line else str(path)
        return f"{where}: {key_path}" if key_path else where

    try:
        return msgspec.convert(document if document is not None else {}, ConfigFile), place
    except msgspec.ValidationError as error:
        raise ConfigurationError(_explain(str(error), document, place)) from error


class _UniqueKeyLoader(yaml.SafeLoader):
    """Refuses a key that stands twice, where YAML libraries silently keep the last."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002, as the library has it
    ) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and key.value != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f'key "{key.value}" stands twice: remove one', key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _yaml_error(path: Path, error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        mark = error.problem_mark
        return f"{path}:{mark.line + 1}:{mark.column + 1}: not valid YAML: {error.problem}"
    return f"{path}: not valid YAML: {' '.join(str(error).split())}"


def _line(root: yaml.Node | None, key_path: str) -> int | None:
    """Return the line of a key, or of the nearest one above it."""
    line = None
    for name, index in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", key_path):
        if root is None:
            break
        if isinstance(root, yaml.SequenceNode) and index.isdecimal():
            root = root.value[int(index)]
            line = root.start_mark.line + 1
        elif isinstance(root, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in root.value}
            key, root = pairs.get(name or index, (None, None))
            line = key.start_mark.line + 1 if key else line
    return line


def _explain(message: str, document: object, place: Place) -> str:
    """Turn msgspec's text into one line with the place and the remedy."""
    what, _, where = message.partition(" - at ")
    key_path = _concrete(where.strip("`").removeprefix("$").lstrip("."), document)
    expected = _type_at(key_path)
    if unknown := re.search(r"unknown field `(.*)`", what):
        known = [field.encode_name for field in getattr(_plain(expected), "fields", ())]
        near = difflib.get_close_matches(unknown[1], known, 1)
        remedy = f'did you mean "{near[0]}"?' if near else f"known keys: {', '.join(known)}"
        return f'{place(_join(key_path, unknown[1]))}: unknown key "{unknown[1]}", {remedy}'
    if missing := re.search(r"missing required field `(.*)`", what):
        return f'{place(key_path)}: key "{missing[1]}" is missing: add it'
    return f"{place(key_path)}: {what[0].lower()}{what[1:]}{_remedy(expected)}"


def _join(key_path: str, key: str) -> str:
    return f"{key_path}.{key}" if key_path else key


def _concrete(key_path: str, document: object) -> str:
    """Replace msgspec's ``[...]`` by the name of the first entry that is wrong."""
    head, dots, tail = key_path.partition("[...]")
    if not dots:
        return key_path
    node: Any = document
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", head):
        node = node[int(index)] if index else node[name]
    entry = ModuleEntry if head == "modules" else str
    for key, value in node.items():
        try:
            msgspec.convert(value, entry)
            msgspec.convert(key, str)
        except msgspec.ValidationError:
            return f"{head}.{key}{tail}"
    return head


def _type_at(key_path: str) -> Any:
    """Return what msgspec expects at a key path."""
    found: Any = type_info(ConfigFile)
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", key_path):
        found = _plain(found)
        if isinstance(found, msgspec.inspect.StructType):
            found = next((field.type for field in found.fields if field.encode_name == name), None)
        elif isinstance(found, msgspec.inspect.DictType):
            found = found.value_type
        elif isinstance(found, msgspec.inspect.ListType) and index:
            found = found.item_type
        else:
            return None
    return found


def _plain(found: Any) -> Any:
    """Strip metadata, and None of an optional value."""
    if isinstance(found, msgspec.inspect.Metadata):
        return _plain(found.type)
    if isinstance(found, msgspec.inspect.UnionType):
        return next(kind for kind in found.types if not isinstance(kind, msgspec.inspect.NoneType))
    return found


def _remedy(expected: object) -> str:
    """Return what to write instead, from the type's own description."""
    if isinstance(expected, msgspec.inspect.Metadata):
        description = (expected.extra_json_schema or {}).get("description", "")
        return f": {description[0].lower()}{description[1:].rstrip('.')}" if description else ""
    if isinstance(expected, msgspec.inspect.LiteralType):
        return f": write one of {', '.join(map(str, expected.values))}"
    if isinstance(expected, msgspec.inspect.StrType):
        return ": write text, in quotes if it looks like a number"
    return ""
