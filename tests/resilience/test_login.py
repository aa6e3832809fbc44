"""Logging in to servers that ask for it (memcached -Y), through the daemon."""

import contextlib
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import Memcached
from tests.resilience.support import Watched, is_root, refused_start
from tests.web.clients import eventually

Watch = Callable[..., Watched]


@pytest.fixture
def guarded(memcached: Callable[..., Memcached], shared: Path) -> Memcached:
    """Start a memcached that knows two users."""
    users = shared / "users"
    users.write_text("mon:s3cret\nauditor:0ther\n")
    return memcached("-Y", str(users))


def counts(server: Memcached) -> tuple[int, int]:
    """Return auth_cmds and auth_errors, without the login of who asks."""
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(b"set x 0 0 13\r\nauditor 0ther\r\n")
        assert connection.recv(100) == b"STORED\r\n"
        connection.sendall(b"stats\r\n")
        data = b""
        while not data.endswith(b"END\r\n"):
            data += connection.recv(65536)
    stats = dict(line.split(" ", 2)[1:] for line in data.decode().split("\r\n")[:-2])
    return int(stats["auth_cmds"]), int(stats["auth_errors"])


def from_file(path: Path, text: str | bytes) -> str:
    """Write a password file, and return a module that logs in with it."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return f"{{auth: {{username: mon, password_file: {path.name}}}}}"


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
def test_right_password_from_a_file(
    guarded: Memcached, watch: Watch, shared: Path, ending: str
) -> None:
    """With user and password the server is up, whichever way an editor ends the file (B16)."""
    found = watch(guarded.address, from_file(shared / "password", f"s3cret{ending}"))
    before = counts(guarded)
    for _ in range(5):
        assert found.up() == 1
    assert found.get("memcached_auth_commands_total") is not None
    # One login for all scrapes; the second one is that of who counts.
    assert counts(guarded) == (before[0] + 2, 0)


def test_right_password_from_the_environment(
    guarded: Memcached, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password in the environment works like one in a file."""
    monkeypatch.setenv("MEMCACHED_PASSWORD", "s3cret")
    found = watch(guarded.address, "{auth: {username: mon, password_env: MEMCACHED_PASSWORD}}")
    assert found.up() == 1
    assert found.errors() == {}


def test_wrong_password_is_tried_once(guarded: Memcached, watch: Watch, shared: Path) -> None:
    """Twenty scrapes with a wrong password are one failed login, and one line in the log (B16)."""
    found = watch(guarded.address, from_file(shared / "password", "wrong"))
    before = counts(guarded)
    for _ in range(20):
        assert found.up() == 0
    assert found.errors() == {"auth": 20}
    assert counts(guarded) == (before[0] + 2, before[1] + 1)
    (line,) = found.daemon.warnings()
    assert "reason=auth" in line
    assert "the server refuses user or password" in line


def test_corrected_password_is_used_at_once(guarded: Memcached, watch: Watch, shared: Path) -> None:
    """The first scrape after the file is right is up, however long the pause would last."""
    password = shared / "password"
    found = watch(guarded.address, from_file(password, "wrong"))
    for _ in range(3):
        assert found.up() == 0
    password.write_text("s3cret")
    assert found.up() == 1
    assert found.get("memcached_auth_errors_total") == 1


def test_a_second_wrong_password_is_tried_too(
    guarded: Memcached, watch: Watch, shared: Path
) -> None:
    """Each new content of the file is one attempt."""
    password = shared / "password"
    found = watch(guarded.address, from_file(password, "wrong"))
    for text in ("wrong", "wrong2", "wrong3"):
        password.write_text(text)
        for _ in range(3):
            assert found.up() == 0
    assert counts(guarded)[1] == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "no such file or directory"),
        ("", "holds no password of one word"),
        ("\n", "holds no password of one word"),
        ("two words", "holds no password of one word"),
        ("two\nlines", "holds no password of one word"),
        (b"\xff\xfe", "not utf-8 text"),
    ],
    ids=["missing", "empty", "line end", "words", "lines", "bytes"],
)
def test_unusable_password_file(
    guarded: Memcached, watch: Watch, shared: Path, text: str | bytes | None, problem: str
) -> None:
    """Without a password nobody logs in; the log names the file and what is wrong with it."""
    password = shared / "password"
    found = watch(guarded.address, from_file(password, text or b""))
    if text is None:
        password.unlink()
    before = counts(guarded)
    for _ in range(3):
        assert found.up() == 0
    assert found.errors() == {"auth": 3}
    assert counts(guarded) == (before[0] + 1, 0)
    (line,) = found.daemon.warnings()
    assert f"{password}" in line
    assert problem in line
    password.write_text("s3cret")
    assert found.up() == 1


