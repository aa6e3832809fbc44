"""Cases of connections."""

from tests.health.findings.cases.shape import CRITICAL, INFO, WARM, WARNING, Case, labelled

CASES = (
    Case(
        "connections_high",
        WARNING,
        "801 of the 1,000 connections that it can take are open (80.1 %).",
        {"current_connections": 801.0, "max_connections": 1024.0, "reserved_fds": 24.0},
        {"current_connections": 800.0},
        remedy="-c 2048 (systemd: LimitNOFILE=2048",
    ),
    Case(
        "connections_high",
        CRITICAL,
        "951 of the 1,000 connections",
        {"current_connections": 951.0, "max_connections": 1024.0, "reserved_fds": 24.0},
        {"current_connections": 800.0},
    ),
    Case(
        "descriptors_high",
        WARNING,
        "820 of the 1,000 files and sockets that it may have are open (82 %).",
        {"process_open_fds": 820.0, "process_max_fds": 1000.0},
        {"process_open_fds": 800.0},
        remedy="LimitNOFILE=2000",
    ),
    Case(
        "connections_rejected",
        CRITICAL,
        "It refused 3 connections in the last 60 s.",
        {"connections_rejected_total": 3.0, "max_connections": 100.0},
        {"connections_rejected_total": 0.0},
        grown=("connections_rejected_total",),
        remedy="-c 200",
    ),
    Case(
        "connections_rejected_before",
        INFO,
        "It has refused 3 connections since its start, 2 h ago.",
        {"connections_rejected_total": 3.0, "max_connections": 100.0, **WARM},
        {"connections_rejected_total": 0.0},
        remedy="-c 200",
    ),
    Case(
        "listener_disabled",
        CRITICAL,
        "It accepts no connections now",
        {"accepting_connections": 0.0},
        {"accepting_connections": 1.0},
    ),
    Case(
        "listener_disabled",
        CRITICAL,
        "It stopped accepting connections 2 times in 60 s.",
        {"accepting_connections": 1.0, "connections_listener_disabled_total": 2.0},
        {"connections_listener_disabled_total": 0.0},
        grown=("connections_listener_disabled_total",),
    ),
    Case(
        "backlog_cut",
        INFO,
        "1,024 connections were to wait for being accepted (-b), the kernel lets 128 wait.",
        {
            "settings_tcp_backlog": 1024.0,
            "listen_queue_limit": {labelled(address="[::]:11211"): 128.0},
        },
        {"listen_queue_limit": {labelled(address="[::]:11211"): 1024.0}},
        remedy="sysctl -w net.core.somaxconn=1024",
    ),
)
