"""Servers from AWS ElastiCache: its configuration endpoint answers with the nodes of a cluster.

The answer to `config get cluster`, and of engines before 1.4.14 the value of the key
`AmazonElastiCache:cluster`, is a version, and a line with ``host|ip|port`` of each node.
"""

import contextlib
import re
import time

from exporter.configuration import ElastiCacheDiscovery
from exporter.discovery.finding import Find, Finding, finding
from exporter.errors import AddressError, DiscoveryError, ReadError
from exporter.memcached.door import Door
from exporter.memcached.replies import Reply

_SECONDS = 5.0
_MOST_BYTES = 2**20
_COMMAND = "config get cluster"
_OLD_COMMAND = "get AmazonElastiCache:cluster"
_HEAD = re.compile(r"(?:CONFIG cluster|VALUE AmazonElastiCache:cluster) [0-9]+ ([0-9]+)\r\n")
_BODY = re.compile(r"[0-9]+\n([^\r\n]*)\n?\Z")
_NODE = re.compile(r"([^|\s]+)\|([^|\s]*)\|([0-9]{1,5})\Z")


def elasticache_finder(source: ElastiCacheDiscovery) -> Find:
    """Return what asks the endpoint, with the TLS and the login of the source's module."""
    door = Door(source.address, source.module)

    def find() -> Finding:
        deadline = time.monotonic() + _SECONDS
        try:
            connection = door.open(deadline)
            with contextlib.closing(connection):
                (reply,) = connection.exchange([_COMMAND], deadline, _MOST_BYTES)
                if reply.error:
                    (reply,) = connection.exchange([_OLD_COMMAND], deadline, _MOST_BYTES)
            return finding(_nodes(reply, source.address.text), source)
        except ReadError as error:
            raise DiscoveryError(f"{source.address.text}: {error.reason}: {error}") from error
        except AddressError as error:
            raise DiscoveryError(f"{source.address.text}: a node has an odd {error}") from error

    return find


def _nodes(reply: Reply, endpoint: str) -> list[str]:
    """Return the nodes of an answer as addresses are written.

    Raises DiscoveryError when the answer is not exactly of the form: half a list would look like
    servers that are gone.
    """
    head = _HEAD.match(reply.body)
    text = reply.body[head.end() :] if head else ""
    body = _BODY.match(text) if head and len(text) == int(head[1]) else None
    nodes = [_NODE.match(node) for node in body[1].split()] if body else []
    found = [f"{node[1]}:{node[3]}" for node in nodes if node]
    if not found or len(found) < len(nodes):
        shown = (reply.error or reply.body or "END")[:80]
        raise DiscoveryError(
            f"{endpoint}: the answer is not a list of ElastiCache's: {shown!r}: is this the"
            " configuration endpoint?"
        )
    return found
