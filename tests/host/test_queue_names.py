"""Names of counters: what belongs to which queue, for the names of every driver."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.host.queue_names import queue_counters
from tests.host.queue_tables import Table, counted, dropped

PLAIN: dict[str, tuple[list[str], Table]] = {
    "virtio before 6.8": (
        ["virtio_net"],
        [
            ("rx_queue_0_packets", 11),
            ("rx_queue_0_bytes", 12),
            ("rx_queue_0_drops", 13),
            ("rx_queue_0_xdp_packets", 901),
            ("rx_queue_0_xdp_drops", 902),
            ("rx_queue_0_kicks", 903),
            ("tx_queue_11_packets", 14),
            ("tx_queue_11_bytes", 15),
            ("tx_queue_11_xdp_tx_drops", 904),
        ],
    ),
    "virtio since 6.8": (
        ["virtio_net"],
        [
            ("rx_drops", 905),
            ("rx_xdp_packets", 906),
            ("rx0_packets", 11),
            ("rx0_bytes", 12),
            ("rx0_drops", 13),
            ("rx0_xdp_packets", 907),
            ("tx11_packets", 14),
            ("tx11_bytes", 15),
            ("tx11_kicks", 908),
            ("tx11_tx_timeouts", 909),
        ],
    ),
    "underscores": (
        ["ixgbe", "ixgbevf", "igb", "igc", "ice", "hv_netvsc", "another_driver"],
        [
            ("rx_packets", 901),
            ("tx_priority_0_xon.nic", 902),
            ("cpu0_rx_packets", 903),
            ("vf_rx_packets", 904),
            ("tx_queue_11_packets", 14),
            ("tx_queue_11_bytes", 15),
            ("tx_queue_11_restart", 905),
            ("rx_queue_0_packets", 11),
            ("rx_queue_0_bytes", 12),
            ("rx_queue_0_drops", 13),
            ("rx_queue_0_csum_err", 906),
            ("rx_queue_0_xdp_drop", 907),
        ],
    ),
    "mlx": (
        ["mlx5_core", "mlx4_en", "mlx5_core [ib_ipoib]", "mlx5e_rep"],
        [
            ("rx_packets", 901),
            ("rx_64_bytes_phy", 902),
            ("rx_1024_to_1518_bytes_phy", 903),
            ("rx_prio0_packets", 904),
            ("rx_prio_0_packets", 905),
            ("ch0_events", 906),
            ("rx0_packets", 11),
            ("rx0_bytes", 12),
            ("rx0_dropped", 13),
            ("rx0_lro_packets", 907),
            ("rx0_xdp_drop", 908),
            ("rx_xsk0_packets", 909),
            ("ptp_rx0_packets", 910),
            ("tx11_packets", 14),
            ("tx11_bytes", 15),
            ("tx11_tso_packets", 911),
            ("qos_tx0_packets", 912),
        ],
    ),
}
"""Drivers, and counters of which those below 100 are the ones in EXPECTED."""
EXPECTED = {
    ("packets", "rx", "0"): 11,
    ("bytes", "rx", "0"): 12,
    ("drops", "rx", "0"): 13,
    ("packets", "tx", "11"): 14,
    ("bytes", "tx", "11"): 15,
}
CASES = [(driver, table) for drivers, table in PLAIN.values() for driver in drivers]


@pytest.mark.parametrize(("driver", "table"), CASES, ids=lambda value: str(value)[:20])
def test_queue_numbers_are_taken_out_of_names(driver: str, table: Table) -> None:
    """However a driver writes it, quantity, direction and queue come apart (F08)."""
    assert counted(driver, table) == EXPECTED


@pytest.mark.parametrize("driver", ["i40e", "iavf", "sfc", "another_driver"])
@pytest.mark.parametrize("repeated", ["", "{}_"])
def test_names_with_a_dot(driver: str, repeated: str) -> None:
    """i40e has a dot before the quantity, and in old releases the direction once more (F08)."""
    rx, tx = repeated.format("rx"), repeated.format("tx")
    table = [
        ("port.rx_packets", 901),
        ("veb.tc_0_rx_packets", 902),
        ("port.rx_size_64", 903),
        (f"rx-0.{rx}packets", 11),
        (f"rx-0.{rx}bytes", 12),
        (f"tx-11.{tx}packets", 14),
        (f"tx-11.{tx}bytes", 15),
    ]
    expected = {key: value for key, value in EXPECTED.items() if key[0] != "drops"}
    assert counted(driver, table) == expected


@pytest.mark.parametrize("driver", ["ena", "another_driver"])
def test_ena(driver: str) -> None:
    """The driver ena has the queue's number first, and queues for XDP behind the others (F08)."""
    table = [
        ("tx_timeout", 901),
        ("total_tx_cnt", 902),
        ("queue_0_tx_cnt", 1),
        ("queue_0_tx_bytes", 2),
        ("queue_0_tx_queue_stop", 903),
        ("queue_0_rx_cnt", 3),
        ("queue_0_rx_bytes", 4),
        ("queue_0_rx_rx_copybreak_pkt", 904),
        ("queue_0_rx_xdp_drop", 905),
        ("queue_1_xdp_tx_cnt", 906),
        ("ena_admin_q_submitted_cmd", 907),
    ]
    assert counted(driver, table) == {
        ("packets", "tx", "0"): 1,
        ("bytes", "tx", "0"): 2,
        ("packets", "rx", "0"): 3,
        ("bytes", "rx", "0"): 4,
    }


