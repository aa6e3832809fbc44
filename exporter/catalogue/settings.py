"""The reply to `stats settings`: server and clients here, and the tables of its other parts.

Settings are not constant: several can be changed while the server runs.
"""

from exporter.catalogue.connections import (
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_HELP,
    MAX_CONNECTIONS_NOTE,
)
from exporter.catalogue.extstore import EXTSTORE_SETTINGS
from exporter.catalogue.row import Omission, Row, Scale, Section, gauge, text
from exporter.catalogue.settings_memory import MEMORY_SETTINGS

_INFO = "memcached_settings_info"
_INFO_HELP = "Settings of the server that are text, as labels; the value is always 1."

_TEXTS: tuple[Row, ...] = (
    text("tcpport", _INFO, _INFO_HELP, since="1.3.3", note="0 when TCP is off."),
    text("udpport", _INFO, _INFO_HELP, since="1.3.3", note="0 when UDP is off."),
    text("inter", _INFO, _INFO_HELP, label="interface", since="1.3.3"),
    text("domain_socket", _INFO, _INFO_HELP, since="1.3.3"),
    text(
        "umask",
        _INFO,
        _INFO_HELP,
        since="1.3.3",
        note="Access mode of the unix socket, in octal.",
    ),
    text("binding_protocol", _INFO, _INFO_HELP, since="1.4.0"),
    text(
        "stat_key_prefix",
        _INFO,
        _INFO_HELP,
        since="1.3.3",
        note="The character that ends the prefix of a key in statistics per prefix.",
    ),
    text("hash_algorithm", _INFO, _INFO_HELP, since="1.4.18"),
    text(
        "memory_file",
        _INFO,
        _INFO_HELP,
        since="1.6.9",
        note="File that lets items survive a restart.",
    ),
    text("ssl_min_version", _INFO, _INFO_HELP, since="1.6.11"),
    text(
        "ssl_verify_mode",
        _INFO,
        _INFO_HELP,
        since="1.5.13",
        note="OpenSSL's number for what is asked of clients: 0 is no certificate.",
    ),
    text(
        "ssl_keyformat",
        _INFO,
        _INFO_HELP,
        since="1.5.13",
        note="OpenSSL's number for the format of the key file: 1 is PEM.",
    ),
)

_SERVER: tuple[Row, ...] = (
    gauge(
        "verbosity",
        "memcached_settings_verbosity",
        "How much the server writes to its error output, 0 for the least.",
        since="1.3.3",
        note="Can be changed at run time.",
    ),
    gauge(
        "detail_enabled",
        "memcached_settings_detail_enabled",
        "1 while the server keeps statistics per prefix of the keys, 0 otherwise.",
        since="1.3.3",
        scale=Scale.BOOLEAN,
        note="Can be changed at run time.",
    ),
    gauge(
        "shutdown_command",
        "memcached_settings_shutdown_command_enabled",
        "1 if clients may shut the server down, 0 if not.",
        since="1.6.10",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "flush_enabled",
        "memcached_settings_flush_enabled",
        "1 if clients may make all items invalid at once, 0 if not.",
        since="1.4.17",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "dump_enabled",
        "memcached_settings_dump_enabled",
        "1 if clients may list the keys of all items, 0 if not.",
        since="1.4.34",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "drop_privileges",
        "memcached_settings_drop_privileges_enabled",
        "1 if the server gives up rights on the system that it does not need, 0 if not.",
        since="1.5.9",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "watcher_logbuf_size",
        "memcached_settings_watcher_log_buffer_bytes",
        "Bytes of the buffer for log lines that each watching client has.",
        since="1.4.27",
    ),
    gauge(
        "worker_logbuf_size",
        "memcached_settings_worker_log_buffer_bytes",
        "Bytes of the buffer for log lines that each worker thread has.",
        since="1.4.27",
    ),
    gauge(
        "proxy_enabled",
        "memcached_settings_proxy_enabled",
        "1 if the server works as a proxy, 0 if not.",
        since="1.6.15",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "proxy_uring_enabled",
        "memcached_settings_proxy_uring_enabled",
        "1 if the proxy talks to its backends by io_uring, 0 if not.",
        since="1.6.15",
        scale=Scale.BOOLEAN,
    ),
)

