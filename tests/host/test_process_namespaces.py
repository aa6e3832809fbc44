"""Which process a server is, among namespaces and for readers without privileges."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exporter.host.process import find
from tests.host.subjects import (
    evidence_of,
    found_by_nobody,
    needs_root,
    process_of,
    run,
    settings,
    wait_until,
)
from tests.processes import Memcached, free_port, wait_for_port

Start = Callable[..., Memcached]


class Inside:
    """A memcached that is process 1 of a pid namespace, in a network namespace if there is one."""

    def __init__(
        self,
        *arguments: str,
        network: str = "",
        host: str = "127.0.0.1",
        path: Path | None = None,
    ) -> None:
        self.endpoint = (host, free_port() if not network else 11211)
        inside = ["ip", "netns", "exec", network] if network else []
        binary = shutil.which("memcached")
        assert binary
        command = [binary, "-u", "nobody", "-l", host, "-p", str(self.endpoint[1]), *arguments]
        self._process = subprocess.Popen(
            [*inside, "unshare", "--pid", "--fork", *command], stderr=subprocess.DEVNULL
        )
        self.pid = 0
        try:
            # `ip` becomes `unshare`, whose child is the server.
            wait_until(lambda: bool(self._child()))
            self.pid = int(self._child())
            if path:
                wait_until(path.exists)
            else:
                wait_for_port(self.endpoint[1], host)
        except BaseException:
            self.stop()
            raise

    def _child(self) -> str:
        pid = self._process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text()

    def stop(self) -> None:
        """End the server, and wait until its namespaces are free."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        self.pid = 0


