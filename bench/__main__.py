"""The command ``python -m bench``: exit status 0 when it could measure, whatever it found."""

import argparse
import os
import sys
from pathlib import Path

from bench.measurement import measure
from bench.processes import CannotMeasureError
from bench.report import data, figures, table


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        "python -m bench",
        description="Measures what a scrape costs. BENCH_PEER in the environment names an"
        " executable with the official exporter's flags to compare with.",
    )
    parser.add_argument("--rounds", type=_positive, default=20, metavar="N", help="(default 20)")
    parser.add_argument(
        "--scrapes", type=_positive, default=50, metavar="N", help="in a round (default 50)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results here")
    options = parser.parse_args()
    try:
        found = measure(options.rounds, options.scrapes, os.environ.get("BENCH_PEER", ""))
    except CannotMeasureError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    results = figures(found)
    print(table(found, results))
    if options.json:
        options.json.write_bytes(data(found, results))
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    sys.exit(main())
