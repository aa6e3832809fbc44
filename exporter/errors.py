"""The exporter's exceptions: one small tree, every message meant for an operator."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a memcached server could not be read: the label of the scrape error counter."""

    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    DNS = "dns"
    CONNECTION_LIMIT = "connection_limit"
    AUTH = "auth"
    TLS = "tls"
    PROTOCOL = "protocol"
    CLOSED = "closed"
    INTERNAL = "internal"


class ExporterError(Exception):
    """Base of all errors that the exporter raises on purpose."""


class AddressError(ExporterError):
    """A server or listen address that cannot be used; the text names the value and the remedy."""


class ConfigurationError(ExporterError):
    """A flag or configuration file that cannot be used; names the place and the remedy."""


class DiscoveryError(ExporterError):
    """Servers could not be looked for; the text names the place and the cause."""


class ForbiddenTargetError(ExporterError):
    """A scrape target outside of what the configuration allows."""


class ReadError(ExporterError):
    """A memcached server could not be read within the deadline.

    ``reason`` is the class of the failure, the text tells the details.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
