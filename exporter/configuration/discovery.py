"""Where servers are found besides the list in the configuration."""

from exporter.configuration.file import DiscoveryEntry, DnsEntry, ElastiCacheEntry
from exporter.configuration.model import (
    WILDCARDS,
    DiscoverySource,
    DnsDiscovery,
    ElastiCacheDiscovery,
    FileDiscovery,
    Module,
)
from exporter.configuration.servers import (
    address_at,
    check_reachable,
    duration,
    joined,
    labels,
    module_named,
)
from exporter.configuration.yaml_text import Place, shown, within
from exporter.errors import ConfigurationError


def any_source(entry: DiscoveryEntry) -> bool:
    """Return whether servers are to be found anywhere."""
    return bool(entry.files or entry.dns or entry.elasticache)


def sources(
    entry: DiscoveryEntry, modules: dict[str, Module], place: Place
) -> tuple[DiscoverySource, ...]:
    """Return the sources of the file, in its order. Raises ConfigurationError."""
    found: list[DiscoverySource] = []
    for i, pattern in enumerate(entry.files):
        if set(pattern.rpartition("/")[0]) & set(WILDCARDS):
            raise ConfigurationError(
                f"{place(f'discovery.files[{i}]')}: {shown(pattern)} has a wildcard in its"
                " directory: only the name of the file may have one"
            )
        found.append(FileDiscovery(pattern, modules))
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
    address_at(entry.name, place, "name")
    module = module_named(entry.module, modules, place)
    return DnsDiscovery(
        record=entry.name,
        type=entry.type,
        port=entry.port or 0,
        refresh=duration(entry.refresh, place("refresh")),
        module=module,
        labels=joined(module, labels(entry.labels, within(place, "labels"))),
    )


def _cluster(
    entry: ElastiCacheEntry, modules: dict[str, Module], place: Place
) -> ElastiCacheDiscovery:
    address = address_at(entry.endpoint, place, "endpoint")
    module = module_named(entry.module, modules, place)
    check_reachable(address, module, place)
    return ElastiCacheDiscovery(
        address=address,
        refresh=duration(entry.refresh, place("refresh")),
        module=module,
        labels=joined(module, labels(entry.labels, within(place, "labels"))),
    )
