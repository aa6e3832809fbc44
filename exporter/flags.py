"""Flags: what they are, and how they lie over the configuration file."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from exporter.addresses import parse_address, parse_listen_address
from exporter.configuration import (
    DEFAULT_SERVER,
    ConfigFile,
    Configuration,
    ModuleEntry,
    build,
    convert,
    load,
)
from exporter.durations import parse_duration
from exporter.errors import ConfigurationError, ExporterError

_KEYS = {
    "memcached.address": "servers",
    "memcached.timeout": "modules.default.timeout",
    "memcached.assume_no_napi_ids": "modules.default.assume_no_napi_ids",
    **{
        f"memcached.tls.{key}": f"modules.default.tls.{key}"
        for key in ("ca_file", "cert_file", "key_file", "server_name", "insecure_skip_verify")
    },
    "path.procfs": "host.procfs",
    "path.sysfs": "host.sysfs",
    "metrics.legacy_names": "metrics.legacy_names",
    "metrics.findings": "metrics.findings",
    "ignore": "findings.ignore",
    "web.listen_address": "web.listen",
    "web.telemetry_path": "web.telemetry_path",
    "web.scrape_path": "web.scrape_path",
    "web.enable_lifecycle": "web.enable_lifecycle",
    "web.systemd_socket": "web.systemd_socket",
    "web.external_url": "web.external_url",
    "web.config.file": "web.config_file",
    "log.level": "log.level",
    "log.format": "log.format",
}
"""Flag to the key of the configuration file that it overrides."""

_SLAB_SECTIONS = ("slabs", "items")
_ENABLE_TLS = "memcached.tls.enable"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of `serve`."""
    add = parser.add_argument
    add(
        "--memcached.address",
        action="append",
        metavar="ADDRESS",
        type=checked(parse_address),
        help="a server to read: host[:port], [v6][:port], /path or unix:/path; repeat it for more"
        " (default localhost:11211)",
    )
    add_reading_flags(parser)
    add(
        "--memcached.pid-file",
        metavar="FILE",
        help="file with the process number of the one server, if that runs on this host (it is"
        " found without, unless it is behind address translation)",
    )
    add(
        "--metrics.legacy-names",
        action="store_true",
        default=None,
        help="add the official exporter's misnamed families; the text format only",
    )
    add(
        "--metrics.findings",
        action="store_true",
        default=None,
        help="add memcached_finding: what is not as it should be, judged once a minute",
    )
    add(
        "--web.listen-address",
        action="append",
        metavar="ADDRESS",
        type=checked(parse_listen_address),
        help="where to serve: :port, host:port or [v6]:port; repeat it for more (default :9150)",
    )
    add("--web.telemetry-path", metavar="PATH", help="path of the metrics (default /metrics)")
    add("--web.scrape-path", metavar="PATH", help="path to read one target (default /scrape)")
    add(
        "--web.enable-lifecycle",
        action="store_true",
        default=None,
        help="reload the configuration upon POST /-/reload, as upon SIGHUP",
    )
    add(
        "--web.systemd-socket",
        action=argparse.BooleanOptionalAction,
        help="serve on the sockets of a systemd .socket unit, instead of --web.listen-address",
    )
    add(
        "--web.external-url",
        metavar="URL",
        help="where clients reach the exporter, for /sd and links (default: as they call it)",
    )
    add("--web.config.file", metavar="FILE", help="TLS, client certificates, passwords (YAML)")
    add("--log.format", choices=["logfmt", "json"], help="(default logfmt)")


def add_addresses(parser: argparse.ArgumentParser) -> None:
    """Declare addresses of servers as the arguments of a command that looks at them."""
    parser.add_argument(
        "memcached.address",
        nargs="*",
        metavar="ADDRESS",
        type=checked(parse_address),
        help="a server: host[:port], [v6][:port], /path or unix:/path (default those of the"
        " configuration file, else localhost:11211)",
    )


