"""Network and mount namespaces of a test's own, where links go down and nobody else is harmed."""

import contextlib
import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

_NEW_NETWORK = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_OWN = "/proc/thread-self/ns/net"


def ip(*words: str) -> None:
    """Run the ip command."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


def need_namespaces() -> None:
    """Skip the test where namespaces cannot be made, and say why."""
    for program in ("ip", "unshare"):
        if not shutil.which(program):
            pytest.skip(f"needs the {program} command")
    done = subprocess.run(["unshare", "--net", "--mount", "true"], check=False, capture_output=True)
    if done.returncode:
        pytest.skip(f"namespaces cannot be made here: {done.stderr.decode().strip()}")


@contextlib.contextmanager
def own_network() -> Iterator[None]:
    """Put this thread, and what it starts, into a network that has nothing but a loopback."""
    need_namespaces()
    before = os.open(_OWN, os.O_RDONLY)
    try:
        assert _libc.unshare(_NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())
        try:
            ip("link", "set", "lo", "up")
            yield
        finally:
            assert _libc.setns(before, _NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())
    finally:
        os.close(before)


class Cable(NamedTuple):
    """Two networks with a cable between them: here 10.9.0.1, there 10.9.0.2."""

    far: int
    """A descriptor of the network there."""

    @contextlib.contextmanager
    def there(self) -> Iterator[None]:
        """Put this thread, and what it starts, into the network at the other end."""
        before = os.open(_OWN, os.O_RDONLY)
        try:
            assert _libc.setns(self.far, _NEW_NETWORK) == 0
            try:
                yield
            finally:
                assert _libc.setns(before, _NEW_NETWORK) == 0
        finally:
            os.close(before)

    def pull(self) -> None:
        """Let all be lost that is sent, without a word to either side."""
        with self.there():
            ip("link", "set", "far", "down")

    def plug(self) -> None:
        """Put the cable back."""
        with self.there():
            ip("link", "set", "far", "up")


@contextlib.contextmanager
def cable() -> Iterator[Cable]:
    """Put this thread into a network of its own that has a cable to another one."""
    with own_network():
        far = os.open(_OWN, os.O_RDONLY)
        keeper = subprocess.Popen(["sleep", "600"])
        try:
            with own_network():
                ip("link", "add", "near", "type", "veth", "peer", "name", "far")
                ip("link", "set", "far", "netns", str(keeper.pid))
                ip("address", "add", "10.9.0.1/24", "dev", "near")
                ip("link", "set", "near", "up")
                between = Cable(far)
                with between.there():
                    ip("address", "add", "10.9.0.2/24", "dev", "far")
                    ip("link", "set", "far", "up")
                yield between
        finally:
            keeper.kill()
            keeper.wait()
            os.close(far)


def with_files(**files: Path) -> tuple[str, ...]:
    """Return what starts a program for which files of /etc are others: ``with_files(hosts=x)``."""
    mounts = [
        f"mount --bind '{path}' /etc/{name.replace('_', '.')}" for name, path in files.items()
    ]
    script = " && ".join(["mount --make-rprivate /", *mounts, 'exec "$@"'])
    return ("unshare", "--mount", "sh", "-c", script, "sh")
