"""From the file's data to the Configuration: meaning, cross-checks and defaults."""

import difflib
import ipaddress
import re
from pathlib import Path

import msgspec

from exporter.addresses import (
    DEFAULT_PORT,
    HIGHEST_PORT,
    is_authority,
    parse_listen_address,
)
from exporter.catalogue import SECTIONS
from exporter.catalogue.host.collectors import HOST_SECTIONS, OFF_BY_DEFAULT, PROCESS_SECTIONS
from exporter.configuration.discovery import any_source, sources
from exporter.configuration.file import (
    AuthEntry,
    ConfigFile,
    HostEntry,
    ModuleEntry,
    ServerEntry,
    TlsEntry,
)
from exporter.configuration.model import (
    Allow,
    Auth,
    Configuration,
    HostSettings,
    Log,
    Module,
    Rules,
    Web,
)
from exporter.configuration.servers import duration, labels, servers
from exporter.configuration.yaml_text import Place, shown, within
from exporter.errors import AddressError, ConfigurationError
from exporter.health.findings.all_checks import CHECKS
from exporter.health.rules.render import check_selector
from exporter.health.thresholds import Thresholds
from exporter.tls import ClientTls, client_context

DEFAULT_SERVER = "localhost:11211"

_MODULE_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")
_HOST_PATTERN = re.compile(
    r"(\[[0-9a-f:.*?]+\]|[a-z0-9._*?-]+)"  # IPv6 in brackets, a name or an IPv4 address
    r"(?::([0-9*?]{1,5}))?\Z"
)


def build(file: ConfigFile, place: Place) -> Configuration:
    """Check what the file's shape alone cannot, and fill in the defaults.

    Without any ``servers`` and ``discovery`` the server on localhost is read, as the official
    exporter does.
    Raises ConfigurationError with the place and the remedy.
    """
    modules = {
        name: _module(name, entry, place)
        for name, entry in ({"default": ModuleEntry()} | file.modules).items()
    }
    entries = file.servers
    if entries is None:
        entries = [] if any_source(file.discovery) else [ServerEntry(address=DEFAULT_SERVER)]
    return Configuration(
        servers=servers(entries, modules, place),
        discovery=sources(file.discovery, modules, place),
        modules=modules,
        allow=_allow(file.scrape.allow, place),
        legacy_names=file.metrics.legacy_names,
        findings=file.metrics.findings,
        ignored=_ignored(file.findings.ignore, place),
        host=_host(file.host, place),
        thresholds=_thresholds(file.thresholds, place),
        rules=Rules(
            check_selector(file.rules.selector, place("rules.selector")),
            file.rules.runbooks.rstrip("/"),
            file.rules.dashboards.rstrip("/"),
        ),
        web=_web(file, place),
        log=Log(level=file.log.level, format=file.log.format),
    )


def _module(name: str, entry: ModuleEntry, place: Place) -> Module:
    if not _MODULE_NAME.match(name):
        raise ConfigurationError(
            f"{place(f'modules.{name}')}: not a module name: use letters, digits, _ and -"
        )
    timeout = duration(entry.timeout, place(f"modules.{name}.timeout"))
    probe = entry.probe
    interval = f"modules.{name}.probe.interval"
    wanted = {"stats", *entry.sections}
    return Module(
        name=name,
        timeout=timeout,
        sections=tuple(section.name for section in SECTIONS if section.name in wanted),
        assume_no_napi_ids=entry.assume_no_napi_ids,
        max_reply_bytes=entry.max_reply_bytes,
        top_clients=entry.top_clients,
        max_prefixes=entry.max_prefixes,
        probe_interval=duration(probe.interval, place(interval)) if probe else 0.0,
        labels=labels(entry.labels, within(place, f"modules.{name}.labels")),
        canary_key=probe.canary_key if probe else "",
        tls=_tls(entry.tls, place, f"modules.{name}.tls") if entry.tls else None,
        auth=_auth(entry.auth, place, f"modules.{name}.auth") if entry.auth else None,
    )


def _tls(entry: TlsEntry, place: Place, path: str) -> ClientTls:
    """Check that the files go together and can be read now."""
    tls = msgspec.convert(msgspec.to_builtins(entry), ClientTls)
    if bool(tls.cert_file) != bool(tls.key_file):
        raise ConfigurationError(f"{place(path)}: cert_file and key_file go together: set both")
    try:
        client_context(tls)
    except OSError as error:
        keys = ("ca_file", "cert_file", "key_file")
        named = [key for key in keys if str(error).startswith(getattr(tls, key) or "\0")]
        where = place(f"{path}.{named[0]}" if named else path)
        raise ConfigurationError(f"{where}: {error}") from error
    return tls


