"""TLS to real memcached servers, through the daemon."""

import contextlib
import socket
import time
from collections.abc import Callable

import pytest

from tests.processes import Memcached
from tests.resilience.certificates import Authority
from tests.resilience.support import Daemon, Watched, elapsed_below, settle
from tests.web.clients import eventually

Watch = Callable[..., Watched]
Start = Callable[..., Memcached]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that nobody has heard of."""
    return Authority(tmp_path_factory.mktemp("elsewhere"))


def tls(authority: Authority, more: str = "", timeout: str = "1s") -> str:
    """Return a module that trusts an authority."""
    return f"{{timeout: {timeout}, tls: {{ca_file: {authority.ca}{more and ', '}{more}}}}}"


def failing(found: Watched, reason: str, text: str, seconds: float = 2.0) -> None:
    """Scrape three times: each fails in time, for this reason, and the log says why, once."""
    for number in range(1, 4):
        with elapsed_below(seconds):
            assert found.up() == 0
        assert found.errors() == {reason: number}
    (line,) = found.daemon.warnings()
    assert f"reason={reason}" in line
    assert text.lower() in line.lower()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_right_certificate(memcached: Start, watch: Watch, authority: Authority, name: str) -> None:
    """With the right authority all is read over one connection; the end is the certificate's."""
    pair = authority.issue()
    server = memcached(*pair.serve())
    found = watch(f"{name}:{server.port}", tls(authority))
    for _ in range(3):
        assert found.up() == 1
    assert found.get("memcached_tls_certificate_not_after_timestamp_seconds") == pair.ends()
    connections = found.get("memcached_connections_total")
    assert found.up() == 1
    assert found.get("memcached_connections_total") == connections
    assert found.get("memcached_scrape_section_success", section="items") == 1


