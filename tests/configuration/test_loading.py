"""The shape of the configuration file: each error is one line with place and remedy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.configuration import Configuration, build, load
from exporter.errors import ConfigurationError

ADDRESS = 'write host:port, "[IPv6]:port" in quotes, /path/of/socket or unix:/path/of/socket'
DURATION = "write a duration with its unit, such as 500ms, 1s or 1m30s"
ALLOW = (
    'write an address or range such as "10.0.0.0/8", or a pattern such as "*.cache.example:11211"'
)
LISTEN = 'write ":9150", "127.0.0.1:9150" or "[::1]:9150", in quotes'
TEXT = "write text, in quotes if it looks like a number"
MAP = "write a map of keys and values"

SERVER = "write a map such as {address: cache1:11211}"
SHAPES = {
    # unknown keys
    "server: []": '1: server: unknown key "server", did you mean "servers"?',
    "a: 1": '1: a: unknown key "a", known keys: ',
    "servers:\n- address: a\n- adress: b\n": (
        '3: servers[1].adress: unknown key "adress", did you mean "address"?'
    ),
    "servers:\n- address: a\n  label: {}\n": (
        '3: servers[0].label: unknown key "label", did you mean "labels"?'
    ),
    "modules:\n  slow:\n    timout: 5s\n": (
        '3: modules.slow.timout: unknown key "timout", did you mean "timeout"?'
    ),
    "scrape: {alow: []}": '1: scrape.alow: unknown key "alow", did you mean "allow"?',
    "web:\n  port: 1\n": '2: web.port: unknown key "port", known keys: listen, ',
    "log: {levels: x}": '1: log.levels: unknown key "levels", did you mean "level"?',
    # missing keys
    "servers: [{}]": '1: servers[0]: key "address" is missing: add it',
    "servers:\n- address: a\n- module: default\n": (
        '3: servers[1]: key "address" is missing: add it'
    ),
    # lists, maps and scalars in each other's places
    "[]": f" expected `object`, got `array`: {MAP}",
    "hello": f" expected `object`, got `str`: {MAP}",
    "servers: a:1": "1: servers: expected `array | null`, got `str`: write a list",
    "servers: {address: a}": "1: servers: expected `array | null`, got `object`: write a list",
    "servers: [a]": f"1: servers[0]: expected `object`, got `str`: {SERVER}",
    "servers:\n- address: a\n-\n": f"3: servers[1]: expected `object`, got `null`: {SERVER}",
    "servers:\n- address: [a]\n": f"2: servers[0].address: expected `str`, got `array`: {ADDRESS}",
    "servers: [{address: a, labels: [x]}]": (
        f"1: servers[0].labels: expected `object`, got `array`: {MAP}"
    ),
    "servers: [{address: a, labels: null}]": (
        f"1: servers[0].labels: expected `object`, got `null`: {MAP}"
    ),
    "servers: [{address: a, module: [x]}]": (
        f"1: servers[0].module: expected `str`, got `array`: {TEXT}"
    ),
    "modules: []": f"1: modules: expected `object`, got `array`: {MAP}",
    "modules: null": f"1: modules: expected `object`, got `null`: {MAP}",
    "modules: {a: null}": f"1: modules.a: expected `object`, got `null`: {MAP}",
    "modules:\n  a: {}\n  b: 5s\n": f"3: modules.b: expected `object`, got `str`: {MAP}",
    "modules: {a: {sections: stats}}": (
        "1: modules.a.sections: expected `array`, got `str`: write a list"
    ),
    "scrape: {allow: '*'}": "1: scrape.allow: expected `array`, got `str`: write a list",
    "scrape: {allow: {a: b}}": "1: scrape.allow: expected `array`, got `object`: write a list",
    "web: ':9150'": f"1: web: expected `object`, got `str`: {MAP}",
    "web: {listen: ':9150'}": "1: web.listen: expected `array`, got `str`: write a list",
    "log: debug": f"1: log: expected `object`, got `str`: {MAP}",
    "log: null": f"1: log: expected `object`, got `null`: {MAP}",
    # scalars of the wrong kind
    "servers:\n- address: 11211\n": (
        f"2: servers[0].address: expected `str`, got `int`: {ADDRESS}"
    ),
    "servers:\n- address: 11:30\n": (
        f"2: servers[0].address: expected `str`, got `int`: {ADDRESS}"
    ),
    "servers:\n- address: null\n": (
        f"2: servers[0].address: expected `str`, got `null`: {ADDRESS}"
    ),
    "servers:\n- address: a\n  labels:\n    n: 1\n": (
        f"4: servers[0].labels.n: expected `str`, got `int`: {TEXT}"
    ),
    "servers:\n- address: a\n  labels:\n    m: x\n    n: yes\n": (
        f"5: servers[0].labels.n: expected `str`, got `bool`: {TEXT}"
    ),
    "servers: [{address: a, labels: {n: 2026-01-01}}]": (
        f"1: servers[0].labels.n: expected `str`, got `date`: {TEXT}"
    ),
    "modules: {a: {timeout: 5}}": (f"1: modules.a.timeout: expected `str`, got `int`: {DURATION}"),
    "modules: {a: {timeout: 1:30}}": (
        f"1: modules.a.timeout: expected `str`, got `int`: {DURATION}"
    ),
    "modules: {a: {assume_no_napi_ids: 'yes'}}": (
        "1: modules.a.assume_no_napi_ids: expected `bool`, got `str`: write true or false"
    ),
    "modules: {a: {assume_no_napi_ids: 1}}": (
        "1: modules.a.assume_no_napi_ids: expected `bool`, got `int`: write true or false"
    ),
    "modules: {a: {max_reply_bytes: 1e9}}": (
        "1: modules.a.max_reply_bytes: expected `int`, got `str`: write a whole number"
    ),
    "modules: {a: {max_reply_bytes: 1.5}}": (
        "1: modules.a.max_reply_bytes: expected `int`, got `float`: write a whole number"
    ),
    "scrape:\n  allow:\n  - 10.0.0.0/8\n  - 5\n": (
        f"4: scrape.allow[1]: expected `str`, got `int`: {ALLOW}"
    ),
    "web: {listen: [9150]}": f"1: web.listen[0]: expected `str`, got `int`: {LISTEN}",
    "log: {level: 1}": "1: log.level: expected `str`, got `int`: write one of ",
    "log: {format: null}": "1: log.format: expected `str`, got `null`: write one of json, logfmt",
    "log: {level: !!binary aGk=}": "1: log.level: expected `str`, got `bytes`: write one of ",
    # values outside of their range
    "modules: {a: {max_reply_bytes: 5}}": ("1: modules.a.max_reply_bytes: expected `int` >= 65536"),
    "modules: {a: {max_reply_bytes: -5}}": (
        "1: modules.a.max_reply_bytes: expected `int` >= 65536"
    ),
    "modules: {a: {sections: [stats, foo]}}": (
        "1: modules.a.sections[1]: invalid enum value 'foo': write one of "
    ),
    "log: {level: warning}": (
        "1: log.level: invalid enum value 'warning': write one of debug, error, info, warn"
    ),
    "log: {format: JSON}": "1: log.format: invalid enum value 'JSON': write one of json, logfmt",
    "modules: {a: {top_clients: 101}}": "1: modules.a.top_clients: expected `int` <= 100",
    "modules: {a: {max_prefixes: 0}}": "1: modules.a.max_prefixes: expected `int` >= 1",
    "host:\n  collectors: {sysctls: false}\n": (
        '2: host.collectors.sysctls: unknown key "sysctls", did you mean "sysctl"?'
    ),
    'host: {collectors: {"x\\ny": false}}': (
        '1: host.collectors.x\\ny: unknown key "x\\ny", known keys: cgroup, cpu, '
    ),
    "tls_server_config: {}": (
        '1: tls_server_config: unknown key "tls_server_config", this is a web configuration file:'
        " name it by web.config_file"
    ),
    "servers:\n- address: [::1]:11211\n": (
        "2:13: not valid YAML: expected the node content, but found ':':"
        " write an IPv6 address in quotes"
    ),
    "metrics: {legacy_names: 1}": (
        "1: metrics.legacy_names: expected `bool`, got `int`: write true or false"
    ),
    "modules: {a: {probe: {}}}": '1: modules.a.probe: key "interval" is missing: add it',
    "modules: {a: {probe: 5s}}": "1: modules.a.probe: expected `object | null`, got `str`: ",
    "modules: {a: {probe: {interval: 5}}}": (
        f"1: modules.a.probe.interval: expected `str`, got `int`: {DURATION}"
    ),
    "web: {listen: []}": "1: web.listen: expected `array` of length >= 1",
}
"""A bad file, and how its error begins after the file's name and a colon."""