def _auth(entry: AuthEntry, place: Place, path: str) -> Auth:
    if bool(entry.password_file) == bool(entry.password_env):
        raise ConfigurationError(f"{place(path)}: set one of password_file and password_env")
    return Auth(entry.username, entry.password_file, entry.password_env)


def _thresholds(given: Thresholds, place: Place) -> Thresholds:
    """Refuse a warning that comes no earlier than what is worse."""
    workers = given.workers
    pairs = {
        "connections": (given.connections.warning, given.connections.critical),
        "workers.cpu": (workers.cpu.warning, workers.cpu.critical),
        "workers.wait": (workers.wait.warning, workers.wait.critical),
    }
    for path, (warning, critical) in pairs.items():
        if warning >= critical:
            raise ConfigurationError(
                f"{place(f'thresholds.{path}')}: warning must be below critical"
            )
    if given.hit_rate.warning >= given.hit_rate.target:
        raise ConfigurationError(f"{place('thresholds.hit_rate')}: warning must be below target")
    return given


def _ignored(names: list[str], place: Place) -> frozenset[str]:
    known = [check.name for check in CHECKS]
    for index, name in enumerate(names):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else "`check --list` prints all"
            remedy = "give each on its own" if "," in name else remedy
            where = place(f"findings.ignore[{index}]")
            raise ConfigurationError(f"{where}: {shown(name)} is no finding: {remedy}")
    return frozenset(names)


def _allow(entries: list[str], place: Place) -> Allow:
    """Sort the entries into networks and patterns; a pattern without a port means 11211."""
    networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
    patterns: list[str] = []
    for i, text in enumerate(entries):
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as error:
            if not (pattern := _pattern(text)):
                raise ConfigurationError(
                    f"{place(f'scrape.allow[{i}]')}: {shown(text)} is neither a network ({error})"
                    " nor a pattern for host:port or unix:/path"
                ) from error
            patterns.append(pattern)
    return Allow(networks=tuple(networks), patterns=tuple(patterns))


def _pattern(text: str) -> str:
    """Return a pattern in the form of ``Address.endpoint``, or nothing if it could never match."""
    if text.startswith(("/", "unix:/")):
        return f"unix:{text.removeprefix('unix:')}"
    found = _HOST_PATTERN.match(text.lower())
    if not found or (found[2] and found[2].isdecimal() and int(found[2]) > HIGHEST_PORT):
        return ""
    return f"{found[1]}:{found[2] or DEFAULT_PORT}"


def _host(entry: HostEntry, place: Place) -> HostSettings:
    names = [section.name for section in (*HOST_SECTIONS, *PROCESS_SECTIONS)]
    switches = {name: name not in OFF_BY_DEFAULT for name in names} | {**entry.collectors}
    return HostSettings(
        procfs=Path(entry.procfs),
        sysfs=Path(entry.sysfs),
        collectors=frozenset(name for name, on in switches.items() if on and entry.enabled),
        include=_devices(entry.devices.include, place, "host.devices.include"),
        exclude=_devices(entry.devices.exclude, place, "host.devices.exclude"),
    )


def _devices(patterns: list[str], place: Place, path: str) -> re.Pattern[str] | None:
    for i, pattern in enumerate(patterns):
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigurationError(
                f"{place(f'{path}[{i}]')}: {shown(pattern)} is no regular expression: {error}"
            ) from error
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def _web(file: ConfigFile, place: Place) -> Web:
    listen = []
    for i, text in enumerate(file.web.listen):
        try:
            listen.append(parse_listen_address(text))
        except AddressError as error:
            raise ConfigurationError(f"{place(f'web.listen[{i}]')}: {error}") from error
    paths = {
        "telemetry_path": file.web.telemetry_path,
        "scrape_path": file.web.scrape_path,
    }
    for key, path in paths.items():
        if path in {"/", "/sd", "/server"} or path.startswith("/-/"):
            raise ConfigurationError(
                f'{place(f"web.{key}")}: "{path}" is taken by the exporter: use another path'
            )
    if len(set(paths.values())) < len(paths):
        raise ConfigurationError(
            f"{place('web.scrape_path')}: equal to the telemetry path: use another path"
        )
    external = file.web.external_url.partition("://")[2].partition("/")[0]
    if external and not is_authority(external):
        raise ConfigurationError(
            f"{place('web.external_url')}: {shown(external)} is not a host, or host:port"
        )
    return Web(
        listen=tuple(listen),
        **paths,
        enable_lifecycle=file.web.enable_lifecycle,
        systemd_socket=file.web.systemd_socket,
        config_file=file.web.config_file,
        external_url=file.web.external_url.rstrip("/"),
    )
