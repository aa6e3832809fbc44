"""Passwords, headers and the web configuration file: who gets in, and who does not."""

import time
from collections.abc import Callable
from pathlib import Path

import bcrypt
import pytest

from exporter.web import access as access_module
from exporter.web.access import Access
from exporter.web.messages import Request, Response, plain
from exporter.web.server import HttpServer
from tests.processes import Exporter, Memcached, parse, sample
from tests.web.clients import eventually, place_of
from tests.web.secure import GAUGE, ask, basic, everything, hashed, place

Serve = Callable[..., HttpServer]


def value(daemon: Exporter, name: tuple[str, frozenset[tuple[str, str]]]) -> float:
    """Return one value of the page, for alice."""
    return parse(ask(place(daemon), Authorization=basic("alice", "right")).text)[name]


def test_field_report_c13(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """Scrapes need the password, health does not, and who is refused does not reach memcached."""
    stored = bcrypt.hashpw(b"right", bcrypt.gensalt(10)).decode()
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{alice: '{stored}'}}\n")
    server = memcached()
    daemon = exporter(
        f"--memcached.address={server.address}", f"--web.config.file={tmp_path / 'web.yml'}"
    )
    up = sample("memcached_up", server=server.address)
    assert value(daemon, up) == 1

    def seen() -> tuple[int, int]:
        found = server.stats()
        return int(found["bytes_read"]), int(found["total_connections"])

    idle = [seen() for _ in range(3)]
    own = idle[2][0] - idle[1][0]
    for path in ("/metrics", f"/scrape?target={server.address}", "/", "/nope", "/-/reload"):
        for login in ("", basic("alice", f"wrong for {path}")):
            began = time.monotonic()
            answer = ask(place(daemon), path, Authorization=login)
            assert time.monotonic() - began < 3
            assert answer.status == 401
            assert answer.headers["WWW-Authenticate"].startswith("Basic realm=")
            assert "memcached_" not in answer.text
    assert ask(place(daemon)).status == 401
    for path in ("/-/healthy", "/-/ready"):
        assert ask(place(daemon), path).status == 200
        assert ask(place(daemon), path, method="HEAD").status == 200
    # Only the two questions of the test itself have reached the server.
    assert seen() == (idle[2][0] + own, idle[2][1] + 1)
    assert value(daemon, up) == 1
    assert seen()[0] > idle[2][0] + 2 * own
    assert ask(place(daemon), method="HEAD", Authorization=basic("alice", "right")).status == 200


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Basic",
        "Basic ",
        "Basic !!!!",
        "Basic YWxpY2U=",
        basic("alice", "right")[:-3],
        basic("alice", "right").replace("Basic", "Bearer"),
        basic("alice", "right") + ", " + basic("alice", "right"),
        basic("alice", ""),
        basic("alice", "Right"),
        basic("alice", "right\0"),
        basic("alice", "right "),
        basic("alice", "\xe9" * 500),
        basic("Alice", "right"),
        basic("", "right"),
        basic("bob", "right"),
        "Digest username=alice",
        "\xff\xfe",
    ],
)
def test_what_is_no_login(serve: Serve, users_file: Path, header: str) -> None:
    """Anything but the right name and password is refused, and never an error inside."""
    server = serve(everything, Access(users_file))
    assert ask(place_of(server), "/", Authorization=header).status == 401


def test_logins_that_are_good(serve: Serve, tmp_path: Path) -> None:
    """Names and passwords may hold colons, blanks and letters of all kinds; schemes any case."""
    path = tmp_path / "web.yml"
    long = "x" * 80
    logins = {"alice": "a:b c", "zoë": "gr\xfc\xdfe", "long": long, "empty": ""}
    path.write_text(
        "basic_auth_users:\n"
        + "".join(f"  {name}: {hashed(text[:72])}\n" for name, text in logins.items())
    )
    server = serve(everything, Access(path))
    for name, password in logins.items():
        assert ask(place_of(server), "/", Authorization=basic(name, password)).status == 200
    lower = basic("alice", "a:b c").replace("Basic", "bAsIc")
    assert ask(place_of(server), "/", Authorization=lower).status == 200


