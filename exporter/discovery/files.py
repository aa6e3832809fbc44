"""Servers from files in the format of Prometheus' file_sd: JSON or YAML, read again on change."""

import stat
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from exporter.configuration import (
    WILDCARDS,
    FileDiscovery,
    Module,
    Server,
    ServerEntry,
    convert_to,
    read_yaml,
    server,
)
from exporter.discovery.finding import Finding
from exporter.errors import ConfigurationError, DiscoveryError

_MODULE_LABEL = "__param_module"
_NEVER = (0, 0, 0, 0)


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    targets: list[str]
    labels: dict[str, str] = {}


class _TargetFile(msgspec.Struct, frozen=True):
    groups: list[_Group]


class _Known(msgspec.Struct, frozen=True):
    """What was read of a file."""

    stamp: tuple[int, int, int, int]
    """Tells a changed file from the one that was read."""
    servers: tuple[Server, ...] | None
    """What it last said when it was good; None if it never was."""
    trouble: str = ""


class FileFinder:
    """Reads the files that a pattern matches; of a file that went bad the last good list stays."""

    def __init__(self, source: FileDiscovery) -> None:
        self._modules = source.modules
        self._directory = Path(source.pattern).parent
        self._name = Path(source.pattern).name
        self._files: dict[Path, _Known] = {}

    def inherit(self, before: "FileFinder") -> None:
        """Know what a finder of the same files knew; all of them are read again."""
        self._files = {
            path: _Known(_NEVER, None if known.servers is None else self._ours(known.servers))
            for path, known in before._files.items()  # noqa: SLF001, of its own kind
        }

    def _ours(self, servers: tuple[Server, ...]) -> tuple[Server, ...]:
        """Return servers with the modules of now, without those whose module is gone."""
        return tuple(
            msgspec.structs.replace(server, module=self._modules[server.module.name])
            for server in servers
            if server.module.name in self._modules
        )

    def __call__(self) -> Finding:
        """Return the servers of all files. Raises DiscoveryError if there is no such directory."""
        try:
            names = sorted(path.name for path in self._directory.iterdir())
        except OSError as error:
            text = (error.strerror or str(error)).lower()
            raise DiscoveryError(f"{self._directory}: {text}") from error
        if set(self._name) & set(WILDCARDS):
            names = [name for name in names if fnmatchcase(name, self._name)]
        else:
            names = [self._name]  # which must be there
        paths = [self._directory / name for name in names]
        self._files = {path: self._look(path) for path in paths}
        return Finding(
            servers=self.known(),
            trouble="; ".join(known.trouble for known in self._files.values() if known.trouble),
            complete=all(known.servers is not None for known in self._files.values()),
        )

    def known(self) -> tuple[Server, ...]:
        """Return the servers of the files as they were when last good."""
        lists = (known.servers for known in self._files.values())
        return tuple(server for servers in lists for server in servers or ())

    def _look(self, path: Path) -> _Known:
        before = self._files.get(path) or _Known(_NEVER, None)
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
                return _Known(before.stamp, before.servers, f"{path}: not a file")
            # The time of the last change to the inode cannot be set back, as by `cp -p`.
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            if stamp == before.stamp and not before.trouble:
                return before
            return _Known(stamp, _read(path, self._modules))
        except OSError as error:
            text = (error.strerror or str(error)).lower()
            return _Known(before.stamp, before.servers, f"{path}: {text}")
        except ConfigurationError as error:
            return _Known(before.stamp, before.servers, str(error))


def _read(path: Path, modules: dict[str, Module]) -> tuple[Server, ...]:
    """Return the servers of a file. Raises ConfigurationError with the place and the remedy."""
    document, place_in_file = read_yaml(path, texts=True)

    def place(key: str) -> str:
        return place_in_file(key.removeprefix("groups"))

    if document is None:
        if path.suffix == ".json":  # half written
            raise ConfigurationError(f"{path}: empty: write [] where there are no servers")
        return ()
    if isinstance(document, list):
        document = [_without_nulls(entry) for entry in document]
    groups = convert_to({"groups": document}, place, _TargetFile).groups
    servers: list[Server] = []
    for i, group in enumerate(groups):
        # As in Prometheus, labels with two underscores are for those on the way.
        shown = {name: text for name, text in group.labels.items() if not name.startswith("__")}
        module = group.labels.get(_MODULE_LABEL, "default")
        for j, target in enumerate(group.targets):
            names = {
                "address": f"groups[{i}].targets[{j}]",
                "module": f"groups[{i}].labels.{_MODULE_LABEL}",
            }
            servers.append(
                server(
                    ServerEntry(address=target, module=module, labels=shown),
                    modules,
                    lambda key, names=names, i=i: place(names.get(key, f"groups[{i}].{key}")),  # type: ignore[misc]
                )
            )
    return tuple(servers)


def _without_nulls(entry: Any) -> Any:
    """Return a group with empty lists and maps where it has null, as programs in Go write them."""
    if not isinstance(entry, dict):
        return entry
    labels = entry.get("labels") or {}
    if isinstance(labels, dict):
        labels = {name: text for name, text in labels.items() if text is not None}
    targets = {"targets": entry["targets"] or []} if "targets" in entry else {}
    return entry | {"labels": labels} | targets
