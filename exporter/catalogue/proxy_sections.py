"""The replies of a proxy to `stats proxy`, `stats proxyfuncs` and `stats proxybe`."""

from exporter.catalogue.row import Row, Scale, Section, counter, gauge

_COMMANDS = (
    *("mg", "ms", "md", "mn", "ma", "me", "get", "gat", "set", "add", "cas", "gets", "gats"),
    *("incr", "decr", "touch", "append", "prepend", "delete", "replace"),
)

_REQUESTS: tuple[Row, ...] = tuple(
    counter(
        f"cmd_{command}",
        "memcached_proxy_commands_total",
        "Requests of clients that the proxy has routed, by command.",
        since="1.6.15",
        note="Not touched by `stats reset`. memcached_commands_total stays 0 in a proxy.",
        command=command,
    )
    for command in _COMMANDS
)

PROXY_STATS = Section(
    name="proxy",
    command="stats proxy",
    rows=(
        *_REQUESTS,
        counter(
            "user_*",
            "memcached_proxy_user_stats_total",
            "Counters that the proxy's own configuration keeps, by the name given there.",
            since="1.6.13",
            dynamic=("stat",),
            note="A name that takes the place of another one in the configuration starts at 0.",
        ),
        gauge(
            "active_req_limit",
            "memcached_proxy_active_requests_limit",
            "Requests that the proxy may have under way at once, 0 for no limit.",
            since="1.6.20",
        ),
        gauge(
            "buffer_memory_limit",
            "memcached_proxy_buffer_memory_limit_bytes",
            "Bytes that the proxy may use for the requests under way, 0 for no limit.",
            since="1.6.20",
        ),
        gauge(
            "buffer_memory_used",
            "memcached_proxy_buffer_memory_bytes",
            "Bytes that the proxy uses for the requests under way.",
            since="1.6.20",
        ),
        counter(
            "vm_gc_runs",
            "memcached_proxy_vm_gc_runs_total",
            "Garbage collections of the proxy's Lua machines.",
            since="1.6.28",
        ),
        gauge(
            "vm_memory_kb",
            "memcached_proxy_vm_memory_bytes",
            "Bytes of memory that the proxy's Lua machines use.",
            since="1.6.28",
            scale=Scale.KIBIBYTES,
        ),
    ),
)

PROXY_FUNCTIONS = Section(
    name="proxyfuncs",
    command="stats proxyfuncs",
    rows=(
        gauge(
            "funcs_*",
            "memcached_proxy_functions",
            "Function generators of the proxy's configuration, over all worker threads, by name.",
            since="1.6.24",
            dynamic=("function",),
        ),
        gauge(
            "slots_*",
            "memcached_proxy_function_slots",
            "Slots for requests under way that a function generator of the proxy has made.",
            since="1.6.24",
            dynamic=("function",),
        ),
    ),
)

PROXY_BACKENDS = Section(
    name="proxybe",
    command="stats proxybe",
    rows=(
        gauge(
            "bad_*",
            "memcached_proxy_backend_bad_connections",
            "Connections of the proxy to a backend that are marked bad, by the backend's label.",
            since="1.6.27",
            dynamic=("backend",),
            note="One per worker thread when a backend is down; healthy backends are absent.",
        ),
    ),
)
