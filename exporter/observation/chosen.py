"""Which servers a command looks at: those that it is told, or all that there are."""

from collections.abc import Sequence

import msgspec

from exporter.addresses import parse_address
from exporter.configuration import Configuration, Server
from exporter.discovery.discovery import Discovery
from exporter.telemetry import Telemetry


def chosen(
    configuration: Configuration, addresses: Sequence[str]
) -> tuple[Configuration, tuple[str, ...]]:
    """Return the configuration with the servers to look at, and the sources that cannot be read.

    Sources of servers are looked at once. An address that is configured or found is read as that
    says, any other one by the module ``default``. Raises AddressError.
    """
    discovery = Discovery(lambda: None, Telemetry())
    discovery.follow(configuration.discovery)
    servers, unread = discovery.servers(configuration.servers), discovery.unread
    discovery.stop()
    if addresses:
        known = {server.address.endpoint: server for server in servers}
        wanted = {parsed.endpoint: parsed for parsed in map(parse_address, addresses)}
        servers = tuple(
            known.get(endpoint) or Server(address=address, module=configuration.modules["default"])
            for endpoint, address in wanted.items()
        )
    return msgspec.structs.replace(configuration, servers=servers), () if addresses else unread