@pytest.mark.parametrize("version", ["2a", "2b", "2y"])
def test_hashes_of_other_programs(serve: Serve, tmp_path: Path, version: str) -> None:
    """All spellings of bcrypt that programs write today are understood."""
    path = tmp_path / "web.yml"
    path.write_text(f"basic_auth_users: {{a: ${version}{hashed('pw')[3:]}}}\n")
    server = serve(everything, Access(path))
    assert ask(place_of(server), "/", Authorization=basic("a", "pw")).status == 200


def test_headers_are_on_every_answer(serve: Serve, users_file: Path) -> None:
    """Each configured header is there once, whatever the answer is; an empty one is not."""
    headers = {
        "X-Frame-Options": "deny",
        "X-Content-Type-Options": "nosniff",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "X-XSS-Protection": "0",
        "Content-Security-Policy": "default-src 'none'",
    }
    lines = "".join(f'    {name}: "{text}"\n' for name, text in headers.items())
    users = users_file.read_text()
    users_file.write_text(f"{users}http_server_config:\n  http2: false\n  headers:\n{lines}")

    def application(request: Request) -> Response:
        if request.path == "/fail":
            raise RuntimeError
        return plain(404 if request.path == "/nope" else 200, "answer")

    server = serve(application, Access(users_file))
    good = basic("alice", "right")
    for path, login, status in [
        ("/", good, 200),
        ("/nope", good, 404),
        ("/fail", good, 500),
        ("/", "", 401),
        ("/-/healthy", "", 200),
        ("/" + "x" * 70_000, "", 414),
    ]:
        answer = ask(place_of(server), path, Authorization=login)
        assert answer.status == status
        assert {name: answer.headers.get_all(name) for name in headers} == {
            name: [text] for name, text in headers.items()
        }
    users_file.write_text("http_server_config: {headers: {X-Frame-Options: ''}}\n")
    bare = ask(place_of(serve(everything, Access(users_file))), "/")
    assert bare.status == 200
    assert bare.headers["X-Frame-Options"] is None


def test_without_a_file_all_is_open(serve: Serve) -> None:
    """No file, an empty file and one without users let everybody in, over plain HTTP."""
    assert ask(place_of(serve(everything)), "/").status == 200


@pytest.mark.parametrize("text", ["", "{}", "basic_auth_users: {}", "http_server_config: {}"])
def test_a_file_that_says_nothing(serve: Serve, tmp_path: Path, text: str) -> None:
    """A file without users and TLS changes nothing."""
    path = tmp_path / "web.yml"
    path.write_text(text)
    assert ask(place_of(serve(everything, Access(path))), "/").status == 200


def test_the_file_is_read_again(
    exporter: Callable[..., Exporter], users_file: Path, config_file: Callable[[str], str]
) -> None:
    """A new file holds without restart; a broken one changes nothing but the gauge and one line."""
    flag = config_file("servers: []\nweb: {config_file: web.yml}")
    daemon = exporter(flag, "--log.level=debug")
    assert value(daemon, GAUGE) == 1
    good = users_file.read_text()

    users_file.write_text("basic_auth_users: [broken-marker")
    assert eventually(lambda: value(daemon, GAUGE) == 0)
    assert ask(place(daemon)).status == 401
    time.sleep(1.2)
    assert value(daemon, GAUGE) == 0
    assert daemon.log.count("web configuration is not read again") == 1
    assert f"{users_file}:1:" in daemon.log
    assert "broken-marker" not in daemon.log

    users_file.unlink()
    missing = f"{users_file}: no such file or directory"
    assert eventually(lambda: value(daemon, GAUGE) == 0 and missing in daemon.log)

    # As editors and Kubernetes do it: another file takes the place.
    other = users_file.with_suffix(".new")
    other.write_text(f"{good}  # changed\n")
    other.rename(users_file)
    assert eventually(lambda: value(daemon, GAUGE) == 1)
    assert daemon.log.count('"web configuration read"') == 2

    users_file.write_text(f"basic_auth_users: {{bob: '{hashed('new')}'}}\n")
    new = basic("bob", "new")
    assert eventually(lambda: ask(place(daemon), Authorization=new).status == 200)
    assert ask(place(daemon), Authorization=basic("alice", "right")).status == 401
    assert "Traceback" not in daemon.log


