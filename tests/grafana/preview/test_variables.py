"""What is put into queries: values of variables, and times as Grafana chooses them."""

import re

import pytest

from grafana.preview.prometheus import PreviewError
from grafana.preview.variables import Span, chosen, filled, span
from tests.grafana.boards import ALL, boards
from tests.grafana.boards import chosen as written

FLEET = boards()["memcached-fleet"]
TIMES = Span(0, 600, 15, 60)


@pytest.mark.parametrize(
    ("seconds", "points", "interval", "step", "rate_interval"),
    [
        (600, 500, 15, 15, 60),  # 1.2 s from point to point are too few
        (600, 500, 2, 2, 8),
        (10_800, 500, 15, 20, 60),  # 21.6 s are rounded down
        (10_800, 240, 15, 60, 75),  # 45 s are not below 45, and become a minute
        (604_800, 500, 15, 1200, 1215),
        (604_800, 60, 15, 7200, 7215),
        (60, 500, 0.5, 0.5, 2),
    ],
)
def test_times(
    seconds: float, points: int, interval: float, step: float, rate_interval: float
) -> None:
    """Steps are round and no finer than scrapes, and a rate sees four scrapes at least."""
    times = span(1_000_007.25, seconds, points, interval)
    assert (times.step, times.rate_interval) == (step, rate_interval)
    assert times.start % step == times.end % step == 0
    assert 1_000_007.25 - step < times.end <= 1_000_007.25
    assert seconds - step < times.end - times.start < seconds + step


def test_all() -> None:
    """Without a choice a variable is at All, which the board says how to write."""
    values = chosen(FLEET, {})
    assert {name: values[name] for name in ALL} == ALL
    assert values["runbooks"] == "alerts/runbooks"
    assert "datasource" not in values


@pytest.mark.parametrize(
    "picked", [["127.0.0.1:11211"], ["a.b", "c[1]"], ["back\\slash", "$(x)|y*z+?{1}'^"]]
)
def test_choices(picked: list[str]) -> None:
    """What is chosen matches itself and nothing else, with one value and with several."""
    value = chosen(FLEET, {"server": picked})["server"]
    assert value == written(*picked)
    # Prometheus takes the text out of its quotes, then it is a regular expression.
    pattern = value.replace("\\\\", "\\")
    assert all(re.fullmatch(pattern, one) for one in picked)
    assert not re.fullmatch(pattern, "127x0.0.1:11211")


def test_a_choice_of_no_variable_is_refused() -> None:
    """The message names what is wrong, and what there is."""
    with pytest.raises(PreviewError, match=r"cluster: no such variable; .*instance, job, server"):
        chosen(FLEET, {"cluster": ["a"], "server": ["b"]})


def test_filled() -> None:
    """Variables stand with and without braces, and times are durations of Prometheus."""
    text = "rate(x{job=~\"$job\", server=~'${server:regex}'}[$__rate_interval])"
    expr = filled(text, {"job": ".+", "server": "a"}, TIMES)
    assert expr == "rate(x{job=~\".+\", server=~'a'}[60s])"
    short = filled("[$__rate_interval]", {}, Span(0, 600, 0.5, 2.5))
    assert short == "[2500ms]"


def test_what_is_not_known_is_refused() -> None:
    """A variable that a board does not have is an error, not an empty text."""
    with pytest.raises(KeyError, match="cluster"):
        filled("x{cluster=~'$cluster'}", chosen(FLEET, {}), TIMES)
