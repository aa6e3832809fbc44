"""Numbers with their units, as Grafana writes them."""

import pytest

from grafana.preview.units import formatted
from tests.grafana.boards import boards, panels


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (0, "short", "0"),
        (83, "short", "83"),
        (1024, "short", "1.02 K"),
        (34_600, "short", "34.6 K"),
        (7_000_000, "short", "7 Mil"),
        (2.5e9, "short", "2.5 Bil"),
        (0.00357, "short", "0.00357"),
        (33_554_432, "none", "33554432"),
        (0.833, "percentunit", "83.3%"),
        (1, "percentunit", "100%"),
        (0.00296, "percentunit", "0.296%"),
        (0, "bytes", "0 B"),
        (512, "bytes", "512 B"),
        (1024, "bytes", "1 KiB"),
        (213_909_504, "bytes", "204 MiB"),
        (1_048_575, "bytes", "1024 KiB"),
        (2_413_000, "Bps", "2.41 MB/s"),
        (0.5, "Bps", "500 mB/s"),
        (0.333, "ops", "0.333 ops/s"),
        (12_500, "ops", "12.5K ops/s"),
        (1000, "cps", "1K c/s"),
        (3, "reqps", "3 req/s"),
        (0, "s", "0 s"),
        (0.000_000_5, "s", "500 ns"),
        (0.000_448, "s", "448 µs"),
        (0.094, "s", "94 ms"),
        (59, "s", "59 s"),
        (561, "s", "9.35 min"),
        (7200, "s", "2 hour"),
        (90_000, "s", "1.04 day"),
        (1_209_600, "s", "2 week"),
        (63_113_800, "s", "2 year"),
        (0, "d", "0 day"),
        (6.5, "d", "6.5 day"),
        (28, "d", "4 week"),
        (730, "d", "2 year"),
        (1, "bool", "True"),
        (0, "bool", "False"),
    ],
)
def test_formatted(number: float, unit: str, text: str) -> None:
    """Three digits that matter, none behind them, in the unit in which they are read best."""
    assert formatted(number, unit) == text


@pytest.mark.parametrize(
    ("number", "unit", "decimals", "text"),
    [
        (0.9, "percentunit", 1, "90.0%"),
        (0.7585, "percentunit", 1, "75.8%"),
        (0.000_510_25, "s", 1, "510.2 µs"),
        (558, "s", 1, "9.3 min"),
    ],
)
def test_decimals(number: float, unit: str, decimals: int, text: str) -> None:
    """A panel that says how many digits has as many, noughts too."""
    assert formatted(number, unit, decimals) == text


def test_all_units_of_the_boards_are_known() -> None:
    """No unit of a board is left to guesses, and an unknown one is an error."""
    used = set()
    for board in boards().values():
        for panel in panels(board):
            config = panel["fieldConfig"]
            used.add(config["defaults"]["unit"])
            properties = [one for over in config["overrides"] for one in over["properties"]]
            used |= {one["value"] for one in properties if one["id"] == "unit"}
    assert len(used) >= 10
    for unit in used:
        assert formatted(1, unit)
    with pytest.raises(KeyError):
        formatted(1, "pps")
