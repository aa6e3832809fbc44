"""A run is worse than another by the terms of the alerts, and only then."""

import pytest

from exporter.errors import ConfigurationError
from exporter.health.thresholds import HitRate, Latency, Thresholds
from exporter.watch.comparison import changes, partners
from exporter.watch.report import comparison
from exporter.watch.statistics import Accounts, Run
from tests.watch.made_up import ADDRESS, row

BEFORE = {
    "commands_per_second": 1000.0,
    "gets_per_second": 800.0,
    "hit_ratio": 0.9,
    "ping_p50_seconds": 0.001,
    "ping_p99_seconds": 0.004,
    "evictions_per_second": 10.0,
    "touches_per_second": 0.0,
}


def run_of(server: str = ADDRESS, /, **changed: float | None) -> Run:
    """Return a run with the figures of ``BEFORE``, some changed or left out."""
    told = {name: value for name, value in (BEFORE | changed).items() if value is not None}
    return Accounts([row(server=server, told=told)]).runs()[server]


def worse(before: Run, now: Run, thresholds: Thresholds | None = None) -> list[str]:
    """Return the figures that are worse."""
    return [one.name for one in changes(before, now, thresholds or Thresholds()) if one.worse]


def test_the_same_run_is_not_worse() -> None:
    """And all of its figures are compared."""
    found = changes(run_of(), run_of(), Thresholds())
    assert {one.name for one in found} == set(BEFORE)
    assert {one.name: one.ratio for one in found if one.ratio != 1.0} == {
        "touches_per_second": None
    }
    assert not any(one.worse for one in found)


@pytest.mark.parametrize(
    ("figure", "allowed", "too_much"),
    [
        ("commands_per_second", 801.0, 799.0),
        ("hit_ratio", 0.721, 0.719),
        ("ping_p50_seconds", 0.00119, 0.00121),
        ("ping_p99_seconds", 0.00479, 0.00481),
    ],
)
def test_a_fifth_is_the_limit(figure: str, allowed: float, too_much: float) -> None:
    """For a fall of throughput and hit rate, and a rise of latency."""
    assert worse(run_of(), run_of(**{figure: allowed})) == []
    assert worse(run_of(), run_of(**{figure: too_much})) == [figure]


@pytest.mark.parametrize(
    "better",
    [
        {"commands_per_second": 5000.0},
        {"hit_ratio": 1.0},
        {"ping_p50_seconds": 0.0001},
        {"ping_p99_seconds": 0.0001},
    ],
)
def test_better_is_not_worse(better: dict[str, float]) -> None:
    """However much it differs."""
    assert worse(run_of(), run_of(**better)) == []


def test_other_figures_decide_nothing() -> None:
    """Their change is shown all the same."""
    now = run_of(evictions_per_second=500.0)
    assert worse(run_of(), now) == []
    (shown,) = (c for c in changes(run_of(), now, Thresholds()) if c.name == "evictions_per_second")
    assert (shown.before, shown.now, shown.ratio) == (10.0, 500.0, 50.0)


def test_the_limit_comes_from_the_configuration() -> None:
    """It is the threshold of the alerts."""
    now = run_of(commands_per_second=850.0)
    assert worse(run_of(), now) == []
    assert worse(run_of(), now, Thresholds(decline=0.1)) == ["commands_per_second"]


def test_small_figures_say_nothing() -> None:
    """The floors are those of the alerts as well."""
    idle = run_of(commands_per_second=9.0)
    assert worse(idle, run_of(commands_per_second=1.0)) == []
    busy = Thresholds(decline_floor=8)
    assert worse(idle, run_of(commands_per_second=1.0), busy) == ["commands_per_second"]

    fast = run_of(ping_p50_seconds=0.0001, ping_p99_seconds=0.0001)
    slower = run_of(ping_p50_seconds=0.0004, ping_p99_seconds=0.0004)
    assert worse(fast, slower) == []
    assert worse(fast, run_of()) == ["ping_p50_seconds", "ping_p99_seconds"]
    keen = Thresholds(latency=Latency(floor=0.0003))
    assert worse(fast, slower, keen) == ["ping_p50_seconds", "ping_p99_seconds"]

    now = run_of(hit_ratio=0.1, gets_per_second=0.9)
    assert worse(run_of(), now) == []
    assert worse(run_of(), now, Thresholds(hit_rate=HitRate(floor=0.5))) == ["hit_ratio"]
    assert worse(run_of(gets_per_second=0.9), run_of(hit_ratio=0.1)) == []


