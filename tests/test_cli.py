"""The command line: exit status, one line of error, and precedence."""

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter import __version__
from exporter.cli import main
from tests.processes import Exporter, Memcached, free_port, parse, sample, wait_for_port

D04 = ["a:1,b:2", "host:99999", "tcp/11211", "“x:1”", ""]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a user does, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "exporter", *arguments],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def assert_one_line(text: str) -> None:
    """One line that names the program, and no traceback."""
    assert text.startswith("memcached-exporter: "), text
    assert text.endswith("\n")
    assert text[:-1].isprintable(), text


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that must end with a status, and return its one line without its newline."""

    def run_here(*arguments: str, status: int = 2) -> str:
        try:
            got = main(arguments)
        except SystemExit as end:
            got = end.code if isinstance(end.code, int) else -1
        captured = capsys.readouterr()
        assert got == status, captured.err
        assert captured.out == ""
        assert_one_line(captured.err)
        return captured.err.removeprefix("memcached-exporter: ").removesuffix("\n")

    return run_here


@pytest.mark.parametrize("address", D04)
def test_a_malformed_address_ends_the_start(address: str) -> None:
    """A bad server address is refused before anything is served, with value and remedy (D04)."""
    result = run(f"--memcached.address={address}")
    assert result.returncode == 2
    assert_one_line(result.stderr)
    assert "--memcached.address: " in result.stderr
    assert f'address "{address}"' in result.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--nonsense"], "unrecognized arguments: --nonsense (see memcached-exporter --help)"),
        (["--nonsense=1"], "unrecognized arguments: --nonsense=1 (see memcached-exporter --help)"),
        (
            ["--web.listen=:1"],
            "unrecognized arguments: --web.listen=:1: did you mean --web.listen-address? (see",
        ),
        (
            ["nonsense"],
            "nonsense: no such command: write serve, check, watch, config, metrics, rules",
        ),
        (["serve", "nonsense"], "unrecognized arguments: nonsense (see"),
        (["config"], "the following arguments are required: check|schema (see"),
        (["config", "nonsense"], "'nonsense'"),
        (["config", "check"], "the following arguments are required: FILE (see"),
        (["config", "check", "a", "b"], "unrecognized arguments: b (see"),
        (["--memcached.address"], "--memcached.address: expected one argument (see"),
        (["--memcached.timeout=5"], '--memcached.timeout: "5" is no duration: write a duration'),
        (["--memcached.timeout="], '--memcached.timeout: "" is no duration: write a duration'),
        (["--memcached.timeout=0s"], "--memcached.timeout: must be from 1ms to 1h"),
        (["--memcached.timeout=61m"], "--memcached.timeout: must be from 1ms to 1h"),
        (["--log.level=loud"], "--log.level: invalid choice: 'loud' (choose from"),
        (["--log.format="], "--log.format: invalid choice: '' (choose from"),
        (
            ["--web.listen-address=9150"],
            '--web.listen-address: address "9150" is a port alone: write ":9150"',
        ),
        (["--web.telemetry-path=metrics"], "write an absolute URL path such as /metrics"),
        (["--web.telemetry-path="], "--web.telemetry-path: "),
        (["--web.scrape-path=a b"], "--web.scrape-path: "),
        (["--web.telemetry-path=/"], '--web.telemetry-path: "/" is taken by the exporter'),
        (["--web.scrape-path=/-/x"], '--web.scrape-path: "/-/x" is taken by the exporter'),
        (["--web.telemetry-path=/scrape"], "use another path"),
        (
            ["--memcached.address=a", "--memcached.address=A:11211"],
            '--memcached.address: "A:11211" is the same server as',
        ),
        (["--config.file=/nonexistent.yml"], "/nonexistent.yml: no such file or directory"),
        (["config", "check", "/nonexistent.yml"], "/nonexistent.yml: no such file or directory"),
        (["config", "check", "/"], "/: is a directory"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    fails: Callable[..., str], arguments: list[str], line: str
) -> None:
    """Each wrong use ends with status 2 and one line that names the flag and the remedy."""
    assert line in fails(*arguments)


@pytest.mark.parametrize("text", ["a\nb:1", "\x1b[31m", "\udcff", "a:b:c\nd"])
def test_odd_characters_cannot_break_the_line(text: str) -> None:
    """Whatever the value holds, the message is one printable line."""
    for argument in (f"--memcached.address={text}", text):
        result = run(argument)
        assert result.returncode == 2
        assert_one_line(result.stderr)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--memcached.address=a", "--memcached.address=a:11211"],
            '--memcached.address: "a:11211" is the same server',
        ),
        (["--memcached.timeout=0s"], "--memcached.timeout: must be from 1ms to 1h"),
        (["--web.telemetry-path=x"], "--web.telemetry-path: "),
        (["--web.scrape-path=/m"], "telemetry"),
    ],
)
def test_a_flag_is_not_blamed_on_the_file(
    tmp_path: Path, fails: Callable[..., str], arguments: list[str], line: str
) -> None:
    """An error of a flag names the flag, also when there is a file; one of both names both."""
    path = tmp_path / "exporter.yml"
    path.write_text("servers:\n- address: a\n- address: b\nweb:\n  telemetry_path: /m\n")
    assert line in fails(f"--config.file={path}", *arguments)


def test_version_and_help() -> None:
    """Version and help go to standard output, with status 0."""
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.startswith(f"memcached-exporter, version {__version__} (Python 3.")
    assert result.stderr == ""
    for arguments in (["--help"], ["-h"], ["serve", "--help"]):
        result = run(*arguments)
        assert result.returncode == 0
        assert result.stderr == ""
        for flag in ("--memcached.address", "--web.listen-address", "--config.file", "default 1s"):
            assert flag in result.stdout


@pytest.mark.parametrize("command", [[], ["serve"]])
def test_serve_is_the_default(command: list[str]) -> None:
    """Without a command, and with ``serve``, the daemon serves."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "exporter", *command, f"--web.listen-address=127.0.0.1:{port}"],
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=10) as answer:
            assert answer.read() == b"ready\n"
    finally:
        process.kill()
        process.wait()


