"""Servers from DNS: the A or AAAA records of a name, as of a headless service, or its SRV records.

The library costs 16 MB of memory, so it is loaded when a configuration wants this.
"""

from collections.abc import Iterator
from typing import Any

import dns.exception
import dns.resolver

from exporter.configuration import DnsDiscovery
from exporter.discovery.finding import Find, Finding, finding
from exporter.errors import AddressError, DiscoveryError

_LIFETIME_SECONDS = 5.0


def dns_finder(source: DnsDiscovery) -> Find:
    """Return what looks the name up.

    A name without such records has no servers. One that does not exist is a failure, as is a DNS
    server that does not answer: that may be a fault of the DNS, and the servers are still there.
    """

    def find() -> Finding:
        nameservers = ""
        try:
            resolver = dns.resolver.Resolver()
            nameservers = ", ".join(map(str, resolver.nameservers))
            answer = resolver.resolve(
                source.record, source.type, lifetime=_LIFETIME_SECONDS, search=True
            )
            return finding(sorted({*_texts(answer, source)}), source)
        except dns.resolver.NoAnswer:
            return Finding(())
        except dns.resolver.NXDOMAIN as error:
            raise DiscoveryError(f"{source.record}: the name does not exist") from error
        except dns.exception.Timeout as error:
            # Its own text has the time that it took, which is another one each time.
            raise DiscoveryError(f"{source.record}: no answer from {nameservers}") from error
        except (dns.exception.DNSException, AddressError) as error:
            raise DiscoveryError(f"{source.record}: {' '.join(str(error).split())}") from error

    return find


def _texts(answer: Any, source: DnsDiscovery) -> Iterator[str]:
    """Yield the servers of an answer as addresses are written."""
    for record in answer:
        if source.type == "SRV":
            host = record.target.to_text(omit_final_dot=True)
            if host != ".":  # which says that there is no such service
                yield f"{host}:{record.port}"
        elif source.type == "AAAA":
            yield f"[{record.address}]:{source.port}"
        else:
            yield f"{record.address}:{source.port}"
