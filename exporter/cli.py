"""The command line: arguments become one command."""

import argparse
import difflib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from exporter import __version__
from exporter.check.command import OUTPUTS, check
from exporter.check.nagios import unknown
from exporter.check.report import Status
from exporter.configuration import (
    ConfigFile,
    Configuration,
    Log,
    build,
    json_schema,
    load,
    write_yaml,
)
from exporter.daemon import serve
from exporter.documentation import checks_as_markdown, metrics_as_data, metrics_as_markdown
from exporter.durations import parse_duration
from exporter.errors import ConfigurationError, ExporterError
from exporter.flags import (
    add_addresses,
    add_flags,
    add_reading_flags,
    checked,
    configuration_of,
)
from exporter.health.rules.all_rules import FILES
from exporter.health.rules.render import Links, check_selector, operator_resource, rule_file
from exporter.health.words import visible
from exporter.logs import configure
from exporter.observation.chosen import chosen
from exporter.watch.command import add_flags as add_watch_flags
from exporter.watch.command import watch
from exporter.web.access import check as check_access

PROGRAM = "memcached-exporter"
USAGE_ERROR = 2
_LONGEST_WINDOW = 3600.0
_GENERATED = "# Made by `memcached-exporter rules`: thresholds are set in its configuration.\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 2 for wrong usage or configuration."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = {
        "serve": _serve,
        "check": _check,
        "watch": _watch,
        "config": _config,
        "metrics": _metrics,
        "rules": _rules,
    }
    if given and not given[0].startswith("-") and given[0] not in commands:
        return _fail(f"{given[0]}: no such command: write {', '.join(commands)}", USAGE_ERROR)
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
    print(f"{PROGRAM}: {visible(message)}", file=sys.stderr)
    return status


def _fail_as_plugin(message: str, status: int) -> int:
    """Say it where monitoring looks: it shows standard output, and knows no other."""
    print(unknown(message), end="")
    return status


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage before it."""

    usage_status = USAGE_ERROR
    fail: Callable[[str, int], int] = staticmethod(_fail)

    def error(self, message: str) -> NoReturn:
        text = re.sub(r"^argument (\S+):", r"\1:", message)
        if flag := re.match(r"unrecognized arguments: (--[^ =]+)", message):
            near = difflib.get_close_matches(flag[1], self._option_string_actions, 1, 0.75)
            text += f": did you mean {near[0]}?" if near else ""
        raise SystemExit(self.fail(f"{text} (see {self.prog} --help)", self.usage_status))


def _serve(arguments: list[str]) -> int:
    parser = _Parser(
        PROGRAM,
        usage="%(prog)s [serve] [flags] | check [ADDRESS...] | watch [ADDRESS...] |"
        " config check FILE | config schema | metrics | rules",
        description="Prometheus exporter for memcached. Without flags it reads localhost:11211"
        " and serves http://localhost:9150/metrics.",
        epilog="Flags override the configuration file.",
        allow_abbrev=False,
    )
    add_flags(parser)
    version = f"{PROGRAM}, version {__version__} (Python {platform.python_version()})"
    parser.add_argument("--version", action="version", version=version)
    flags = vars(parser.parse_args(arguments))
    return serve(lambda: configuration_of(flags))


def _check(arguments: list[str]) -> int:
    parser = _Parser(
        f"{PROGRAM} check",
        description="Look at servers twice, and say what is not as it should be and what to do."
        " Exit status: 0 all is well, 1 warning, 2 critical, 3 unknown.",
        allow_abbrev=False,
    )
    parser.usage_status = Status.UNKNOWN.exit_code
    if {"nagios", "--output=nagios"} & set(arguments):
        parser.fail = _fail_as_plugin
    add_addresses(parser)
    parser.add_argument(
        "--window",
        metavar="DURATION",
        type=checked(_window),
        default="10s",
        help="time between the two looks; 0s for one look (default 10s)",
    )
    parser.add_argument("--output", choices=list(OUTPUTS), default="text", help="(default text)")
    parser.add_argument(
        "--ignore",
        action="append",
        metavar="FINDING",
        help="a finding that is well as it is, such as memory_high; repeat it for more",
    )
    parser.add_argument("--list", action="store_true", help="print all checks, as Markdown")
    add_reading_flags(parser)
    flags = vars(parser.parse_args(arguments))
    if flags["list"]:
        print(checks_as_markdown(), end="")
        return 0
    try:
        configuration, unread = _chosen(flags)
        found = check(configuration, _window(flags["window"]), unread)
    except KeyboardInterrupt:
        return parser.fail("interrupted before the second look", Status.UNKNOWN.exit_code)
    except ExporterError as error:
        return parser.fail(str(error), Status.UNKNOWN.exit_code)
    print(OUTPUTS[flags["output"]](found, configuration), end="")
    return found.status.exit_code


def _watch(arguments: list[str]) -> int:
    parser = _Parser(
        f"{PROGRAM} watch",
        description="Show what servers do, interval by interval, and sum it up at the end.",
        epilog="Exit status: 0, 1 when it is worse than the baseline or nothing was measured, 2"
        " for wrong usage.",
        allow_abbrev=False,
    )
    add_addresses(parser)
    add_watch_flags(parser)
    add_reading_flags(parser)
    flags = vars(parser.parse_args(arguments))
    return watch(*_chosen(flags), flags)


def _chosen(flags: dict[str, Any]) -> tuple[Configuration, tuple[str, ...]]:
    """Return the configuration with the servers that a command is to look at."""
    addresses = flags.pop("memcached.address")
    configuration = configuration_of(flags)
    # What is wrong is part of the command's own output.
    level = flags["log.level"] or "error"
    configure(Log(level=level, format=configuration.log.format))
    return chosen(configuration, addresses)


def _window(text: str) -> float:
    seconds = 0.0 if text in {"0", "0s"} else parse_duration(text)
    if seconds > _LONGEST_WINDOW:
        raise ValueError("must be from 0s to 1h")
    return seconds


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


def _rules(arguments: list[str]) -> int:
    parser = _Parser(
        f"{PROGRAM} rules",
        description="Print rules for Prometheus, with the thresholds of a configuration file.",
        allow_abbrev=False,
    )
    parser.add_argument("--config.file", metavar="FILE", type=Path, help="configuration file")
    parser.add_argument("--selector", metavar="MATCHERS", help='such as job="memcached"')
    parser.add_argument("--format", choices=["rules", "operator"], default="rules")
    parser.add_argument("--file", choices=list(FILES), help="print one of the files alone")
    flags = vars(parser.parse_args(arguments))
    path = flags["config.file"]
    configuration = build(*load(path)) if path else build(ConfigFile(), str)
    rules = configuration.rules
    given = flags["selector"]
    selector = rules.selector if given is None else check_selector(given, "--selector")
    groups = FILES[flags["file"]] if flags["file"] else tuple(chain(*FILES.values()))
    links = Links(rules.runbooks, rules.dashboards)
    document = rule_file(groups, configuration.thresholds, selector, links)
    if flags["format"] == "operator":
        document = operator_resource(document, flags["file"] or "memcached")
    print(_GENERATED + write_yaml(document), end="")
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
    if configuration.web.config_file:
        check_access(Path(configuration.web.config_file))
    print(
        f"{flags.file}: good: servers: {len(configuration.servers)},"
        f" modules: {', '.join(configuration.modules)}"
    )
    return 0
