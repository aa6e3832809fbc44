"""The reply to `stats conns`: one entry per connection, exported only in sums.

Client addresses are unbounded, so they appear only on request and only the most frequent ones.
"""

from exporter.catalogue.row import Omission, Section, gauge

CONNS = Section(
    name="conns",
    command="stats conns",
    rows=(
        gauge(
            "state",
            "memcached_open_connections",
            "Open connections by the address that they came in on, by what they are doing, and by"
            " how long their last command is ago; listening sockets are included.",
            since="1.4.18",
            dynamic=("listener", "state", "idle"),
            note="An idle client is in conn_read (up to 1.4 also conn_waiting), the exporter itself"
            " in conn_parse_cmd. Up to 1.5.16 the listener is not known and its label is empty.",
        ),
        gauge(
            "addr",
            "memcached_client_connections",
            "Open connections by the IP address of the client, of those with the most connections;"
            " all others are in `other`.",
            since="1.4.18",
            dynamic=("client",),
            note="Only with `top_clients` in the module.",
        ),
        gauge(
            "resps_waiting",
            "memcached_responses_waiting",
            "Responses that are waiting to be sent, over all connections.",
            since="1.6.35",
        ),
        gauge(
            "queues_waiting",
            "memcached_io_queues_waiting",
            "Queues of reads from storage or proxy backends that connections wait for, in sum.",
            since="1.6.27",
            until="1.6.34",
        ),
    ),
    omissions=(
        Omission("listen_addr", "Becomes the label listener of memcached_open_connections."),
        Omission("secs_since_last_cmd", "Becomes the label idle of memcached_open_connections."),
        Omission("UDP", "Says again what the address says."),
    ),
)
