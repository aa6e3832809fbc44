"""Rows of `stats` about the built-in proxy, sent only by a server that was started with it.

`stats reset` zeroes the counters of connections and requests, not those of the configuration and
of backends.
"""

from exporter.catalogue.row import Row, counter, gauge

PROXY: tuple[Row, ...] = (
    counter(
        "proxy_conn_requests",
        "memcached_proxy_conn_requests_total",
        "Requests that the proxy received from its clients.",
        since="1.6.13",
    ),
    counter(
        "proxy_conn_errors",
        "memcached_proxy_conn_errors_total",
        "Requests of clients that the proxy could not parse or did not know.",
        since="1.6.13",
        note="The proxy may close the connection of such a client.",
    ),
    counter(
        "proxy_conn_oom",
        "memcached_proxy_conn_oom_total",
        "Requests that the proxy could not handle because it was out of memory.",
        since="1.6.14",
    ),
    gauge(
        "proxy_req_active",
        "memcached_proxy_req_active",
        "Requests that the proxy is working on now.",
        since="1.6.15",
        signed=True,
    ),
    gauge(
        "proxy_await_active",
        "memcached_proxy_await_active",
        "Requests that wait for the answers of several backends.",
        since="1.6.18",
        until="1.6.29",
    ),
    counter(
        "proxy_config_reloads",
        "memcached_proxy_config_reloads_total",
        "Times that the proxy set out to load its configuration, with or without success.",
        since="1.6.13",
        note="Includes the load at start.",
    ),
    counter(
        "proxy_config_reload_fails",
        "memcached_proxy_config_reload_fails_total",
        "Times that the proxy failed to load its configuration.",
        since="1.6.13",
    ),
    counter(
        "proxy_config_cron_runs",
        "memcached_proxy_config_cron_runs_total",
        "Runs of the periodic tasks that the proxy's configuration defines.",
        since="1.6.27",
    ),
    counter(
        "proxy_config_cron_fails",
        "memcached_proxy_config_cron_fails_total",
        "Runs of the periodic tasks of the proxy's configuration that failed.",
        since="1.6.27",
    ),
    gauge(
        "proxy_backend_total",
        "memcached_proxy_backends",
        "Backend objects of the proxy, one per backend and worker thread.",
        since="1.6.13",
        note="Three backends and four worker threads make twelve.",
    ),
    counter(
        "proxy_backend_marked_bad",
        "memcached_proxy_backend_marked_bad_total",
        "Times that the proxy took a backend out of use after repeated failures.",
        since="1.6.14",
    ),
    counter(
        "proxy_backend_failed",
        "memcached_proxy_backend_failed_total",
        "Failures of a backend after which the proxy connected to it anew.",
        since="1.6.14",
    ),
    counter(
        "proxy_request_failed_depth",
        "memcached_proxy_request_failed_depth_total",
        "Requests that failed at once because too many were already waiting for the backend.",
        since="1.6.28",
    ),
)