def test_an_authority_of_the_old_kind(
    memcached: Start, watch: Watch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A private authority without key identifiers is as good as ever, whatever the Python."""
    directory = tmp_path_factory.mktemp("old")
    directory.chmod(0o755)
    old = Authority(directory, extended=False)
    server = memcached(*old.issue().serve())
    assert watch(server.address, tls(old)).up() == 1


def test_name_of_the_module(memcached: Start, watch: Watch, authority: Authority) -> None:
    """A module's server_name stands for the address, in the handshake and in the check."""
    server = memcached(*authority.issue("DNS:cache.internal").serve())
    found = watch(server.address, tls(authority, "server_name: cache.internal"))
    assert found.up() == 1


def test_each_address_has_its_own_name(
    memcached: Start, configured: Callable[..., Daemon], authority: Authority
) -> None:
    """Servers of one module are each held to the name of their own address."""
    by_name = memcached(*authority.issue("DNS:localhost").serve())
    by_number = memcached(*authority.issue("IP:127.0.0.1").serve())
    addresses = {
        f"localhost:{by_name.port}": 1,
        f"127.0.0.1:{by_name.port}": 0,
        f"127.0.0.1:{by_number.port}": 1,
        f"localhost:{by_number.port}": 0,
    }
    servers = "".join(f'  - {{address: "{a}", module: odd}}\n' for a in addresses)
    samples = configured(f"servers:\n{servers}modules: {{odd: {tls(authority)}}}\n").samples()
    ups = {
        dict(labels)["server"]: up for (name, labels), up in samples.items() if name.endswith("_up")
    }
    assert ups == addresses


def test_wrong_authority(
    memcached: Start, watch: Watch, authority: Authority, elsewhere: Authority
) -> None:
    """A certificate of another authority is not accepted."""
    server = memcached(*authority.issue().serve())
    failing(watch(server.address, tls(elsewhere)), "tls", "the certificate is not accepted: ")


def test_wrong_name(memcached: Start, watch: Watch, authority: Authority) -> None:
    """A certificate for another name is not accepted, and the log has both names' mismatch."""
    server = memcached(*authority.issue("DNS:other.example").serve())
    failing(
        watch(f"localhost:{server.port}", tls(authority)),
        "tls",
        "certificate is not valid for 'localhost'",
    )


def test_expired(memcached: Start, watch: Watch, authority: Authority) -> None:
    """A certificate that has ended is said to have done so."""
    server = memcached(*authority.issue(days=-1).serve())
    failing(watch(server.address, tls(authority)), "tls", "certificate has expired")


def test_any_certificate(memcached: Start, watch: Watch, authority: Authority) -> None:
    """With insecure_skip_verify the wrong name and an old certificate are taken."""
    server = memcached(*authority.issue("DNS:other.example", days=-1).serve())
    found = watch(server.address, "{tls: {insecure_skip_verify: true}}")
    assert found.up() == 1
    assert found.get("memcached_tls_certificate_not_after_timestamp_seconds") is None


def test_server_without_tls(memcached: Start, watch: Watch, authority: Authority) -> None:
    """A plain server is told from one with a bad certificate."""
    found = watch(memcached().address, tls(authority))
    for number in range(1, 4):
        with elapsed_below(2):
            assert found.up() == 0
        assert sum(found.errors().values()) == number
    (line,) = found.daemon.warnings()
    assert "does the server speak TLS here?" in line
    assert found.errors() == {"tls": 3}


def test_module_without_tls(memcached: Start, watch: Watch, authority: Authority) -> None:
    """Plain text to a port with TLS fails in time, as closed."""
    server = memcached(*authority.issue().serve())
    found = watch(server.address, "{}")
    for number in range(1, 4):
        with elapsed_below(2):
            assert found.up() == 0
        assert found.errors() == {"closed": number}


@pytest.mark.parametrize("known", [True, False])
def test_client_certificate(
    memcached: Start, watch: Watch, authority: Authority, known: bool
) -> None:
    """A server that wants a certificate gets it; without one the scrape fails in time."""
    server = memcached(*authority.issue().serve("ssl_verify_mode=2", f"ssl_ca_cert={authority.ca}"))
    mine = authority.issue("DNS:monitor")
    more = f"cert_file: {mine.cert}, key_file: {mine.key}" if known else ""
    found = watch(server.address, tls(authority, more))
    if known:
        assert found.up() == 1
    else:
        # The server closes without a word of TLS; that this is the likely cause is said anyway.
        failing(found, "tls", "certificate")


@pytest.mark.parametrize("version", ["TLS12", "TLS13"])
def test_lowest_version(memcached: Start, watch: Watch, authority: Authority, version: str) -> None:
    """A server of today is read whichever version is the lowest."""
    server = memcached(*authority.issue().serve())
    assert watch(server.address, tls(authority, f"min_version: {version}")).up() == 1


def test_a_handshake_that_never_ends(watch: Watch, authority: Authority) -> None:
    """A listener that accepts and says nothing costs the deadline and no socket."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        found = watch(address, tls(authority, timeout="200ms"))
        with elapsed_below(1):
            assert found.up() == 0
        threads, files = found.daemon.threads(), found.daemon.descriptors()
        for _ in range(10):
            with elapsed_below(1):
                assert found.up() == 0
        assert found.errors() == {"timeout": 11}
        settle(found.daemon, threads, files)


def test_restart_under_a_held_connection(
    memcached: Start, watch: Watch, authority: Authority
) -> None:
    """With TLS too the first scrape after a restart is up."""
    server = memcached(*authority.issue().serve())
    found = watch(server.address, tls(authority))
    for _ in range(3):
        assert found.up() == 1
        server.restart()
    assert found.up() == 1
    assert found.errors() == {}


def test_full_server_with_tls(memcached: Start, watch: Watch, authority: Authority) -> None:
    """A full server says so in plain text, also where TLS is spoken: that is the reason."""
    server = memcached(*authority.issue().serve(), "-c", "64")
    found = watch(server.address, tls(authority))
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection((server.host, server.port)))
        for _ in range(5):
            assert found.up() == 0
        assert found.errors() == {"connection_limit": 5}
    assert eventually(lambda: found.up() == 1)


def test_server_that_closes_what_rests(
    memcached: Start, watch: Watch, authority: Authority
) -> None:
    """A connection that the server has closed in between is made anew in the same scrape."""
    server = memcached(*authority.issue().serve("idle_timeout=1"))
    found = watch(server.address, tls(authority))
    assert found.up() == 1
    time.sleep(4.5)  # memcached looks for idle connections every other second
    assert found.up() == 1
    assert found.get("memcached_idle_kicks_total") == 1
    assert found.errors() == {}


def test_probes(memcached: Start, watch: Watch, authority: Authority) -> None:
    """The prober speaks TLS as scrapes do, over one connection of its own."""
    server = memcached(*authority.issue().serve())
    found = watch(server.address, tls(authority)[:-1] + ", probe: {interval: 20ms}}")

    def probes() -> float:
        assert found.up() == 1
        return found.get("memcached_probe_duration_seconds_count", operation="noop") or 0

    assert eventually(lambda: probes() >= 10)
    assert found.get("memcached_probe_failures_total", operation="noop") == 0
    connections = found.get("memcached_connections_total")
    assert eventually(lambda: probes() >= 20)
    assert found.get("memcached_connections_total") == connections