@pytest.fixture
def inside() -> Iterator[Callable[..., Inside]]:
    """Start servers in namespaces of their own: ``inside(network="name")``."""
    if subprocess.run(["unshare", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("this machine makes no pid namespaces")
    started: list[Inside] = []

    def start(*arguments: str, **where: Any) -> Inside:
        started.append(Inside(*arguments, **where))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def container(proc: Path) -> list[str]:
    """Return what comes before a command that shall run like one with the host's /proc mounted."""
    mount = f'mount --bind /proc "{proc}" && exec "$@"'
    return [
        *("unshare", "--mount", "sh", "-c", mount, "sh"),
        *("unshare", "--pid", "--fork", "--mount-proc"),
    ]


@contextlib.contextmanager
def veth(index: int) -> Iterator[tuple[str, str]]:
    """Make a network namespace behind a veth pair; yield its name, and its address."""
    name = f"mcx{os.getpid()}-{index}"
    here, there = f"mh{os.getpid() % 100000}{index}", f"mt{os.getpid() % 100000}{index}"
    net = f"10.{200 + os.getpid() % 50}.{2 * (os.getpid() % 100) + index}."

    def ip(*arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True, capture_output=True)

    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine makes no network namespaces")
    try:
        ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        ip("address", "add", net + "1/24", "dev", here)
        ip("link", "set", here, "up")
        ip("-n", name, "address", "add", net + "2/24", "dev", there)
        ip("-n", name, "link", "set", there, "up")
        yield name, net + "2"
    finally:
        # The veth pair goes with the namespace.
        ip("netns", "delete", name)


@contextlib.contextmanager
def relay(port: int) -> Iterator[int]:
    """Pass on what comes to a port to that of a server, as docker-proxy and ssh do."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ends: list[socket.socket] = []

        def copy(source: socket.socket, target: socket.socket) -> None:
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    target.sendall(data)

        def serve() -> None:
            with contextlib.suppress(OSError):
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", port))
                ends.extend((client, server))
                threading.Thread(target=copy, args=(server, client), daemon=True).start()
                copy(client, server)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)
        for end in ends:
            end.close()


@needs_root
def test_a_reader_without_privileges_finds_the_same(memcached: Start) -> None:
    """What tells is open to all: not the descriptors, but the connections and their owner."""
    server = memcached()
    with evidence_of(("127.0.0.1", server.port)) as (evidence, age):
        assert found_by_nobody(evidence, age) == server.process.pid


@needs_root
def test_a_relay_is_not_the_server(memcached: Start) -> None:
    """Who holds the other end is not memcached: by the descriptors, or else by the user."""
    server = memcached()
    with relay(server.port) as port, evidence_of(("127.0.0.1", port)) as (evidence, age):
        assert evidence.pid == server.process.pid
        assert find(evidence, age, "", settings()) is None
        assert found_by_nobody(evidence, age) is None


def test_a_relay_of_the_servers_user_is_not_the_server(memcached: Start) -> None:
    """Who sees the descriptors is not misled when the users are the same."""
    server = memcached("-u", pwd.getpwuid(os.geteuid()).pw_name)
    with relay(server.port) as port, evidence_of(("127.0.0.1", port)) as (evidence, age):
        assert evidence.pid == server.process.pid
        assert find(evidence, age, "", settings()) is None


@needs_root
def test_a_server_in_a_pid_namespace(inside: Callable[..., Inside]) -> None:
    """Its own number is 1, and it is found under the one that it has here."""
    server = inside()
    with evidence_of(server.endpoint) as (evidence, age):
        assert evidence.pid == 1
        process = find(evidence, age, "", settings())
        assert process == process_of(server.pid)
        assert found_by_nobody(evidence, age) == server.pid


@needs_root
def test_namesakes_in_one_network(inside: Callable[..., Inside]) -> None:
    """Two servers of one age are both number 1: the descriptors tell them apart, or nothing."""
    one, other = inside(), inside()
    for server in (one, other):
        with evidence_of(server.endpoint) as (evidence, age):
            assert find(evidence, age, "", settings()) == process_of(server.pid)
            assert found_by_nobody(evidence, age) is None


@needs_root
def test_namesakes_in_networks_of_their_own(inside: Callable[..., Inside]) -> None:
    """Two servers of one age are both number 1: each connection ends in one network only."""
    with veth(1) as (network, address), veth(2) as (other_network, other_address):
        servers = [
            inside(network=network, host=address),
            inside(network=other_network, host=other_address),
        ]
        for server in servers:
            with evidence_of(server.endpoint) as (evidence, age):
                assert find(evidence, age, "", settings()) == process_of(server.pid)
                assert found_by_nobody(evidence, age) == server.pid
        for server in servers:
            server.stop()


@needs_root
def test_the_hosts_processes_below_another_root(
    inside: Callable[..., Inside], memcached: Start, tmp_path: Path
) -> None:
    """In a container with the host's /proc, the numbers there are those that count."""
    path, proc = tmp_path / "socket", tmp_path / "proc"
    proc.mkdir()
    here, there, behind = memcached(), inside(), inside("-u", "root", "-s", str(path), path=path)
    expected = {
        ("127.0.0.1", here.port): here.process.pid,
        there.endpoint: there.pid,
        str(path): behind.pid,
    }
    program = f"""
        from tests.host.subjects import found
        processes = [found(endpoint, Path({str(proc)!r})) for endpoint in {list(expected)!r}]
        print(json.dumps([[os.getpid(), *((one.pid, str(one.directory)) for one in processes)]]))
    """
    ((own, *processes),) = run(program, *container(proc))
    assert own == 1
    assert processes == [[pid, str(proc / str(pid))] for pid in expected.values()]


@needs_root
def test_a_neighbour_in_the_container_below_another_root(
    inside: Callable[..., Inside], tmp_path: Path
) -> None:
    """The kernel's word on a unix socket is in the container's numbers, which /proc is not."""
    path, proc = tmp_path / "socket", tmp_path / "proc"
    proc.mkdir()
    program = f"""
        import subprocess
        from tests.host.subjects import evidence_of, find, settings, wait_until
        path, procfs = Path({str(path)!r}), Path({str(proc)!r})
        server = subprocess.Popen(["memcached", "-u", "root", "-s", path])
        wait_until(path.exists)
        with evidence_of(str(path)) as (evidence, age):
            assert evidence.peer_pid == evidence.pid == server.pid
            found = find(evidence, age, "", settings(procfs=procfs))
        numbers = (found.directory / "status").read_text().partition("NSpid:")[2].splitlines()[0]
        server.kill()
        server.wait()
        print(json.dumps([server.pid, found.pid, numbers.split()]))
    """
    number, pid, numbers = run(program, *container(proc))
    assert pid != number
    assert numbers == [str(pid), str(number)]