def test_throughput_that_stopped_is_worse() -> None:
    """A ratio of 0 is a ratio."""
    now = run_of(commands_per_second=0.0, gets_per_second=0.0, hit_ratio=None)
    assert worse(run_of(), now) == ["commands_per_second"]


def test_servers_are_compared_with_themselves() -> None:
    """By their address; those that are new are not compared."""
    baseline = {"a": run_of("a"), "b": run_of("b")}
    assert partners(baseline, ["b", "c"]) == {"b": baseline["b"]}
    assert partners(baseline, ["a"]) == {"a": baseline["a"]}


def test_one_server_is_compared_with_one() -> None:
    """Whatever it was called: it may have moved."""
    baseline = {"a": run_of("a")}
    assert partners(baseline, ["z"]) == {"z": baseline["a"]}


def test_a_baseline_of_others_is_refused() -> None:
    """Nothing could be compared, which is told before anything is watched."""
    with pytest.raises(ConfigurationError) as refused:
        partners({"a": run_of("a"), "b": run_of("b")}, ["c"])
    assert str(refused.value) == (
        "--baseline: has none of the servers that are watched, but a, b: watch one of these, or"
        " compare a file of one server with one server"
    )


def test_a_comparison_says_what_is_worse() -> None:
    """Each figure has a line, and the last line has the verdict."""
    lines, is_worse = comparison(
        {ADDRESS: run_of("old")},
        {ADDRESS: run_of(commands_per_second=700.0, ping_p99_seconds=0.008, hit_ratio=None)},
        Thresholds(),
    )
    assert is_worse
    assert (
        "\n".join(lines)
        == """
10.0.0.1:11211 against old in the baseline:
  mean                                        before             now          change
  commands_per_second                          1,000             700         -30.0 %  worse
  gets_per_second                                800             800          +0.0 %
  touches_per_second                               0               0
  hit_ratio                                 0.900000               -
  evictions_per_second                         10.00           10.00          +0.0 %
  ping_p50_seconds                          0.001000        0.001000          +0.0 %
  ping_p99_seconds                          0.004000        0.008000        +100.0 %  worse

worse than the baseline: 10.0.0.1:11211: commands_per_second -30.0 %, ping_p99_seconds +100.0 %"""
    )


def test_a_comparison_says_that_all_is_well() -> None:
    """With the limit that holds; a server that is new is named."""
    lines, is_worse = comparison(
        {ADDRESS: run_of()}, {ADDRESS: run_of(), "new": run_of("new")}, Thresholds(decline=0.25)
    )
    assert not is_worse
    assert lines[-3:] == [
        "new: is not in the baseline",
        "",
        "not worse than the baseline: no decline of more than 25 % that counts",
    ]


def test_what_could_not_be_measured_is_worse() -> None:
    """A server that never answered is no success."""
    silent = Accounts([row(up=False, ping_failures=9.0)]).runs()
    lines, is_worse = comparison({ADDRESS: run_of()}, silent, Thresholds())
    assert is_worse
    assert lines[2:] == [
        "  nothing was measured now",
        "",
        "worse than the baseline: 10.0.0.1:11211: nothing was measured",
    ]


@pytest.mark.parametrize(
    ("before", "now", "is_worse"),
    [
        ((0, 5), (0, 3), False),
        ((0, 5), (1, 100), True),
        ((1, 2), (2, 4), False),
        ((1, 4), (2, 4), True),
    ],
)
def test_a_server_that_was_down_is_worse(
    before: tuple[int, int], now: tuple[int, int], is_worse: bool
) -> None:
    """By its share of all intervals, though the rates beside the gap are as before."""

    def runs(down: int, intervals: int) -> dict[str, Run]:
        rows = [row(up=False)] * down + [row(told=BEFORE)] * (intervals - down)
        return Accounts(rows).runs()

    lines, found = comparison(runs(*before), runs(*now), Thresholds())
    assert found is is_worse
    told = f"down in {now[0]} of {now[1]} intervals"
    if is_worse:
        assert lines[-3] == f"  {told}, before in {before[0]} of {before[1]}  worse"
        assert lines[-1] == f"worse than the baseline: {ADDRESS}: {told}"
    else:
        assert told not in "\n".join(lines)


def test_a_baseline_without_measurements_cannot_be_compared() -> None:
    """It is said, and is not the fault of this run."""
    silent = Accounts([row(up=False, ping_failures=9.0)]).runs()
    lines, is_worse = comparison(silent, {ADDRESS: run_of()}, Thresholds())
    assert not is_worse
    assert lines[2] == "  nothing was measured then"
