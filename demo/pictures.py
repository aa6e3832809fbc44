"""Draw the dashboards with what the demo shows: ``python -m demo.pictures``.

The demo runs for some minutes on free ports; then each board is drawn into docs/pictures.
Exit status 2 when a part could not start or has ended, 1 when it was stopped before.
"""

import argparse
import sys
import time
from pathlib import Path

from bench.processes import HOST, CannotMeasureError
from demo.load import SHAPES, TOO_SMALL
from demo.stack import DemoError, Ports, Stack, ports, wish_to_stop
from grafana.preview.board import DASHBOARDS, PICTURES, View, draw, load
from grafana.preview.prometheus import PreviewError, Prometheus

_INTERVAL = 5
"""Seconds from scrape to scrape."""
_WARM_UP = 20
"""Seconds in which graphs have no rates yet."""
_OF_ONE_SERVER = "memcached-slabs"
"""The board that one looks at for one server at a time."""


def _draw(where: Ports, seconds: float, directory: Path) -> None:
    source = Prometheus(f"http://{HOST}:{where.prometheus}")
    small = f"{HOST}:{where.servers[SHAPES.index(TOO_SMALL)]}"
    directory.mkdir(parents=True, exist_ok=True)
    now = time.time()
    for path in sorted(DASHBOARDS.glob("*.json")):
        choices = {"server": [small]} if path.stem == _OF_ONE_SERVER else {}
        view = View(now, seconds, _INTERVAL, choices)
        draw(load(path), source, view).save(directory / f"{path.stem}.png")


def _run(minutes: float, directory: Path) -> bool:
    stopped = wish_to_stop()
    where = ports(0)
    stack = Stack(where, _INTERVAL, at_once=True)
    with stack.ended():
        for part in stack.start():
            print(f"{part.name} runs", flush=True)
            if stopped.is_set():
                return False
        end = time.monotonic() + _WARM_UP + minutes * 60
        while time.monotonic() < end:
            if stopped.wait(1):
                return False
            stack.check()
        _draw(where, minutes * 60, directory)
    return True


def main() -> int:
    """Run the demo, and draw."""
    parser = argparse.ArgumentParser(
        "python -m demo.pictures", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--minutes", type=float, default=8, help="shown (default: %(default)g)")
    parser.add_argument("--out", type=Path, default=PICTURES, metavar="DIRECTORY")
    options = parser.parse_args()
    if options.minutes <= 0:
        parser.error("--minutes: write a number above 0")
    try:
        return 0 if _run(options.minutes, options.out) else 1
    except (DemoError, CannotMeasureError, PreviewError) as error:
        print(f"pictures: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