def test_the_files_are_looked_at_once_a_second(
    users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many requests come, the file system is asked seldom."""
    looks: list[str] = []
    stamp = access_module._stamp

    def counted(name: str) -> access_module.Stamp:
        looks.append(name)
        return stamp(name)

    monkeypatch.setattr(access_module, "_stamp", counted)
    access = Access(users_file)
    del looks[:]
    for _ in range(1000):
        access.settings()
    assert looks == []
    access._next_check = 0
    for _ in range(1000):
        access.settings()
    assert looks == [str(users_file)]


def test_an_empty_flag_is_no_file(exporter: Callable[..., Exporter], tmp_path: Path) -> None:
    """The flag overrides the main file, also with nothing, as its default is elsewhere."""
    main = tmp_path / "exporter.yml"
    main.write_text("servers: []\nweb: {config_file: missing.yml}\n")
    daemon = exporter(f"--config.file={main}", "--web.config.file=")
    assert daemon.samples()[GAUGE] == 1


def test_secrets_are_nowhere(
    exporter: Callable[..., Exporter], tmp_path: Path, memcached: Callable[..., Memcached]
) -> None:
    """Passwords and hashes are in no log at debug level, no page, no error and no command line."""
    marker, guess = "S3cret-Marker", "Gu3ss-Marker"
    stored = hashed(marker)
    web = tmp_path / "web.yml"
    web.write_text(f"basic_auth_users: {{alice: '{stored}'}}\n")
    server = memcached()
    daemon = exporter(
        f"--memcached.address={server.address}",
        f"--web.config.file={web}",
        "--web.enable-lifecycle",
        "--log.level=debug",
    )
    seen = []
    logins = (basic("alice", marker), basic("alice", guess), basic(guess, marker))
    paths = ("/metrics", "/", "/nope", "/scrape", "/scrape?target=x", "/-/healthy", "/config")
    for login in logins:
        for path in (*paths, "/-/reload"):
            answer = ask(place(daemon), path, Authorization=login)
            seen.append(f"{answer.headers}\n{answer.text}")
        seen.append(ask(place(daemon), "/-/reload", method="POST", Authorization=login).text)
    for broken in (f"basic_auth_users: {{alice: '{marker}'}}", f"basic_auth_users: [*{marker}"):
        web.write_text(broken)
        count = daemon.log.count("is not read again")

        def noticed(count: int = count) -> bool:
            seen.append(ask(place(daemon), Authorization=logins[0]).text)
            return daemon.log.count("is not read again") > count

        assert eventually(noticed)
    seen += [daemon.log, Path(f"/proc/{daemon.process.pid}/cmdline").read_text()]
    everything_seen = "\n".join(seen)
    assert "memcached_up" in everything_seen
    for secret in (marker, guess, stored, stored[7:], *(login.split()[1] for login in logins)):
        assert secret not in everything_seen


def test_an_error_in_the_check_is_no_entry(
    serve: Serve, users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the check itself fails, the answer is 500 and the application is not asked."""
    asked: list[Request] = []

    def application(request: Request) -> Response:
        asked.append(request)
        return plain(200, "inside")

    def fail(password: bytes, stored: bytes) -> bool:
        raise RuntimeError

    server = serve(application, Access(users_file))
    monkeypatch.setattr(bcrypt, "checkpw", fail)
    assert ask(place_of(server), "/", Authorization=basic("alice", "right")).status == 500
    assert asked == []
