"""The command line: arguments become one command."""

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from exporter import __version__
from exporter.addresses import parse_address, parse_listen_address
from exporter.configuration import (
    ConfigFile,
    Configuration,
    ModuleEntry,
    build,
    convert,
    json_schema,
    load,
)
from exporter.daemon import serve
from exporter.documentation import metrics_as_data, metrics_as_markdown
from exporter.durations import parse_duration
from exporter.errors import ConfigurationError, ExporterError
from exporter.logs import configure

PROGRAM = "memcached-exporter"
USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 2 for wrong usage or configuration."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = {"serve": _serve, "config": _config, "metrics": _metrics}
    command = commands[given.pop(0)] if given and given[0] in commands else _serve
    try:
        status = command(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has had enough; Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ConfigurationError as error:
        return _fail(str(error), USAGE_ERROR)
    except ExporterError as error:
        return _fail(str(error), 1)
    return status


def _fail(message: str, status: int) -> int:
    line = message if message.isprintable() else message.encode("unicode_escape").decode()
    print(f"{PROGRAM}: {line}", file=sys.stderr)
    return status


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage before it."""

    def error(self, message: str) -> NoReturn:
        text = re.sub(r"^argument (\S+):", r"\1:", message)
        raise SystemExit(_fail(f"{text} (see {PROGRAM} --help)", USAGE_ERROR))


def _serve(arguments: list[str]) -> int:
    flags = _serve_parser().parse_args(arguments)
    configuration = _configuration(flags)
    configure(configuration.log)
    return serve(configuration)


def _serve_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        PROGRAM,
        usage="%(prog)s [serve] [flags] | config check FILE | config schema | metrics",
        description="Prometheus exporter for memcached. Without flags it reads localhost:11211"
        " and serves http://localhost:9150/metrics.",
        epilog="Flags override the configuration file.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--memcached.address",
        action="append",
        metavar="ADDRESS",
        type=_checked(parse_address),
        help="a server to read: host[:port], [v6][:port], /path or unix:/path; repeat it for more"
        " (default localhost:11211)",
    )
    add(
        "--memcached.timeout",
        metavar="DURATION",
        type=_checked(parse_duration),
        help="longest time for one scrape of one server (default 1s)",
    )
    add(
        "--memcached.assume-no-napi-ids",
        action="store_true",
        help="read `stats settings` also from remote memcached 1.6.9 to 1.6.39: only if none of"
        " them was started with -N, since the command kills such a server",
    )
    add(
        "--collector.slab",
        action=argparse.BooleanOptionalAction,
        help="read `stats slabs` and `stats items`, most of all series (default on)",
    )
    add(
        "--metrics.legacy-names",
        action="store_true",
        help="add the official exporter's misnamed families; the text format only",
    )
    add(
        "--web.listen-address",
        action="append",
        metavar="ADDRESS",
        type=_checked(parse_listen_address),
        help="where to serve: :port, host:port or [v6]:port; repeat it for more (default :9150)",
    )
    add("--web.telemetry-path", metavar="PATH", help="path of the metrics (default /metrics)")
    add("--web.scrape-path", metavar="PATH", help="path to read one target (default /scrape)")
    add("--config.file", metavar="FILE", type=_file, help="configuration file (YAML)")
    add("--log.level", choices=["debug", "info", "warn", "error"], help="(default info)")
    add("--log.format", choices=["logfmt", "json"], help="(default logfmt)")
    add(
        "--version",
        action="version",
        version=f"{PROGRAM}, version {__version__} (Python {platform.python_version()})",
    )
    return parser


def _file(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("empty: write the path of a file, or leave the flag out")
    return Path(text)


def _checked(parse: Callable[[str], object]) -> Callable[[str], str]:
    """Return a check for argparse: the text is kept, its meaning comes with the configuration."""

    def check(text: str) -> str:
        try:
            parse(text)
        except (ExporterError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return text

    return check


_KEYS = {
    "memcached.address": "servers",
    "memcached.timeout": "modules.default.timeout",
    "memcached.assume_no_napi_ids": "modules.default.assume_no_napi_ids",
    "metrics.legacy_names": "metrics.legacy_names",
    "web.listen_address": "web.listen",
    "web.telemetry_path": "web.telemetry_path",
    "web.scrape_path": "web.scrape_path",
    "log.level": "log.level",
    "log.format": "log.format",
}
"""Flag to the key of the configuration file that it overrides."""


_SLAB_SECTIONS = ("slabs", "items")


def _configuration(flags: argparse.Namespace) -> Configuration:
    """Lay the flags over the file."""
    given = {
        flag: value
        for flag, value in vars(flags).items()
        if value is not None and value is not False
    }
    path: Path | None = given.pop("config.file", None)
    slab: bool | None = vars(flags)["collector.slab"]
    given.pop("collector.slab", None)
    file, file_place = load(path) if path else (ConfigFile(), lambda key_path: key_path)

    def place(key_path: str) -> str:
        for flag in given:
            if key_path.startswith(_KEYS[flag]):
                return f"--{flag.replace('_', '-')}"
        return file_place(key_path)

    document = msgspec.to_builtins(file)
    for flag, value in given.items():
        *sections, key = _KEYS[flag].split(".")
        target = document
        for section in sections:
            target = target.setdefault(section, {})
        target[key] = [{"address": text} for text in value] if key == "servers" else value
    if slab is not None:
        default = document["modules"].setdefault("default", msgspec.to_builtins(ModuleEntry()))
        others = [name for name in default["sections"] if name not in _SLAB_SECTIONS]
        default["sections"] = [*others, *(_SLAB_SECTIONS if slab else ())]
    return build(convert(document, place), place)


def _metrics(arguments: list[str]) -> int:
    parser = _Parser(
        f"{PROGRAM} metrics", description="Print what is exported.", allow_abbrev=False
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    flags = parser.parse_args(arguments)
    if flags.format == "json":
        print(json.dumps(metrics_as_data(), indent=2))
    else:
        print(metrics_as_markdown(), end="")
    return 0


def _config(arguments: list[str]) -> int:
    parser = _Parser(f"{PROGRAM} config", allow_abbrev=False)
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|schema")
    check = actions.add_parser("check", help="check a configuration file: exit status 0 or 2")
    check.add_argument("file", type=Path, metavar="FILE")
    actions.add_parser("schema", help="print the file's JSON Schema, for editors")
    flags = parser.parse_args(arguments)
    if flags.action == "schema":
        print(json.dumps(json_schema(), indent=2))
        return 0
    configuration = build(*load(flags.file))
    print(
        f"{flags.file}: good: servers: {len(configuration.servers)},"
        f" modules: {', '.join(configuration.modules)}"
    )
    return 0