REMEDIES = {
    "modules:\n  a:\n    timeout: 5 s\n": ("3: modules.a.timeout: ", DURATION),
    "modules: {a: {timeout: -1s}}": ("1: modules.a.timeout: ", DURATION),
    'modules: {a: {timeout: "1s\\n"}}': ("1: modules.a.timeout: ", DURATION),
    "web: {telemetry_path: metrics}": (
        "1: web.telemetry_path: ",
        "write an absolute URL path such as /metrics",
    ),
    'web: {scrape_path: "/a\\n"}': (
        "1: web.scrape_path: ",
        "write an absolute URL path such as /metrics",
    ),
    "web: {scrape_path: '/a?b'}": (
        "1: web.scrape_path: ",
        "write an absolute URL path such as /metrics",
    ),
    'modules: {a: {probe: {interval: 5s, canary_key: "a\\n"}}}': (
        "1: modules.a.probe.canary_key: ",
        "write a key of memcached: ",
    ),
    "modules: {a: {probe: {interval: 5s, canary_key: a b}}}": (
        "1: modules.a.probe.canary_key: ",
        "write a key of memcached: ",
    ),
    '"a\\nb": 1': ("1: ", "known keys: servers, "),
    '"a\\u2028b": 1': ("1: ", "known keys: servers, "),
    "modules: {a.b: {timeout: 5 s}}": ("1: modules", ""),
    "modules: {a.b: {timeout: 5}}": ("1: modules", ""),
    "modules: {'a[1]': {timeout: 5 s}}": ("1: modules", ""),
    "modules: {'a[...]': {timeout: 5 s}}": ("1: modules", ""),
    "modules: {'a` - at `b': {timeout: 5 s}}": ("1: modules", ""),
    "servers: [{address: a, 'b` - at `c': 1}]": ("1: servers[0]", "known keys: address, "),
    "log: {level: 'a` - at `b'}": ("1: log.level: ", "write one of "),
}
"""A bad file, how its error begins, and how it ends or what it holds."""


