"""An exporter that may do nothing on this machine but open sockets."""

import contextlib
from collections.abc import Callable

import pytest

from exporter.catalogue import HOST_FAMILIES
from tests.processes import Memcached, sample
from tests.resilience.support import Daemon, Samples, is_root

NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs")
VOLATILE = ("seconds", "buffer", "response_object")
"""Parts of names of what no two scrapes agree on, whoever asks."""

pytestmark = pytest.mark.skipif(not is_root(), reason="needs root to become another user")


def of_memcached(samples: Samples) -> Samples:
    """Return what a page says of servers, without what it says of the exporter."""
    return {
        key: value
        for key, value in samples.items()
        if key[0].startswith("memcached_") and not key[0].startswith("memcached_exporter_")
    }


@pytest.mark.parametrize("module", ["{}", "{sections: [stats, settings, items, slabs, sizes]}"])
def test_the_page_of_nobody(
    memcached: Callable[..., Memcached], configured: Callable[..., Daemon], module: str
) -> None:
    """Nobody sees each series that root sees, and the same values where nothing happens."""
    server = memcached("-m", "48")
    with contextlib.closing(server.client()) as client:
        client.set_many({f"key{i}": b"x" * i * 100 for i in range(1, 50)}, noreply=False)
    text = f'servers: [{{address: "{server.address}"}}]\nmodules: {{default: {module}}}\n'
    root, nobody = configured(text), configured(text, prefix=NOBODY)
    for daemon in (root, nobody):
        daemon.samples()
    before, theirs, after = (of_memcached(daemon.samples()) for daemon in (root, nobody, root))
    assert theirs.keys() ^ before.keys() == set()
    assert theirs[sample("memcached_up", server=server.address)] == 1
    constant = {
        key
        for key, value in before.items()
        if after[key] == value
        and key[0] not in HOST_FAMILIES
        and not any(word in key[0] for word in VOLATILE)
    }
    assert len(constant) > 100
    assert {key for key in constant if theirs[key] != before[key]} == set()


def test_nobody_has_no_privilege(daemon: Callable[..., Daemon]) -> None:
    """The daemon of these tests really is nobody, and it ends in order."""
    running = daemon(prefix=NOBODY)
    assert running.request("/-/healthy").status == 200
    running.process.terminate()
    assert running.process.wait(timeout=10) == 0
    assert "Traceback" not in running.log
