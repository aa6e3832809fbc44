"""Connections that wait for memcached to accept them."""

from exporter.catalogue.host.dropped import process_series_dropped
from exporter.catalogue.row import Section, gauge

LISTEN_QUEUE = Section(
    name="listen_queue",
    command="inet_diag, or /proc/PID/net/tcp and tcp6",
    rows=(
        gauge(
            "length",
            "memcached_listen_queue_length",
            "Connections that wait for memcached to accept them.",
            dynamic=("address",),
            note="A full queue has one more than the limit; what comes then is counted in"
            " `memcached_host_tcp_listen_overflows_total`. Sockets are taken for memcached's when"
            " they listen where its arguments say.",
        ),
        gauge(
            "limit",
            "memcached_listen_queue_limit",
            "Connections that may wait for memcached to accept them.",
            dynamic=("address",),
            note="The lesser of memcached's `-b` and net.core.somaxconn; 0 while memcached has"
            " its maximum of connections. Absent when memcached is in another network namespace"
            " than the exporter.",
        ),
        process_series_dropped("listen_queue", "64 addresses have series of their own."),
    ),
)
