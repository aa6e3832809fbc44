"""Advice that is often repeated, and wrong, is given to nobody."""

import re

import pytest

from exporter.health.findings.all_checks import CHECKS
from exporter.health.findings.shape import Finding, findings
from exporter.health.findings.view import View
from exporter.health.snapshot import Labels
from exporter.health.thresholds import Thresholds
from tests.health.findings.cases.all_cases import CASES
from tests.health.findings.cases.shape import Series, view_of
from tests.health.made_up import snapshot

ALL = [finding for case in CASES for finding in findings(CHECKS, view_of(case))]
ETH0: tuple[tuple[str, str], ...] = (("device", "eth0"),)
COMBINED: Labels = (*ETH0, ("kind", "combined"))
RX: Labels = (*ETH0, ("direction", "rx"))


def host_of(**families: Series) -> tuple[Finding, ...]:
    """Return what is found about an idle server on a host; all counters have grown from 0."""
    before = {name: 0.0 for name in families if name.endswith("_total")}
    return findings(
        CHECKS,
        View(
            thresholds=Thresholds(),
            now=snapshot(160.0, start_time_seconds=1.0, threads=4.0),
            before=snapshot(100.0, start_time_seconds=1.0),
            host=snapshot(160.0, **families),
            host_before=snapshot(100.0, **before),
        ),
    )


def sysctl(name: str, value: float) -> dict[str, Series]:
    """Return one setting of the kernel."""
    return {"host_sysctl": {(("name", name),): value}}


@pytest.mark.parametrize(
    "advice",
    [
        r"tcp_tw_recycle ?= ?1",
        r"tcp_tw_reuse",
        r"tcp_fin_timeout",
        r"swappiness ?= ?0",
        r"overcommit_memory ?= ?1",
        r"rmem_max|wmem_max",
        r"echo never",
        r"-R 20\b",
        r"memcached with -L",
        r"file-max ?= ?0",
    ],
)
def test_words_that_never_come(advice: str) -> None:
    """No finding of any case tells to do it."""
    assert len(ALL) >= len(CASES)
    assert not [finding for finding in ALL if re.search(advice, finding.remedy)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("net.ipv4.tcp_tw_reuse", 0.0),
        ("net.ipv4.tcp_fin_timeout", 60.0),
        ("vm.swappiness", 60.0),
        ("vm.overcommit_memory", 0.0),
        ("net.core.rmem_max", 212_992.0),
        ("net.core.somaxconn", 128.0),
        ("net.core.netdev_max_backlog", 1000.0),
    ],
)
def test_a_kernels_defaults_are_no_fault(name: str, value: float) -> None:
    """A setting alone harms nobody: it is spoken of when something is lost."""
    assert host_of(**sysctl(name, value)) == ()


def test_short_rings_without_drops() -> None:
    """A longer ring costs latency: it is for packets that are lost."""
    rings: dict[str, Series] = {
        "nic_ring_entries": {RX: 256.0},
        "nic_ring_entries_max": {RX: 4096.0},
    }
    assert host_of(**rings) == ()
    lost: dict[str, Series] = {"nic_drops_total": {(*ETH0, ("reason", "x")): 5.0}}
    longest: dict[str, Series] = {"nic_ring_entries": {RX: 4096.0}}
    assert host_of(**{**rings, **lost, **longest}) == ()


@pytest.mark.parametrize(
    "reason", ["bw_in_allowance_exceeded", "pps_allowance_exceeded", "tx_timeout_count", "tx_drops"]
)
def test_short_rings_with_drops_of_another_kind(reason: str) -> None:
    """A longer ring helps neither against a cloud's limits nor against what is lost on sending."""
    rings: dict[str, Series] = {
        "nic_ring_entries": {RX: 256.0},
        "nic_ring_entries_max": {RX: 4096.0},
        "nic_drops_total": {(*ETH0, ("reason", reason)): 500.0},
        "nic_queue_drops_total": {(*ETH0, ("direction", "tx"), ("queue", "0")): 500.0},
    }
    assert host_of(**rings) == ()


def test_a_card_with_one_queue() -> None:
    """It cannot have more, and is no fault as long as its CPU has little to do."""
    one: dict[str, Series] = {
        "nic_channels": {COMBINED: 1.0},
        "nic_channels_max": {COMBINED: 1.0},
        "nic_rps_queues": {ETH0: 0.0},
        "nic_cpu_interrupts_total": {(*ETH0, ("cpu", "0")): 50_000.0},
        "host_cpus": {(("state", "online"),): 4.0},
    }
    assert host_of(**one) == ()


def test_fewer_queues_than_possible_on_a_quiet_card() -> None:
    """Queues are for cards that keep a CPU busy."""
    few: dict[str, Series] = {
        "nic_channels": {COMBINED: 2.0},
        "nic_channels_max": {COMBINED: 8.0},
        "nic_cpu_interrupts_total": {(*ETH0, ("cpu", "0")): 100.0},
        "host_cpus": {(("state", "online"),): 4.0},
    }
    assert host_of(**few) == ()


def test_context_switches_alone() -> None:
    """A busy host changes between tasks some ten thousand times a second, and is well."""
    assert host_of(host_context_switches_total=60 * 71_000.0) == ()


def test_drops_of_a_card_are_not_the_backlogs() -> None:
    """What a network card drops has nothing to do with net.core.netdev_max_backlog."""
    lost: dict[str, Series] = {
        "nic_drops_total": {(*ETH0, ("reason", "rx_missed_errors")): 5.0},
        "nic_ring_entries": {RX: 256.0},
        "nic_ring_entries_max": {RX: 1024.0},
    }
    (finding,) = host_of(**lost)
    assert finding.name == "nic_drops"
    assert "backlog" not in finding.remedy


def test_the_advice_of_huge_pages_is_not_never() -> None:
    """Never would switch off -L, which asks for them."""
    mode: dict[str, Series] = {
        "host_transparent_hugepage_mode": {(("setting", "enabled"), ("mode", "never")): 1.0}
    }
    assert host_of(**mode) == ()
    (check,) = (check for check in CHECKS if check.name == "huge_pages_always")
    assert check.remedy.startswith("echo madvise")


def test_more_threads_are_for_cpus_to_spare() -> None:
    """No finding tells to have more threads than CPUs."""
    for finding in ALL:
        if "more worker threads" in finding.remedy:
            assert "if there are CPUs to spare" in finding.remedy


def test_cas_is_not_switched_off_blindly() -> None:
    """The one finding about it names what stops working, and is for information."""
    (finding,) = {finding.name: finding for finding in ALL if "-C" in finding.remedy}.values()
    assert finding.severity == "info"
    assert "they stop working" in finding.remedy
    assert finding.leave.startswith("In general.")
