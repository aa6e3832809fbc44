"""TCP in the network namespace of a memcached process."""

from exporter.catalogue.row import Section, counter, gauge

_SOCKETS = "TCP sockets of the network namespace that the server is in."

TCP = Section(
    name="tcp",
    command="/proc/PID/net/netstat, snmp, sockstat and sockstat6",
    rows=(
        counter(
            "ListenOverflows",
            "memcached_host_tcp_listen_overflows_total",
            "Attempts to connect, repeated ones included, that the server's network namespace"
            " turned away because the accept queue of a listening socket was full.",
            note="Of all listening sockets of that namespace: `memcached_listen_queue_length`"
            " shows whether it is memcached's.",
        ),
        counter(
            "ListenDrops",
            "memcached_host_tcp_listen_drops_total",
            "Attempts to connect that listening sockets of the server's network namespace turned"
            " away for any reason, a full accept queue included.",
        ),
        counter(
            "TCPTimeWaitOverflow",
            "memcached_host_tcp_timewait_overflows_total",
            "Connections that were closed without their time in TIME_WAIT because too many were in"
            " that state (net.ipv4.tcp_max_tw_buckets).",
        ),
        counter(
            "TCPReqQFullDrop",
            "memcached_host_tcp_reqq_full_drops_total",
            "Connection requests dropped because the SYN queue of a listening socket was full and"
            " SYN cookies were off.",
        ),
        counter(
            "TCPBacklogDrop",
            "memcached_host_tcp_backlog_drops_total",
            "TCP segments dropped because too many waited for a socket that was in use.",
        ),
        counter(
            "RetransSegs",
            "memcached_host_tcp_retransmits_total",
            "TCP segments that the server's network namespace sent again.",
        ),
        gauge(
            "TCP: inuse",
            "memcached_host_tcp_sockets",
            _SOCKETS,
            state="inuse",
            note="IPv4 only; `inuse6` is IPv6.",
        ),
        gauge("TCP6: inuse", "memcached_host_tcp_sockets", _SOCKETS, state="inuse6"),
        gauge(
            "TCP: tw",
            "memcached_host_tcp_sockets",
            _SOCKETS,
            state="timewait",
            note="Connections that this side closed first; IPv6 included.",
        ),
        gauge(
            "TCP: orphan",
            "memcached_host_tcp_sockets",
            _SOCKETS,
            state="orphan",
            note="The kernel counts them for the whole host.",
        ),
    ),
)
