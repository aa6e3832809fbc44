"""A Prometheus exporter for memcached and the host it runs on."""

__version__ = "0.1.0"
