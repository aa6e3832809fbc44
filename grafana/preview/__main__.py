"""Draw the dashboards from live data, as Grafana would: ``python -m grafana.preview``.

Each file of grafana/dashboards becomes a picture, with what a Prometheus answers now.
Exit status 2 when a Prometheus does not answer, or refuses a query.
"""

import argparse
import sys
import time
from pathlib import Path

from grafana.preview.board import DASHBOARDS, PICTURES, View, draw, load
from grafana.preview.prometheus import PreviewError, Prometheus


def _choice(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"write NAME=VALUE, not {text!r}")
    return name, value


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"write a number above 0, not {text!r}")
    return number


def main(arguments: list[str] | None = None) -> int:
    """Draw the boards."""
    parser = argparse.ArgumentParser(
        "python -m grafana.preview", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--prometheus", required=True, metavar="URL")
    parser.add_argument("--out", type=Path, default=PICTURES, metavar="DIRECTORY")
    paths = {path.stem: path for path in sorted(DASHBOARDS.glob("*.json"))}
    parser.add_argument(
        "--board", action="append", choices=paths, help="only this one; repeatable (default: all)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_choice,
        metavar="NAME=VALUE",
        help="a value of a variable; repeatable (default: All)",
    )
    parser.add_argument(
        "--minutes", type=_positive, default=180, help="shown (default: %(default)g)"
    )
    parser.add_argument(
        "--interval",
        type=_positive,
        default=15,
        metavar="SECONDS",
        help="scrape interval, as set in the data source (default: %(default)g)",
    )
    parser.add_argument("--open", action="store_true", help="open the rows that are closed")
    options = parser.parse_args(arguments)
    choices: dict[str, list[str]] = {}
    for name, value in options.set:
        choices.setdefault(name, []).append(value)
    view = View(time.time(), options.minutes * 60, options.interval, choices, options.open)
    source = Prometheus(options.prometheus)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.board or paths:
        try:
            draw(load(paths[name]), source, view).save(options.out / f"{name}.png")
        except PreviewError as error:
            sys.stderr.write(f"error: {name}: {error}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