def add_reading_flags(parser: argparse.ArgumentParser) -> None:
    """Declare what says how servers and the host are read."""
    add = parser.add_argument
    add(
        "--memcached.timeout",
        metavar="DURATION",
        type=checked(parse_duration),
        help="longest time for one scrape of one server (default 1s)",
    )
    add(
        "--memcached.assume-no-napi-ids",
        action="store_true",
        default=None,
        help="read `stats settings` also from remote memcached 1.6.9 to 1.6.39: only if none of"
        " them was started with -N, since the command kills such a server",
    )
    add(
        "--memcached.tls.enable",
        action=argparse.BooleanOptionalAction,
        help="speak TLS to the servers",
    )
    add("--memcached.tls.ca-file", metavar="FILE", help="certificates to trust (default system's)")
    add("--memcached.tls.cert-file", metavar="FILE", help="the exporter's own certificate")
    add("--memcached.tls.key-file", metavar="FILE", help="its key")
    add("--memcached.tls.server-name", metavar="NAME", help="name in the servers' certificates")
    add(
        "--memcached.tls.insecure-skip-verify",
        action=argparse.BooleanOptionalAction,
        help="take any certificate; anybody between can then read along",
    )
    add(
        "--collector.slab",
        action=argparse.BooleanOptionalAction,
        help="read `stats slabs` and `stats items`, most of all series (default on)",
    )
    add(
        "--collector.host",
        action=argparse.BooleanOptionalAction,
        help="read the host: context switches, threads, network cards, limits (default on)",
    )
    add("--path.procfs", metavar="DIR", help="where the host's /proc is mounted (default /proc)")
    add("--path.sysfs", metavar="DIR", help="where the host's /sys is mounted (default /sys)")
    add("--config.file", metavar="FILE", type=file_name, help="configuration file (YAML)")
    add("--log.level", choices=["debug", "info", "warn", "error"], help="(default info)")


def file_name(text: str) -> Path:
    """Return the path that a flag names; for argparse."""
    if not text:
        raise argparse.ArgumentTypeError("empty: write the path of a file, or leave the flag out")
    return Path(text)


def checked(parse: Callable[[str], object]) -> Callable[[str], str]:
    """Return a check for argparse: the text is kept, its meaning comes with the configuration."""

    def check(text: str) -> str:
        try:
            parse(text)
        except (ExporterError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return check


def configuration_of(flags: dict[str, Any]) -> Configuration:
    """Lay the flags over the file that they name. Raises ConfigurationError."""
    path: Path | None = flags["config.file"]
    file, file_place = load(path) if path else (ConfigFile(), lambda key_path: key_path)
    given = {
        flag: value for flag, value in flags.items() if flag in _KEYS and value not in (None, [])
    }

    def place(key_path: str) -> str:
        for flag in given:
            if key_path.startswith(_KEYS[flag]):
                return f"--{flag.replace('_', '-')}"
        return file_place(key_path)

    document = msgspec.to_builtins(file)
    _enable(document, flags, given)
    without_tls = document["modules"]["default"]["tls"] is None
    for flag, value in given.items():
        if without_tls and flag.startswith("memcached.tls."):
            continue
        *sections, key = _KEYS[flag].split(".")
        target = document
        for section in sections:
            target = target.setdefault(section, {})
        target[key] = [{"address": text} for text in value] if key == "servers" else value
    if pid_file := flags.get("memcached.pid_file"):
        _point_at_process(document, pid_file)
    return build(convert(document, place), place)


def _enable(document: dict[str, Any], flags: dict[str, Any], given: dict[str, Any]) -> None:
    """Apply the flags that switch a part of the default module on or off."""
    default = document["modules"].setdefault("default", msgspec.to_builtins(ModuleEntry()))
    enabled = flags[_ENABLE_TLS]
    if enabled:
        default["tls"] = default["tls"] or {}
    elif enabled is False:
        default["tls"] = None
    elif any(value for flag, value in given.items() if flag.startswith("memcached.tls.")):
        raise ConfigurationError(f"--memcached.tls flags do nothing alone: add --{_ENABLE_TLS}")
    if (slab := flags["collector.slab"]) is not None:
        others = [name for name in default["sections"] if name not in _SLAB_SECTIONS]
        default["sections"] = [*others, *(_SLAB_SECTIONS if slab else ())]
    if (host := flags["collector.host"]) is not None:
        document["host"]["enabled"] = host


def _point_at_process(document: dict[str, Any], pid_file: str) -> None:
    """Say where the number of the one server's process is."""
    servers = document["servers"] = document["servers"] or [{"address": DEFAULT_SERVER}]
    if len(servers) > 1:
        raise ConfigurationError(
            "--memcached.pid-file: there are several servers: write pid_file with each of them in"
            " the configuration file"
        )
    servers[0]["pid_file"] = pid_file
