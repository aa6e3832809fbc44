"""Names of series, and tables of the answers to several queries."""

import pytest

from grafana.preview.frames import column_config, legend, organized, table
from grafana.preview.prometheus import Series


def series(value: float, **labels: str) -> Series:
    """Return a series of one number."""
    return Series(labels, [(0.0, value)])


@pytest.mark.parametrize(
    ("pattern", "labels", "name"),
    [
        ("{{server}} {{instance}}", {"server": "a:1", "instance": "e:2"}, "a:1 e:2"),
        ("{{server}} {{instance}} sent", {"instance": "a:1"}, "a:1 sent"),
        ("{{ server }} class {{slab}}", {"server": "a:1", "slab": "7"}, "a:1 class 7"),
        ("limit", {"server": "a:1"}, "limit"),
        ("__auto", {"__name__": "up", "job": "j", "a": "b"}, 'up{a="b", job="j"}'),
        ("__auto", {}, "Value"),
    ],
)
def test_legend(pattern: str, labels: dict[str, str], name: str) -> None:
    """Labels stand in the pattern; one that is absent leaves no hole."""
    assert legend(series(1, **labels), pattern) == name


def test_rows_of_several_queries_become_one() -> None:
    """What has the same labels is one row, whichever queries answered for it."""
    rows = table(
        {
            "A": [series(1, server="a", job="j"), series(0, server="b", job="j")],
            "B": [series(0.5, server="a", job="j", version="1.6")],
            "C": [series(7, server="b", job="j")],
        }
    )
    assert rows == [
        {"server": "a", "job": "j", "Value #A": 1, "Value #B": 0.5, "version": "1.6"},
        {"server": "b", "job": "j", "Value #A": 0, "Value #C": 7},
    ]


def test_a_table_without_answers() -> None:
    """No rows; a column whose query has no answer does not make one."""
    assert table({"A": [], "B": []}) == []
    assert table({"A": [series(3, server="a")]}) == [{"server": "a", "Value": 3}]


def test_organized() -> None:
    """Columns are put in order, renamed and hidden."""
    rows = table({"A": [series(1, server="a", extra="x")], "B": [series(2, server="a")]})
    titles, made = organized(
        rows,
        {
            "excludeByName": {"Time": True, "Value #B": True},
            "indexByName": {"Value #A": 0, "server": 1, "Value #B": 2},
            "renameByName": {"server": "Server", "Value #A": "Answers", "Value #B": ""},
        },
    )
    assert titles == ["Answers", "Server", "extra"]
    assert made == [{"Answers": 1, "Server": "a", "extra": "x"}]


def test_column_config() -> None:
    """A column has what is set for it, and otherwise what the panel says."""
    panel = {
        "fieldConfig": {
            "defaults": {"unit": "short", "custom": {"minWidth": 60, "align": "auto"}},
            "overrides": [
                {
                    "matcher": {"id": "byName", "options": "Hits"},
                    "properties": [
                        {"id": "unit", "value": "ops"},
                        {"id": "custom.minWidth", "value": 99},
                    ],
                }
            ],
        }
    }
    assert column_config(panel, "Hits") == {
        "unit": "ops",
        "custom": {"minWidth": 99, "align": "auto"},
    }
    assert column_config(panel, "Sets") == panel["fieldConfig"]["defaults"]
