"""The command ``python -m bench``: exit status 0 when it could measure, whatever it found."""

import argparse
import os
import sys
from pathlib import Path

from bench import host, report, scale, scale_report
from bench.measurement import measure
from bench.processes import CannotMeasureError


def main() -> int:
    """Measure and print."""
    options = _options()
    results: list[report.Figure] = []
    found: dict[str, object] = {}
    try:
        if options.only in {None, "scrape"}:
            one = measure(options.rounds, options.scrapes, os.environ.get("BENCH_PEER", ""))
            results += report.figures(one)
            found["measurement"] = one
            print(report.table(one, results), flush=True)
        if options.only in {None, "host"}:
            below = host.measure(options.rounds)
            of_host = host.figures(below)
            results += of_host
            found["host"] = below
            print(f"\n{host.table(below, of_host)}", flush=True)
        if options.only in {None, "scale"}:
            large = scale.measure(options.scale_servers, options.scale_rounds)
            of_scale = scale_report.figures(large)
            results += of_scale
            found["scale"] = large
            print(f"\n{scale_report.table(large, of_scale)}")
    except CannotMeasureError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_bytes(report.data(results, **found))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m bench",
        description="Measures what a scrape costs, and what a large fleet does. BENCH_PEER in the"
        " environment names an executable with the official exporter's flags to compare with.",
    )
    add = parser.add_argument
    add("--only", choices=["scrape", "host", "scale"], help="one server, the host, or a fleet")
    add("--rounds", type=_positive, default=20, metavar="N", help="with one server (default 20)")
    add("--scrapes", type=_positive, default=50, metavar="N", help="in a round (default 50)")
    add(
        "--scale-servers",
        type=_servers,
        default=scale.MOST,
        metavar="N",
        help=f"in the large fleet, {scale.FEWEST} to {scale.MOST} (default {scale.MOST})",
    )
    add("--scale-rounds", type=_positive, default=5, metavar="N", help="with it (default 5)")
    add("--json", type=Path, metavar="FILE", help="write all results here")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _servers(text: str) -> int:
    number = int(text)
    if not scale.FEWEST <= number <= scale.MOST:
        raise argparse.ArgumentTypeError(f"write {scale.FEWEST} to {scale.MOST}")
    return number


if __name__ == "__main__":
    sys.exit(main())
