"""Cases of how memcached was started."""

from tests.health.findings.cases.shape import COMMANDS, FULL, INFO, WARNING, Case, labelled

CASES = (
    Case(
        "udp_on",
        WARNING,
        "It answers by UDP, port 11211 on all interfaces.",
        {"settings_info": {labelled(udpport="11211"): 1.0}},
        {"settings_info": {labelled(udpport="11211", interface="127.0.0.1"): 1.0}},
        remedy="-U 0",
    ),
    Case(
        "open_to_all",
        INFO,
        "It listens on all interfaces, and nobody has had to log in.",
        {
            "settings_info": {labelled(tcpport="11211", interface="0.0.0.0"): 1.0},
            "auth_commands_total": 0.0,
        },
        {"auth_commands_total": 1.0},
        remedy="-l and the address",
    ),
    Case(
        "open_to_all",
        INFO,
        "It listens on all interfaces, and nobody has had to log in.",
        {"settings_info": {labelled(tcpport="11211"): 1.0}, "auth_commands_total": 0.0},
        {"settings_info": {labelled(tcpport="11211", interface="10.0.0.1"): 1.0}},
    ),
    Case(
        "open_to_all",
        INFO,
        "It listens on all interfaces, and nobody has had to log in.",
        {"settings_info": {labelled(tcpport="11211"): 1.0}, "auth_commands_total": 0.0},
        {"settings_ssl_enabled": 1.0},
    ),
    Case(
        "tail_repair_on",
        WARNING,
        "It takes back items that are in use for more than 300 s (-o tail_repair_time).",
        {"settings_tail_repair_time_seconds": 300.0},
        {"settings_tail_repair_time_seconds": 0.0},
    ),
    Case(
        "maxconns_slow",
        INFO,
        "At its connection limit it will let clients wait without a word.",
        {
            "settings_maxconns_fast_enabled": 0.0,
            "current_connections": 81.0,
            "max_connections": 100.0,
        },
        {"current_connections": 80.0},
    ),
    Case(
        "detail_on",
        INFO,
        "It counts commands by key prefix",
        {"settings_detail_enabled": 1.0},
        {"settings_detail_enabled": 0.0},
    ),
    Case(
        "shutdown_on",
        INFO,
        "Clients may stop it by the command `shutdown` (-A).",
        {"settings_shutdown_command_enabled": 1.0},
        {"settings_shutdown_command_enabled": 0.0},
    ),
    Case(
        "cas_unused",
        INFO,
        "Its 1,000,000 items are small (94.4 B on average), and nobody has used cas: 8.48 % of"
        " their memory is for that.",
        {
            "settings_cas_enabled": 1.0,
            "current_items": 1e6,
            COMMANDS: {labelled(command="cas", status="hit"): 0.0},
            **FULL,
        },
        {COMMANDS: {labelled(command="cas", status="hit"): 1.0}},
    ),
)
