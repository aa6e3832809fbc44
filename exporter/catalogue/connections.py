"""Rows of `stats` about clients: connections, logins, network bytes, TLS, NIC queues, buffers."""

from exporter.catalogue.row import Row, Scale, counter, gauge

MAX_CONNECTIONS = "memcached_max_connections"
MAX_CONNECTIONS_HELP = "Number of connections that the server is configured to hold at most."
MAX_CONNECTIONS_NOTE = (
    "Descriptors that the server itself uses take slots as well: clients are refused before the "
    "number of connections reaches this limit."
)

CONNECTIONS: tuple[Row, ...] = (
    # Connections
    gauge(
        "max_connections",
        MAX_CONNECTIONS,
        MAX_CONNECTIONS_HELP,
        since="1.5.1",
        absent=("-1",),
        note=MAX_CONNECTIONS_NOTE,
    ),
    gauge(
        "curr_connections",
        "memcached_current_connections",
        "Connections that are open now, counting all listening sockets but one as well.",
        since="1.2.0",
        note="The connection of the exporter is one of them; each UDP socket counts once per "
        "worker thread (UDP was on by default up to 1.5.5).",
    ),
    counter(
        "total_connections",
        "memcached_connections_total",
        "Connections that were opened, without those that were refused.",
        since="1.2.0",
        absent=("-1",),
    ),
    counter(
        "rejected_connections",
        "memcached_connections_rejected_total",
        "Connections that were refused because the connection limit was reached.",
        since="1.4.8",
        absent=("-1",),
        note="1.5.21 and 1.5.22 count every accepted connection here by mistake. Sent only with "
        "maxconns_fast, which is on by default since 1.5.0.",
    ),
    gauge(
        "connection_structures",
        "memcached_connection_structures",
        "Connection structures that the server has allocated and keeps for reuse.",
        since="1.2.0",
        note="Only grows: it is the peak of simultaneous connections, not their present number.",
    ),
    gauge(
        "reserved_fds",
        "memcached_reserved_fds",
        "File descriptors that the server sets aside for its own use.",
        since="1.4.8",
        note="Five per worker thread; no client can use these slots of the connection limit.",
    ),
    gauge(
        "accepting_conns",
        "memcached_accepting_connections",
        "1 while the server accepts new connections, 0 while it has stopped doing so.",
        since="1.2.7",
        scale=Scale.BOOLEAN,
        note="Stays 1 at the connection limit with maxconns_fast, the default since 1.5.0: watch "
        "memcached_connections_rejected_total there.",
    ),
    counter(
        "listen_disabled_num",
        "memcached_connections_listener_disabled_total",
        "Times that the server stopped accepting connections because it was at its limit.",
        since="1.2.7",
        note="Stays 0 at the connection limit with maxconns_fast, the default since 1.5.0: watch "
        "memcached_connections_rejected_total there.",
    ),
    counter(
        "time_in_listen_disabled_us",
        "memcached_connections_listener_disabled_seconds_total",
        "Seconds during which the server did not accept connections because it was at its limit.",
        since="1.4.25",
        scale=Scale.MICROSECONDS,
        within_uptime=True,
        note="Grows only when accepting resumes. After a `stats reset` during such a stop the "
        "server sends the seconds since 1970; a value above the uptime is dropped.",
    ),
    counter(
        "conn_yields",
        "memcached_connections_yielded_total",
        "Times that a connection with many requests in a row had to let other ones go first.",
        since="1.4.0",
    ),
    counter(
        "idle_kicks",
        "memcached_idle_kicks_total",
        "Connections that the server closed because they were idle for too long.",
        since="1.4.27",
        note="Sent only when idle_timeout is set; the exporter's own connection can be among them.",
    ),
    gauge(
        "threads",
        "memcached_threads",
        "Worker threads that serve the connections.",
        since="1.2.2",
        note="1.2.x counts its dispatcher thread as well.",
    ),
    # Logins
    counter(
        "auth_cmds",
        "memcached_auth_commands_total",
        "Attempts of clients to log in.",
        since="1.4.4",
        note="Each new connection of the exporter adds one when the server asks for a login.",
    ),
    counter(
        "auth_errors",
        "memcached_auth_errors_total",
        "Attempts of clients to log in that failed.",
        since="1.4.4",
        note="Counts wrong passwords only: commands without a login and malformed logins are not "
        "counted.",
    ),
    # Network bytes
    counter(
        "bytes_read",
        "memcached_read_bytes_total",
        "Bytes that the server received from the network.",
        since="1.2.0",
    ),
    counter(
        "bytes_written",
        "memcached_written_bytes_total",
        "Bytes that the server sent to the network.",
        since="1.2.0",
        note="Includes the answers to the exporter, 15 to 75 KB per full scrape.",
    ),
    # TLS, sent only by a server that was started with it
    counter(
        "ssl_handshake_errors",
        "memcached_ssl_handshake_errors_total",
        "TLS handshakes with clients that failed.",
        since="1.6.1",
        note="Plain-text clients on a TLS port count here.",
    ),
    counter(
        "ssl_proto_errors",
        "memcached_ssl_protocol_errors_total",
        "TLS protocol errors on connections whose handshake had succeeded.",
        since="1.6.30",
    ),
    counter(
        "ssl_new_sessions",
        "memcached_ssl_new_sessions_total",
        "TLS sessions that were negotiated anew and not resumed from the session cache.",
        since="1.6.3",
        note="Sent only when ssl_session_cache is on.",
    ),
    gauge(
        "time_since_server_cert_refresh",
        "memcached_ssl_server_cert_refresh_age_seconds",
        "Seconds since the server last loaded its TLS certificate from disk.",
        since="1.5.13",
        note="Tells nothing about when the certificate expires.",
    ),
    # Choice of the worker thread by NIC queue: the counters move only with -N
    counter(
        "unexpected_napi_ids",
        "memcached_unexpected_napi_ids_total",
        "Connections from a NIC queue unknown so far, upon which all queues are bound anew.",
        since="1.6.9",
        note="Moves only on a server that was started with -N.",
    ),
    counter(
        "round_robin_fallback",
        "memcached_round_robin_fallback_total",
        "Connections given to the next worker thread in turn because their NIC queue was unknown.",
        since="1.6.9",
        note="Moves only on a server that was started with -N.",
    ),
    # Buffers of connections, which are not part of the item memory
    gauge(
        "response_obj_count",
        "memcached_response_objects",
        "Response objects in use, one per answer that is being put together or sent.",
        since="1.6.7",
        note="Falls below zero after a `stats reset`; such a value is dropped.",
    ),
    gauge(
        "response_obj_bytes",
        "memcached_response_object_bytes",
        "Bytes of memory that hold response objects.",
        since="1.6.0",
        note="Since 1.6.7 a part of memcached_read_buffer_bytes. Falls below zero after a "
        "`stats reset`; such a value is dropped.",
    ),
    gauge(
        "response_obj_total",
        "memcached_response_objects_allocated",
        "Response objects that are allocated, in use or free.",
        since="1.6.0",
        until="1.6.6",
    ),
    gauge(
        "response_obj_free",
        "memcached_response_objects_free",
        "Response objects that are allocated and free for use.",
        since="1.6.0",
        until="1.6.6",
    ),
    counter(
        "response_obj_oom",
        "memcached_response_object_oom_total",
        "Connections that were closed because no memory was left for a response object.",
        since="1.6.0",
    ),
    gauge(
        "read_buf_count",
        "memcached_read_buffers",
        "Read buffers of 16 KiB that are allocated for connections.",
        since="1.6.7",
    ),
    gauge(
        "read_buf_bytes",
        "memcached_read_buffer_bytes",
        "Bytes of memory that are allocated as read buffers for connections.",
        since="1.6.0",
        note="Not part of memcached_limit_bytes.",
    ),
    gauge(
        "read_buf_bytes_free",
        "memcached_read_buffer_free_bytes",
        "Bytes of the allocated read buffers that no connection uses at the moment.",
        since="1.6.0",
    ),
    counter(
        "read_buf_oom",
        "memcached_read_buffer_oom_total",
        "Connections that were closed because no memory was left for a read buffer.",
        since="1.6.0",
    ),
)