def test_bnxt() -> None:
    """The packets of a queue of bnxt are unicast, multicast and broadcast together (F08)."""
    table = [
        ("[0]: rx_ucast_packets", 1),
        ("[0]: rx_mcast_packets", 20),
        ("[0]: rx_bcast_packets", 300),
        ("[0]: rx_discards", 7),
        ("[0]: rx_errors", 901),
        ("[0]: rx_ucast_bytes", 2),
        ("[0]: rx_mcast_bytes", 30),
        ("[0]: rx_bcast_bytes", 400),
        ("[12]: tx_ucast_packets", 5),
        ("[12]: tx_discards", 9),
        ("[12]: tpa_packets", 902),
        ("[12]: rx_tpa_bytes", 903),
        ("[12]: missed_irqs", 904),
        ("rx_64b_frames", 905),
    ]
    assert counted("bnxt_en", table) == {
        ("packets", "rx", "0"): 321,
        ("drops", "rx", "0"): 7,
        ("bytes", "rx", "0"): 432,
        ("packets", "tx", "12"): 5,
        ("drops", "tx", "12"): 9,
    }


def test_gve() -> None:
    """The driver gve has the queue's number last, and no packets of a queue."""
    table = [
        ("rx_packets", 901),
        ("rx_posted_desc[0]", 902),
        ("rx_bytes[0]", 3),
        ("rx_dropped_pkt[0]", 4),
        ("rx_queue_drop_cnt[0]", 50),
        ("rx_copybreak_pkt[0]", 903),
        ("tx_bytes[15]", 6),
        ("tx_stop[15]", 904),
    ]
    assert counted("gve", table) == {
        ("bytes", "rx", "0"): 3,
        ("drops", "rx", "0"): 54,
        ("bytes", "tx", "15"): 6,
    }


def test_veth() -> None:
    """What a queue of veth received is called XDP's, with or without a program."""
    table = [
        ("peer_ifindex", 9),
        ("rx_queue_3_xdp_packets", 5),
        ("rx_queue_3_xdp_bytes", 6),
        ("rx_queue_3_drops", 7),
        ("rx_queue_3_xdp_drops", 901),
        ("tx_queue_3_xdp_xmit", 902),
    ]
    assert counted("veth", table) == {
        ("packets", "rx", "3"): 5,
        ("bytes", "rx", "3"): 6,
        ("drops", "rx", "3"): 7,
    }


@pytest.mark.parametrize(
    ("driver", "name"),
    [("mana", "rx_7_packets"), ("ionic", "rx_7_pkts"), ("idpf", "rx_q-7_pkts")],
)
def test_further_drivers(driver: str, name: str) -> None:
    """Drivers with a way of their own whose names mean something else with others (F08)."""
    assert counted(driver, [(name, 3)]) == {("packets", "rx", "7"): 3}


@pytest.mark.parametrize(
    "name",
    [
        "rx_64_bytes_phy",
        "rx_64_bytes",
        "rx_1024_to_1518_bytes",
        "rx_prio_0_packets",
        "Queue[0] AllocFails",
        " err",
        "",
        "rx_queue_0_",
        "rx_queue__packets",
        "rx_queue_\u0663_packets",
        "rx_queue_999999_packets",
        "rx0_packets.nic",
        "\ufffdrx0_packets",
        "rx_queue_0_packets{}",
        'a"b\\c\nd',
    ],
)
@pytest.mark.parametrize("driver", ["ixgbe", "mlx5_core", "virtio_net", "vmxnet3", "", "unknown"])
def test_odd_names_are_left_out(driver: str, name: str) -> None:
    """What only looks like a queue's counter, or is no name at all, is not exported (F04)."""
    assert counted(driver, [(name, 1)]) == {}
    assert dropped([(name, 1)]) == {}


def test_drops_keep_their_names_and_values() -> None:
    """A name with a dot is looked up as it is and keeps its value (F06)."""
    table = [
        ("port.rx_dropped", 12028),
        ("rx_packets", 901),
        ("rx_out_of_buffer", 1),
        ("conntrack_allowance_exceeded", 2),
        ("conntrack_allowance_available", 902),
        ("  rx_missed_errors", 3),
    ]
    assert dropped(table) == {
        "port.rx_dropped": 12028,
        "rx_out_of_buffer": 1,
        "conntrack_allowance_exceeded": 2,
        "rx_missed_errors": 3,
    }


def test_a_flood_of_names_stays_small() -> None:
    """Of 64 queues with ten counters each and 100 others, three per queue remain (F07)."""
    fields = ["packets", "bytes", "drops", *(f"extra_{n}" for n in range(7))]
    names = [
        f"{way}_queue_{n}_{field}" for way in ("rx", "tx") for n in range(64) for field in fields
    ]
    names += [f"rx_odd_{n}" for n in range(100)]
    assert len(queue_counters("igb", names)) == 2 * 64 * 3


@given(
    st.lists(
        st.tuples(st.sampled_from(["rx", "tx"]), st.integers(0, 300), st.integers(0, 2**64 - 1)),
        unique_by=lambda row: row[:2],
    ),
    st.lists(st.text(max_size=31)),
)
def test_every_exported_value_is_the_raw_one(
    rows: list[tuple[str, int, int]], odd: list[str]
) -> None:
    """Among any other names, each queue's counter keeps its own value (F06)."""
    table = [(f"{way}_queue_{queue}_packets", value) for way, queue, value in rows]
    found = counted("ixgbe", [*((name, 1) for name in odd), *table])
    for way, queue, value in rows:
        assert found["packets", way, str(queue)] == value
