"""Servers from files in the format of Prometheus' file_sd: JSON or YAML, read again on change."""

from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from exporter.configuration import (
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


class _Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    targets: list[str]
    labels: dict[str, str] = {}


class _TargetFile(msgspec.Struct, frozen=True):
    groups: list[_Group]


class _Known(msgspec.Struct, frozen=True):
    """What was read of a file."""

    stamp: tuple[int, int, int]
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

    def __call__(self) -> Finding:
        """Return the servers of all files. Raises DiscoveryError if there is no such directory."""
        try:
            names = sorted(path.name for path in self._directory.iterdir())
        except OSError as error:
            text = (error.strerror or str(error)).lower()
            raise DiscoveryError(f"{self._directory}: {text}") from error
        paths = [self._directory / name for name in names if fnmatchcase(name, self._name)]
        self._files = {path: self._look(path) for path in paths}
        troubles = [known.trouble for known in self._files.values() if known.trouble]
        if not paths and not set(self._name) & set("*?["):
            troubles.append(f"{self._directory / self._name}: no such file")
        known = [known.servers for known in self._files.values()]
        return Finding(
            servers=tuple(server for servers in known for server in servers or ()),
            trouble="; ".join(troubles),
            complete=None not in known and (bool(paths) or not troubles),
        )

    def _look(self, path: Path) -> _Known:
        before = self._files.get(path) or _Known((0, 0, 0), None)
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
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

    groups = convert_to({"groups": document or []}, place, _TargetFile).groups
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