_CLIENTS: tuple[Row, ...] = (
    gauge(
        "maxconns",
        MAX_CONNECTIONS,
        MAX_CONNECTIONS_HELP,
        since="1.3.3",
        note=MAX_CONNECTIONS_NOTE,
    ),
    gauge(
        "maxconns_fast",
        "memcached_settings_maxconns_fast_enabled",
        "1 if the server refuses connections above its limit at once, 0 if it lets them wait.",
        since="1.4.8",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "tcp_backlog",
        "memcached_settings_tcp_backlog",
        "New connections that may wait for the server to accept them.",
        since="1.3.3",
    ),
    gauge(
        "idle_timeout",
        "memcached_settings_idle_timeout_seconds",
        "Seconds after which the server closes an idle connection, 0 for never.",
        since="1.4.27",
    ),
    gauge(
        "reqs_per_event",
        "memcached_settings_requests_per_event",
        "Requests of one connection that a worker thread handles before it turns to the next.",
        since="1.3.3",
    ),
    gauge(
        "num_threads_per_udp",
        "memcached_settings_threads_per_udp_socket",
        "Worker threads that read from each UDP socket.",
        since="1.4.6",
    ),
    gauge(
        "num_napi_ids",
        "memcached_settings_napi_ids",
        "NIC queues by which the server assigns connections to worker threads, 0 if it does not.",
        since="1.6.9",
        absent=("(null)",),
        note="Known only from 1.6.40: older releases send no number.",
    ),
    gauge(
        "read_buf_mem_limit",
        "memcached_settings_read_buffer_limit_bytes",
        "Bytes that the read buffers of all connections may take, 0 for no limit.",
        since="1.6.0",
        note="Wrong for limits from 4 GiB up, which the server cuts to 32 bits.",
    ),
    gauge(
        "resp_obj_mem_limit",
        "memcached_settings_response_object_limit_bytes",
        "Bytes that the response objects of all connections may take, 0 for no limit.",
        since="1.6.0",
        until="1.6.6",
    ),
    gauge(
        "auth_enabled_sasl",
        "memcached_settings_sasl_auth_enabled",
        "1 if clients must log in by SASL, 0 if not.",
        since="1.4.4",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "ssl_enabled",
        "memcached_settings_ssl_enabled",
        "1 if the server speaks TLS, 0 if not.",
        since="1.5.13",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "ssl_session_cache",
        "memcached_settings_ssl_session_cache_enabled",
        "1 if clients can resume their TLS sessions, 0 if not.",
        since="1.6.3",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "ssl_kernel_tls",
        "memcached_settings_ssl_kernel_tls_enabled",
        "1 if the kernel does the encryption of TLS connections, 0 if not.",
        since="1.6.16",
        scale=Scale.BOOLEAN,
    ),
    gauge(
        "ssl_wbuf_size",
        "memcached_settings_ssl_write_buffer_bytes",
        "Bytes of the buffer from which each worker thread writes to TLS connections.",
        since="1.5.13",
    ),
)

_OMISSIONS: tuple[Omission, ...] = (
    Omission(
        "maxbytes", "The same number as limit_maxbytes of `stats`, see memcached_limit_bytes."
    ),
    Omission("num_threads", "The same number as threads of `stats`, see memcached_threads."),
    Omission("oldest", "Internal clock of the last flush, not an age."),
    Omission("inline_ascii_response", "Dead: always `no`."),
    Omission("auth_enabled_ascii", "`no` or the path of the file with the passwords."),
    Omission("ssl_key", "Path of a secret."),
    Omission("ssl_chain_cert", "Path of a file that goes with the secret key."),
    Omission("ssl_ca_cert", "Path of a file that tells which clients are trusted."),
    Omission("ssl_ciphers", "Cut at 126 characters, so that it may lack the end."),
)

SETTINGS = Section(
    name="settings",
    command="stats settings",
    rows=(*_TEXTS, *_SERVER, *_CLIENTS, *MEMORY_SETTINGS, *EXTSTORE_SETTINGS),
    omissions=_OMISSIONS,
)
