"""From the file's text to its data; errors name the file, the line, the key and the remedy."""

import difflib
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from exporter.configuration.file import ConfigFile, ModuleEntry
from exporter.configuration.yaml_text import Place, read, shown
from exporter.errors import ConfigurationError

_Entry = TypeVar("_Entry", bound=msgspec.Struct)
_OF_WEB_FILES = {"tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"}
_STEP = r"([^.\[\]]+)|\[(\d+)\]"
"""One step of a key path: a name, or a number in brackets."""


def load(path: Path) -> tuple[ConfigFile, Place]:
    """Read a file strictly.

    Returns its data and a function that names a key's place in it. Raises ConfigurationError with
    one line.
    """
    document, place = read(path)
    return _rooted(convert(document, place), path.parent.absolute()), place


def _rooted(file: ConfigFile, directory: Path) -> ConfigFile:
    """Make the paths of files absolute: they are relative to this file."""

    def rooted(entry: _Entry, *keys: str) -> _Entry:
        changes = {key: str(directory / getattr(entry, key)) for key in keys if getattr(entry, key)}
        return msgspec.structs.replace(entry, **changes)

    modules = {
        name: msgspec.structs.replace(
            module,
            tls=module.tls and rooted(module.tls, "ca_file", "cert_file", "key_file"),
            auth=module.auth and rooted(module.auth, "password_file"),
        )
        for name, module in file.modules.items()
    }
    servers = file.servers and [rooted(server, "pid_file") for server in file.servers]
    return msgspec.structs.replace(
        file,
        servers=servers,
        modules=modules,
        discovery=msgspec.structs.replace(
            file.discovery, files=[str(directory / pattern) for pattern in file.discovery.files]
        ),
        host=rooted(file.host, "procfs", "sysfs"),
        web=rooted(file.web, "config_file"),
    )


def convert(document: object, place: Place) -> ConfigFile:
    """Check the shape of a document; ``place`` names its keys in errors (ConfigurationError)."""
    return convert_to(document, place, ConfigFile)


def convert_to(document: object, place: Place, shape: type[_Entry]) -> _Entry:
    """Do the same for a file of another shape."""
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        raise ConfigurationError(_explain(str(error), document, place, shape)) from error


def _explain(message: str, document: object, place: Place, shape: type) -> str:
    """Turn msgspec's text into one line with the place and the remedy."""
    what, _, where = message.rpartition(" - at ")
    if not what:
        what, where = message, ""
    of_key, where = where.startswith("`key` in "), where.removeprefix("`key` in ")
    key_path = _concrete(where.strip("`").removeprefix("$").lstrip("."), document)
    expected = _type_at(key_path, shape)
    if unknown := re.search(r"unknown field `(.*)`", what, re.DOTALL):
        known = [field.encode_name for field in getattr(_plain(expected), "fields", ())]
        return _unknown_key(key_path, unknown[1], known, place)
    if of_key and (bad := re.search(r"Invalid enum value '(.*)'", what, re.DOTALL)):
        return _unknown_key(key_path, bad[1], list(_plain(expected).key_type.values), place)
    if missing := re.search(r"missing required field `(.*)`", what):
        return f'{place(key_path)}: key "{missing[1]}" is missing: add it'
    if "matching regex" in what and _value_at(document, key_path):
        what = f"{shown(_value_at(document, key_path))} does not fit"
    return f"{place(key_path)}: {what[0].lower()}{what[1:]}{_remedy(expected)}"


def _unknown_key(key_path: str, key: str, known: list[str], place: Place) -> str:
    near = difflib.get_close_matches(key, known, 1)
    if key in _OF_WEB_FILES and not key_path:
        remedy = "this is a web configuration file: name it by web.config_file"
    elif near:
        remedy = f'did you mean "{near[0]}"?'
    else:
        remedy = f"known keys: {', '.join(known)}"
    return f"{place(_join(key_path, key))}: unknown key {shown(key)}, {remedy}"


def _join(key_path: str, key: str) -> str:
    return f"{key_path}.{key}" if key_path else key


def _concrete(key_path: str, document: object) -> str:
    """Replace msgspec's ``[...]`` by the name of the first entry that is wrong."""
    head, dots, tail = key_path.partition("[...]")
    if not dots:
        return key_path
    node = _value_at(document, head)
    entry = ModuleEntry if head == "modules" else str
    for key, value in node.items() if isinstance(node, dict) else ():
        try:
            msgspec.convert(value, entry)
        except msgspec.ValidationError:
            return f"{head}.{key}{tail}"
    return head


def _value_at(document: Any, key_path: str) -> Any:
    """Return the value at a key path that msgspec named."""
    try:
        for name, index in re.findall(_STEP, key_path):
            document = document[int(index)] if index else document[name]
    except (KeyError, IndexError, TypeError):
        return ""  # a key with dots or brackets, which a path cannot tell from its own
    return document


def _type_at(key_path: str, shape: type) -> Any:
    """Return what msgspec expects at a key path."""
    found: Any = msgspec.inspect.type_info(shape)
    for name, index in re.findall(_STEP, key_path):
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


_REMEDIES: dict[type, str] = {
    msgspec.inspect.StrType: "write text, in quotes if it looks like a number",
    msgspec.inspect.ListType: "write a list",
    msgspec.inspect.StructType: "write a map of keys and values",
    msgspec.inspect.DictType: "write a map of keys and values",
    msgspec.inspect.BoolType: "write true or false",
    msgspec.inspect.IntType: "write a whole number",
}


def _remedy(expected: Any) -> str:
    """Return what to write instead: from the type's own description, or by its kind."""
    if isinstance(expected, msgspec.inspect.Metadata) and expected.extra_json_schema:
        description: str = expected.extra_json_schema.get("description", "")
        return f": {description[0].lower()}{description[1:].rstrip('.')}"
    kind = _plain(expected)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return f": write one of {', '.join(map(str, kind.values))}"
    return f": {_REMEDIES[type(kind)]}" if type(kind) in _REMEDIES else ""
