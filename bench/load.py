"""What is in the memcached that is measured: items of many sizes, and counters that have moved."""

import pymemcache  # type: ignore[import-untyped]

from bench.processes import HOST, CannotMeasureError, Process

CLASSES = 38
_LARGEST = 390_000
"""Bytes of a value that still fits the 38th class at memcached's default growth factor."""
_ITEMS_PER_SIZE = 4


def fill(server: Process) -> None:
    """Fill the slab classes, and make traffic of all kinds.

    Raises CannotMeasureError when the server then has another number of classes.
    """
    client = pymemcache.Client((HOST, server.port), timeout=10, connect_timeout=10, no_delay=True)
    for size in _sizes():
        for number in range(_ITEMS_PER_SIZE):
            client.set(f"fill:{size}:{number}", b"x" * size, noreply=False)
        _use(client, f"fill:{size}:0")
    client.set("count", b"1", noreply=False)
    for _ in range(100):
        client.incr("count", 3)
        client.decr("count", 1)
    classes = client.stats("slabs")[b"active_slabs"]
    client.close()
    if classes != CLASSES:
        raise CannotMeasureError(f"memcached has {classes} slab classes instead of {CLASSES}")


def _sizes() -> list[int]:
    sizes = [1]
    while (following := int(sizes[-1] * 1.08) + 1) <= _LARGEST:
        sizes.append(following)
    return sizes


def _use(client: pymemcache.Client, key: str) -> None:
    for _ in range(5):
        client.get(key)
        client.get(f"{key}:missing")
    value, token = client.gets(key)
    client.cas(key, value, token, noreply=False)
    client.cas(key, value, token, noreply=False)  # the token is outdated
    client.touch(key, 0, noreply=False)
    client.delete(f"{key}:missing", noreply=False)
    client.set(f"{key}:gone", b"x", noreply=False)
    client.delete(f"{key}:gone", noreply=False)