def test_flags_override_the_file(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter], tmp_path: Path
) -> None:
    """A flag wins over the file, and the file over the defaults, key by key."""
    server = memcached()
    path = tmp_path / "exporter.yml"
    path.write_text(
        "servers: [{address: '127.0.0.1:1', labels: {a: b}}]\n"
        "modules: {default: {timeout: 3s, sections: [items]}}\n"
        "web: {listen: ['127.0.0.1:1'], telemetry_path: /from-file, scrape_path: /one}\n"
        "log: {level: debug, format: json}\n"
    )
    daemon = exporter(
        f"--config.file={path}",
        f"--memcached.address={server.address}",
        "--web.telemetry-path=/from-flag",
        "--log.format=logfmt",
    )
    assert daemon.request("/from-file").status == 404
    assert daemon.request("/metrics").status == 404
    assert daemon.request("/one").status == 400
    samples = daemon.samples("/from-flag")
    ups = {key: value for key, value in samples.items() if key[0] == "memcached_up"}
    assert ups == {sample("memcached_up", server=server.address): 1}
    sections = {dict(labels)["section"] for name, labels in samples if "section_success" in name}
    assert sections == {"stats", "items"}
    assert "level=debug" in daemon.log


def test_config_check(tmp_path: Path) -> None:
    """A good file is said to be good, with status 0; a bad one is one line, with status 2."""
    path = tmp_path / "exporter.yml"
    path.write_text("servers: [{address: a}, {address: b}]\nmodules: {slow: {timeout: 5s}}\n")
    result = run("config", "check", str(path))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"{path}: good: servers: 2, modules: default, slow\n"
    path.write_text("servers: [{address: a}, {adress: b}]\n")
    result = run("config", "check", str(path))
    assert (result.returncode, result.stdout) == (2, "")
    assert_one_line(result.stderr)
    assert f"{path}:1: servers[1].adress: unknown key" in result.stderr


@pytest.mark.parametrize(
    ("flag", "sections"),
    [
        ("--collector.slab", {"stats", "settings", "items", "slabs"}),
        ("--no-collector.slab", {"stats", "settings"}),
    ],
)
def test_the_slab_collector_can_be_switched(
    memcached: Callable[..., Memcached],
    exporter: Callable[..., Exporter],
    flag: str,
    sections: set[str],
) -> None:
    """The one flag of the official exporter for what is read means the same here."""
    server = memcached()
    samples = exporter(f"--memcached.address={server.address}", flag).samples()
    name = "memcached_scrape_section_success"
    assert {dict(labels)["section"] for key, labels in samples if key == name} == sections


def test_legacy_names_are_added(
    memcached: Callable[..., Memcached], exporter: Callable[..., Exporter]
) -> None:
    """With the flag the old spellings are beside the new ones, in a page that parses."""
    server = memcached()
    plain = exporter(f"--memcached.address={server.address}").samples()
    daemon = exporter(f"--memcached.address={server.address}", "--metrics.legacy-names")
    answer = daemon.request("/metrics", Accept="application/openmetrics-text")
    assert answer.headers["Content-Type"].startswith("text/plain;")
    both = parse(answer.text)
    assert both.keys() > plain.keys()
    assert "memcached_version" in {name for name, _ in both.keys() - plain.keys()}


@pytest.mark.parametrize(
    "arguments", [["metrics", "--format=json"], ["config", "schema"], ["--help"]]
)
def test_a_reader_may_leave_early(arguments: list[str]) -> None:
    """Output into a program that does not read it to the end is no error to tell of."""
    command = [sys.executable, "-m", "exporter", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""


def test_config_schema_is_json() -> None:
    """The schema goes to standard output as JSON."""
    result = run("config", "schema")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_a_port_that_is_taken(host: str, shown: str) -> None:
    """The start fails with status 1 and one line that names the address and the remedy."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as taken:
        address = f"{shown}:{taken.getsockname()[1]}"
        result = run("--log.level=error", f"--web.listen-address={address}")
    assert result.returncode == 1
    assert_one_line(result.stderr)
    assert result.stderr == (
        f"memcached-exporter: cannot listen on {address}: address already in use:"
        " free it or choose another --web.listen-address\n"
    )


def test_a_listen_name_that_does_not_exist(fails: Callable[..., str]) -> None:
    """A name that is not found is not something to free."""
    message = fails("--web.listen-address=nosuch.invalid:0", status=1)
    assert message.startswith("cannot listen on nosuch.invalid:0: ")
    assert "free it" not in message
    assert "--web.listen-address" in message
