"""Names to IP addresses, within a deadline.

The system's resolver cannot be given a time limit, so it runs in a thread of its own. While one
lookup of a name is stuck, later ones wait for it instead of starting more threads.
"""

import ipaddress
import itertools
import socket
import threading
import time
from concurrent.futures import Future

from exporter.errors import ReadError, Reason

_running: dict[tuple[str, int], Future[list[str]]] = {}
_lock = threading.Lock()


def resolve(host: str, port: int, deadline: float) -> list[str]:
    """Return the IP addresses of a host, families alternating, in the system's order of preference.

    Raises ReadError (dns, or timeout) at ``deadline`` (``time.monotonic``) at the latest.
    """
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    try:
        return _lookup(host, port).result(timeout=max(0.0, deadline - time.monotonic()))
    except TimeoutError as error:
        raise ReadError(Reason.DNS, f"no answer for the name {host} before the deadline") from error
    except (OSError, UnicodeError) as error:
        text = error.strerror if isinstance(error, OSError) else str(error)
        raise ReadError(Reason.DNS, f"the name {host} is not found: {text}") from error


def _lookup(host: str, port: int) -> Future[list[str]]:
    key = (host, port)
    with _lock:
        future = _running.get(key)
        if future is None:
            future = _running[key] = Future()
            threading.Thread(
                target=_run, args=(key, future), name=f"resolve {host}", daemon=True
            ).start()
        return future


def _run(key: tuple[str, int], future: Future[list[str]]) -> None:
    try:
        found = socket.getaddrinfo(*key, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        result = interleave([str(entry[4][0]) for entry in found])
    except Exception as error:  # noqa: BLE001, whoever waits gets it
        future.set_exception(error)
    else:
        future.set_result(result)
    finally:
        with _lock:
            del _running[key]


def interleave(addresses: list[str]) -> list[str]:
    """Order addresses so that the families take turns, each in its own order (RFC 8305)."""
    unique = list(dict.fromkeys(addresses))
    first = [a for a in unique if (":" in a) == (":" in unique[0])]
    second = [a for a in unique if (":" in a) != (":" in unique[0])]
    pairs = itertools.zip_longest(first, second)
    return [address for pair in pairs for address in pair if address is not None]
