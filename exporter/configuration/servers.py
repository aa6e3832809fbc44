"""Servers as the configuration and what it finds them by name them."""

import re

from exporter.addresses import Address, is_utf8, parse_address
from exporter.catalogue import LABEL_NAMES
from exporter.configuration.file import ServerEntry
from exporter.configuration.model import Module, Server
from exporter.configuration.yaml_text import Place, shown, within
from exporter.durations import parse_duration
from exporter.errors import AddressError, ConfigurationError

_SHORTEST = 0.001
_LONGEST = 3600.0
_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_TARGET_LABELS = {"job", "instance"}


def servers(
    entries: list[ServerEntry], modules: dict[str, Module], place: Place
) -> tuple[Server, ...]:
    """Return the servers of a list in the file.

    Raises ConfigurationError with the place and the remedy, also for a server that comes twice.
    """
    found: list[Server] = []
    first: dict[str, str] = {}
    for i, entry in enumerate(entries):
        made = server(entry, modules, within(place, f"servers[{i}]"))
        if made.address.endpoint in first:
            raise ConfigurationError(
                f'{place(f"servers[{i}].address")}: "{entry.address}" is the same server as'
                f' "{first[made.address.endpoint]}": remove one'
            )
        first[made.address.endpoint] = entry.address
        found.append(made)
    return tuple(found)


def server(entry: ServerEntry, modules: dict[str, Module], place: Place) -> Server:
    """Return one server; ``place`` names the keys of its entry. Raises ConfigurationError."""
    address = address_at(entry.address, place, "address")
    module = module_named(entry.module, modules, place)
    check_reachable(address, module, place)
    own = labels(entry.labels, within(place, "labels"))
    return Server(
        address=address, module=module, labels=joined(module, own), pid_file=entry.pid_file
    )


def joined(module: Module, own: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return the labels of a server: those of its module, and its own, which count more."""
    return tuple((dict(module.labels) | dict(own)).items())


def address_at(text: str, place: Place, key: str) -> Address:
    """Return the address that stands at a key. Raises ConfigurationError."""
    try:
        return parse_address(text)
    except AddressError as error:
        raise ConfigurationError(f"{place(key)}: {error}") from error


def check_reachable(address: Address, module: Module, place: Place) -> None:
    """Refuse TLS over a unix socket. Raises ConfigurationError."""
    if address.path and module.tls:
        raise ConfigurationError(
            f"{place('module')}: module {shown(module.name)} speaks TLS, which a unix socket"
            " cannot: use a module without tls"
        )


def module_named(name: str, modules: dict[str, Module], place: Place) -> Module:
    """Return a module of the configuration. Raises ConfigurationError when there is none."""
    if name not in modules:
        raise ConfigurationError(
            f"{place('module')}: no module is named {shown(name)}: use one of {', '.join(modules)}"
        )
    return modules[name]


def labels(given: dict[str, str], place: Place) -> tuple[tuple[str, str], ...]:
    """Return the labels of a server; ``place`` names each of them. Raises ConfigurationError."""
    for name, value in given.items():
        if not _LABEL_NAME.match(name) or name.startswith("__"):
            raise ConfigurationError(
                f"{place(name)}: not a label name: use letters, digits and _, no digit or __ first"
            )
        if name in LABEL_NAMES or name in _TARGET_LABELS:
            owner = "Prometheus" if name in _TARGET_LABELS else "the exporter"
            raise ConfigurationError(
                f"{place(name)}: this label is set by {owner}: choose another name"
            )
        if not is_utf8(value):
            raise ConfigurationError(f"{place(name)}: not UTF-8 text, which metrics need")
    return tuple(given.items())


def duration(text: str, where: str) -> float:
    """Return a duration of the configuration, in seconds. Raises ConfigurationError."""
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    if not _SHORTEST <= seconds <= _LONGEST:
        raise ConfigurationError(f"{where}: must be from 1ms to 1h")
    return seconds
