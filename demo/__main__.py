"""Run the whole stack on loopback until Ctrl-C: ``python -m demo``.

Three memcached servers, of which one is too small and one has too many clients, traffic on them,
the exporter, Prometheus with the rules, and Alertmanager, whose notifications are printed.
Exit status 0 after Ctrl-C or SIGTERM, 2 when a part could not start, or one other than a memcached
has ended.
"""

import argparse
import sys
import threading

from bench.processes import HOST, CannotMeasureError
from demo.load import SHAPES
from demo.stack import DemoError, Ports, Stack, ports, wish_to_stop

_FIRST_PORT = 19150
_LOWEST_PORT = 1024
_HIGHEST_PORT = 65_500


def _tell(where: Ports, stack: Stack, *, at_once: bool) -> None:
    base = f"http://{HOST}:"
    lines = [
        f"Exporter:      {base}{where.exporter}/",
        f"Prometheus:    {base}{where.prometheus}/alerts",
        f"Alertmanager:  {base}{where.alertmanager}/",
    ]
    for shape, server in zip(SHAPES, stack.servers, strict=True):
        command = " ".join(("memcached", *shape.options))
        place = f"{HOST}:{server.port}, process {server.pid}"
        lines.append(f"{'memcached:':14} {place}, {shape.name}: {command}")
    if not at_once:
        lines.append("Alerts wait for minutes, as their rules say; --fast spares you the wait.")
    lines += ["Kill a memcached: within minutes the pager is told.", "Stop with Ctrl-C."]
    print("\n".join(lines), flush=True)


def _demo(first: int, interval: int, stopped: threading.Event, *, at_once: bool) -> None:
    where = ports(first)
    stack = Stack(where, interval, at_once=at_once)
    with stack.ended():
        for part in stack.start():
            print(f"{part.name} runs", flush=True)
            if stopped.is_set():
                return
        _tell(where, stack, at_once=at_once)
        while not stopped.wait(1):
            stack.check()
        print("Stopping", flush=True)


def _first_port(text: str) -> int:
    if text.isdecimal() and (text == "0" or _LOWEST_PORT <= int(text) <= _HIGHEST_PORT):
        return int(text)
    raise argparse.ArgumentTypeError(
        f"{text!r} is not from {_LOWEST_PORT} to {_HIGHEST_PORT}, nor 0 for any free ports"
    )


def _seconds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of seconds, 1 or more")
    return int(text)


def main() -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser("python -m demo", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--port",
        type=_first_port,
        default=_FIRST_PORT,
        metavar="N",
        help="first of seven ports on loopback, 0 for any free ones (default: %(default)s)",
    )
    parser.add_argument(
        "--interval",
        type=_seconds,
        default=5,
        metavar="SECONDS",
        help="from one scrape to the next, and between looks at the rules (default: %(default)s)",
    )
    parser.add_argument(
        "--fast", action="store_true", help="let alerts fire and be told of without their waits"
    )
    options = parser.parse_args()
    try:
        _demo(options.port, options.interval, wish_to_stop(), at_once=options.fast)
    except (DemoError, CannotMeasureError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
