"""Where servers are found besides the list in the configuration."""

from exporter.addresses import parse_address
from exporter.configuration.file import DiscoveryEntry, DnsEntry, ElastiCacheEntry
from exporter.configuration.model import (
    DiscoverySource,
    DnsDiscovery,
    ElastiCacheDiscovery,
    FileDiscovery,
    Module,
)
from exporter.configuration.servers import duration, labels, module_named
from exporter.configuration.yaml_text import Place, shown, within
from exporter.errors import AddressError, ConfigurationError


def any_source(entry: DiscoveryEntry) -> bool:
    """Return whether servers are to be found anywhere."""
    return bool(entry.files or entry.dns or entry.elasticache)


def sources(
    entry: DiscoveryEntry, modules: dict[str, Module], place: Place
) -> tuple[DiscoverySource, ...]:
    """Return the sources of the file, in its order. Raises ConfigurationError."""
    found: list[DiscoverySource] = [FileDiscovery(pattern, modules) for pattern in entry.files]
    for i, dns in enumerate(entry.dns):
        found.append(_dns(dns, modules, within(place, f"discovery.dns[{i}]")))
    for i, cluster in enumerate(entry.elasticache):
        found.append(_cluster(cluster, modules, within(place, f"discovery.elasticache[{i}]")))
    names = [source.name for source in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(
                f"{place('discovery')}: {shown(name)} is there twice: remove one"
            )
    return tuple(found)


def _dns(entry: DnsEntry, modules: dict[str, Module], place: Place) -> DnsDiscovery:
    if (entry.type == "SRV") == (entry.port is not None):
        remedy = "remove port" if entry.type == "SRV" else "add port: 11211"
        raise ConfigurationError(
            f"{place('port')}: SRV records bring the port, A and AAAA do not: {remedy}"
        )
    return DnsDiscovery(
        record=entry.name,
        type=entry.type,
        port=entry.port or 0,
        refresh=duration(entry.refresh, place("refresh")),
        module=module_named(entry.module, modules, place("module")),
        labels=labels(entry.labels, within(place, "labels")),
    )


def _cluster(
    entry: ElastiCacheEntry, modules: dict[str, Module], place: Place
) -> ElastiCacheDiscovery:
    try:
        address = parse_address(entry.endpoint)
    except AddressError as error:
        raise ConfigurationError(f"{place('endpoint')}: {error}") from error
    return ElastiCacheDiscovery(
        address=address,
        refresh=duration(entry.refresh, place("refresh")),
        module=module_named(entry.module, modules, place("module")),
        labels=labels(entry.labels, within(place, "labels")),
    )
