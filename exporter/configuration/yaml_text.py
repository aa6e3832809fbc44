"""YAML text, read strictly: what YAML libraries forgive or guess is an error with its place."""

import json
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import yaml

from exporter.errors import ConfigurationError

Place = Callable[[str], str]
"""Turns a key path such as ``servers[0].address`` into what an error message shows."""

_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_LONGEST_SHOWN = 300
_NULL = "tag:yaml.org,2002:null"


def shown(text: str) -> str:
    """Return a text for a message: on one line and not too long, whatever it holds."""
    if len(text) > _LONGEST_SHOWN:
        text = f"{text[:_LONGEST_SHOWN]}..."
    return f'"{text}"' if text.isprintable() else repr(text)


def _json(source: str) -> Any:
    """Return the document of a file in JSON; None where YAML, which knows lines, has the say.

    A thousand times faster, which counts with lists of thousands of servers.
    """
    try:
        return json.loads(
            source, object_pairs_hook=_distinct, parse_int=str, parse_float=str, parse_constant=str
        )
    except (ValueError, RecursionError):
        return None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) or any(isinstance(value, bool) for value in found.values()):
        raise ValueError("a key stands twice, or what is no text here")
    return found


def _parse(source: str, path: Path, *, texts: bool) -> tuple[yaml.Node | None, Any]:
    """Return the tree of a text, which knows the lines, and the document."""
    if texts and path.suffix == ".json":
        source = source.replace("\t", " ")  # within a text JSON has no bare tab
    loader = _TextLoader(source) if texts else _StrictLoader(source)
    try:
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


def within(place: Place, path: str) -> Place:
    """Return what names the places of the keys of one entry."""
    return lambda key: place(f"{path}.{key}")


def read(path: Path, *, texts: bool = False) -> tuple[object, Place]:
    """Return the document of a file, and a function that names the place of a key in it.

    An empty file is an empty map. With ``texts`` an empty file is None, all values but null are
    texts, whatever they look like, and JSON is understood as other programs write it. Raises
    ConfigurationError with file, line, column and cause.
    """
    root: yaml.Node | None = None
    try:
        source = path.read_text(encoding="utf-8")
        fast = _json(source) if texts and path.suffix == ".json" else None
        if fast is not None:
            document = fast
        else:
            root, document = _parse(source, path, texts=texts)
    except OSError as error:
        raise ConfigurationError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 text at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(_explain(path, error)) from error
    except RecursionError as error:
        raise ConfigurationError(f"{path}: nested too deeply") from error

    def place(key_path: str) -> str:
        tree = root if fast is None else _parse(source, path, texts=texts)[0]
        line = _line(tree, key_path)
        where = f"{path}:{line}" if line else str(path)
        if not key_path.isprintable():
            return f"{where}: {key_path!r}"
        return f"{where}: {key_path}" if key_path else where

    return ({} if document is None and not texts else document), place


def write(document: object) -> str:
    """Return a document as YAML: keys in their order, texts of several lines as such."""
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, indent=2
    )


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002, as the library has it
        """Indent lists below their key."""
        super().increase_indent(flow, indentless=False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar(_TEXT, text, style=style)


_Dumper.add_representer(str, _represent_text)


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice or is no text, and values that YAML cannot make sense of."""

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002, as the library has it
    ) -> dict[Hashable, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise _error("a map of keys and values is expected here", node)
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _error("a key must be text", key)
            if key.tag != _TEXT:
                raise _error(f"key {shown(key.value)} is not text: write it in quotes", key)
            if key.value in seen:
                raise _error(f"key {shown(key.value)} stands twice: remove one", key)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(
        self,
        node: yaml.Node,
        deep: bool = False,  # noqa: FBT001, FBT002, as the library has it
    ) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise _error(
                "this value cannot be read: write it in quotes if it is text", node
            ) from error


class _TextLoader(_StrictLoader):
    """Guesses no types."""

    yaml_implicit_resolvers = {  # noqa: RUF012, as the library has it
        first: [resolver for resolver in resolvers if resolver[0] == _NULL]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        """Join the two escapes with which JSON writes one character beyond 16 bits."""
        text = super().construct_scalar(node)
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            return text


def _error(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _explain(path: Path, error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        mark = error.problem_mark
        quotes = ": write an IPv6 address in quotes" if _has_address(mark) else ""
        return f"{path}:{mark.line + 1}:{mark.column + 1}: not valid YAML: {error.problem}{quotes}"
    return f"{path}: not valid YAML: {' '.join(str(error).split())}"


def _has_address(mark: yaml.Mark) -> bool:
    """Return whether the mark stands behind an IPv6 address in brackets, which begins a list."""
    before = (mark.buffer or "").rstrip("\0").splitlines()[mark.line : mark.line + 1]
    return any(re.search(r"[ ,]\[[0-9a-fA-F.]*:[0-9a-fA-F:.]*\]", line) for line in before)


def _line(root: yaml.Node | None, key_path: str) -> int | None:
    """Return the line of a key, or of the nearest one above it."""
    line = None
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", key_path):
        if isinstance(root, yaml.SequenceNode) and index and int(index) < len(root.value):
            root = root.value[int(index)]
            line = root.start_mark.line + 1
        elif isinstance(root, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in root.value}
            key, root = pairs.get(name or index, (None, None))
            line = key.start_mark.line + 1 if key else line
        else:
            break
    return line