@pytest.mark.skipif(not is_root(), reason="needs root to become another user")
def test_unreadable_password_file_as_nobody(guarded: Memcached, watch: Watch, shared: Path) -> None:
    """A file that only root can read is said to be so when the exporter is not root."""
    module = from_file(shared / "password", "s3cret")
    (shared / "password").chmod(0o600)
    become = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
    found = watch(guarded.address, module, prefix=become)
    assert found.up() == 0
    assert found.errors() == {"auth": 1}
    (line,) = found.daemon.warnings()
    assert f"{shared}/password: permission denied" in line


def test_unset_environment_variable(guarded: Memcached, watch: Watch) -> None:
    """A variable that is not set is named."""
    found = watch(guarded.address, "{auth: {username: mon, password_env: NOT_SET_ANYWHERE}}")
    assert (found.up(), found.errors()) == (0, {"auth": 1})
    assert "NOT_SET_ANYWHERE" in found.daemon.warnings()[0]


def test_nothing_is_stored_where_no_login_is_wanted(
    memcached: Callable[..., Memcached], watch: Watch, shared: Path
) -> None:
    """A server without -Y is read, and its cache never holds what the login would have sent."""
    server = memcached()
    with contextlib.closing(server.client()) as client:
        client.set("auth", b"of a client", noreply=False)
        found = watch(server.address, from_file(shared / "password", "s3cret"))
        for _ in range(3):
            assert found.up() == 1
        assert client.get("auth") == b"of a client"
    assert int(server.stats()["cmd_set"]) == 1


def test_login_wanted_and_none_configured(guarded: Memcached, watch: Watch) -> None:
    """A module without a login costs the server no failed one, and says what is missing (B16)."""
    found = watch(guarded.address, "{}")
    before = counts(guarded)
    for _ in range(3):
        assert found.up() == 0
    assert found.errors() == {"auth": 3}
    assert counts(guarded) == (before[0] + 1, 0)
    assert "the server asks for a login" in found.daemon.warnings()[0]


def test_the_prober_logs_in_too(guarded: Memcached, watch: Watch, shared: Path) -> None:
    """Probes of a server with a login succeed, over one connection that is logged in once."""
    module = from_file(shared / "password", "s3cret")[:-1] + ", probe: {interval: 20ms}}"
    found = watch(guarded.address, module)

    def probes() -> float:
        found.up()
        return found.get("memcached_probe_duration_seconds_count", operation="noop") or 0

    assert eventually(lambda: probes() >= 10)
    assert found.get("memcached_probe_failures_total", operation="noop") == 0
    # The prober's login, that of the scrapes, and that of who counts.
    assert counts(guarded) == (3, 0)


def test_the_prober_does_not_hammer_either(guarded: Memcached, watch: Watch, shared: Path) -> None:
    """A prober with a wrong password tries it once, and counts all its failures."""
    module = from_file(shared / "password", "wrong")[:-1] + ", probe: {interval: 20ms}}"
    found = watch(guarded.address, module)
    assert eventually(
        lambda: (
            found.up() == 0
            and (found.get("memcached_probe_failures_total", operation="noop") or 0) >= 10
        )
    )
    assert counts(guarded)[1] == 2


def test_restart_of_a_server_with_login(guarded: Memcached, watch: Watch, shared: Path) -> None:
    """After a restart the first scrape logs in again and is up."""
    found = watch(guarded.address, from_file(shared / "password", "s3cret"))
    assert found.up() == 1
    guarded.restart()
    assert found.up() == 1
    assert counts(guarded) == (2, 0)


def test_full_server_with_login(
    memcached: Callable[..., Memcached], watch: Watch, shared: Path
) -> None:
    """That a server has no room is the reason also where a login comes first, every time."""
    users = shared / "users"
    users.write_text("mon:s3cret\n")
    server = memcached("-Y", str(users), "-c", "64")
    found = watch(server.address, from_file(shared / "password", "s3cret"))
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection((server.host, server.port), timeout=5))
        time.sleep(0.2)
        for _ in range(20):
            assert found.up() == 0
        assert found.errors() == {"connection_limit": 20}
    assert eventually(lambda: found.up() == 1)


@pytest.mark.parametrize(
    ("auth", "problem"),
    [
        ("{username: mon}", "set one of password_file and password_env"),
        (
            "{username: mon, password_file: a, password_env: B}",
            "set one of password_file and password_env",
        ),
        ("{username: two words, password_env: B}", "write a name of one word"),
        ('{username: "", password_env: B}', "write a name of one word"),
        ("{password_env: B}", 'key "username" is missing'),
        ("{username: mon, password: x}", 'unknown key "password"'),
    ],
)
def test_wrong_login_in_the_configuration(shared: Path, auth: str, problem: str) -> None:
    """What is no login is refused at the start, in one line with the place."""
    path = shared / "exporter.yml"
    path.write_text(f"modules:\n  odd:\n    auth: {auth}\n")
    error = refused_start(f"--config.file={path}")
    assert f"{path}:3: modules.odd.auth" in error
    assert problem in error