@pytest.mark.parametrize(("text", "line"), SHAPES.items())
def test_a_wrong_shape_is_one_line(refusal: Callable[[str], str], text: str, line: str) -> None:
    """Each wrong shape is answered with file, line, key, what is wrong, and the remedy."""
    assert refusal(text).startswith(line)


@pytest.mark.parametrize(("text", "parts"), REMEDIES.items())
def test_a_wrong_text_has_its_remedy(
    refusal: Callable[[str], str], text: str, parts: tuple[str, str]
) -> None:
    """Texts that do not fit, and odd keys, have their place and remedy too."""
    begin, remedy = parts
    message = refusal(text)
    assert message.startswith(begin)
    assert remedy in message


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n", "{}", "null", "~"])
def test_an_empty_file_means_the_defaults(read: Callable[[str], Configuration], text: str) -> None:
    """A file that says nothing is the same as no file."""
    configuration = read(text)
    (server,) = configuration.servers
    assert server.address.endpoint == "localhost:11211"
    assert server.labels == ()
    assert server.module.timeout == 1
    assert set(server.module.sections) >= {"stats", "settings", "items", "slabs"}
    assert {"conns", "sizes", "detail"}.isdisjoint(server.module.sections)
    assert not server.module.assume_no_napi_ids
    assert list(configuration.modules) == ["default"]
    assert configuration.allow.networks == configuration.allow.patterns == ()
    assert [(place.host, place.port) for place in configuration.web.listen] == [("", 9150)]
    assert configuration.web.telemetry_path == "/metrics"
    assert configuration.web.scrape_path == "/scrape"
    assert (configuration.log.level, configuration.log.format) == ("info", "logfmt")


def test_anchors_and_merges_work(read: Callable[[str], Configuration]) -> None:
    """What YAML has for saying things once can be used, and the nearer value wins."""
    configuration = read(
        "modules:\n"
        "  slow: &slow {timeout: 5s, sections: [items]}\n"
        "  slower: {<<: *slow, timeout: 9s}\n"
    )
    assert configuration.modules["slower"].timeout == 9
    assert configuration.modules["slower"].sections == ("stats", "items")


def test_a_byte_order_mark_is_no_error(read: Callable[[str], Configuration]) -> None:
    """A file from an editor that writes a byte order mark is read."""
    assert read("\ufefflog: {level: debug}").log.level == "debug"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a directory are said to be so, with the path."""
    with pytest.raises(ConfigurationError, match=r"none\.yml: no such file or directory$"):
        load(tmp_path / "none.yml")
    with pytest.raises(ConfigurationError, match=rf"^{tmp_path}: is a directory$"):
        load(tmp_path)
    (tmp_path / "a").write_text("")
    with pytest.raises(ConfigurationError, match=r"a/b/c: not a directory$"):
        load(tmp_path / "a" / "b" / "c")


def test_a_large_file_is_read(read: Callable[[str], Configuration]) -> None:
    """A thousand servers are no problem."""
    text = "servers:\n" + "".join(f"- address: cache-{i}.example:11211\n" for i in range(1000))
    assert len(read(text).servers) == 1000


def test_a_large_bad_file_has_a_short_error(refusal: Callable[[str], str]) -> None:
    """The error names the one line in thousands, and not the whole file."""
    message = refusal("servers:\n" + "- address: a\n" * 500 + "- adress: b\n")
    assert message == '502: servers[500].adress: unknown key "adress", did you mean "address"?'


def test_a_named_pipe_or_device_is_read_or_refused() -> None:
    """What is no regular file but can be read is read: here it is empty."""
    assert build(*load(Path("/dev/null"))).web.telemetry_path == "/metrics"
