"""Write the dashboards: ``python -m grafana.source``."""

import argparse
import json
import sys
from pathlib import Path

from exporter.configuration.build import build
from exporter.configuration.file import ConfigFile
from exporter.configuration.loading import load
from exporter.errors import ConfigurationError
from grafana.source.boards import BOARDS, board_json

DASHBOARDS = Path(__file__).parent.parent / "dashboards"


def main(arguments: list[str] | None = None) -> int:
    """Write all boards as JSON, with the thresholds and the runbooks of a configuration file."""
    parser = argparse.ArgumentParser(
        "python -m grafana.source", description=main.__doc__, allow_abbrev=False
    )
    parser.add_argument("--config.file", dest="config", metavar="FILE", type=Path)
    parser.add_argument("--output", metavar="DIRECTORY", type=Path, default=DASHBOARDS)
    flags = parser.parse_args(arguments)
    try:
        configuration = build(*load(flags.config)) if flags.config else build(ConfigFile(), str)
    except ConfigurationError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    flags.output.mkdir(parents=True, exist_ok=True)
    for board in BOARDS:
        made = board_json(board, configuration.thresholds, configuration.rules.runbooks)
        text = json.dumps(made, indent=2, ensure_ascii=False) + "\n"
        (flags.output / f"{board.uid}.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
